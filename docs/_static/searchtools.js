// The search of the book, in the place of Sphinx's, which looks for stems of words and so finds no `Status::OK`. It
// looks for what was typed, as it was typed, in the sections that tools/search.py has written to sections.js.
const Search = {
  sections: null,

  init() {
    const query = new URLSearchParams(location.search).get("q");
    if (!query) return;
    for (const input of document.querySelectorAll('input[name="q"]')) input.value = query;
    Search.performSearch(query);
  },

  // sections.js calls this. A script can be loaded from file://, where nothing can be fetched.
  setSections(sections) {
    // In the order of the book, but the landing page, which names all the others, comes last. The pages of errors have no
    // place in it: they are many times as many.
    const isError = (page) => page.startsWith("errors/");
    const pages = [...new Set(sections.map(([page]) => page))].filter((page) => !isError(page));
    Search.sections = sections.map(([page, anchor, title, text, about = ""]) => ({
      page,
      isError: isError(page),
      place: page.startsWith("index.") ? 1 : isError(page) ? 0 : pages.indexOf(page) / pages.length,
      inTitles: `${title} ${about.split(" · ")[0]}`.toLowerCase(),
      inAbout: `${title} ${about}`.toLowerCase(),
      isPage: !anchor,
      address: anchor ? `${page}#${anchor}` : page,
      title,
      text,
      inTitle: title.toLowerCase(),
      inHeading: title.split(" › ").pop().toLowerCase(),
      inText: text.toLowerCase(),
    }));
  },

  performSearch(query) {
    const results = document.getElementById("search-results");
    const root = document.documentElement.dataset.content_root;
    if (Search.sections) return Search.show(results, root, query);
    const script = document.createElement("script");
    script.addEventListener("load", () => Search.show(results, root, query));
    script.src = `${root}sections.js`;
    document.body.append(script);
  },

  // Words that mean the same; what the book says more often is not first, for all of a line are looked for.
  synonyms: [
    ["multiple outputs", "several outputs", "several tensors"],
    ["wheel", "pip install", "package"],
    ["segfault", "segmentation fault", "sigsegv", "signal 11"],
    ["im2col", "patches"],
    ["micro-kernel", "microkernel", "register tile"],
    ["boilerplate", "the whole file"],
    ["fallback", "soft placement"],
    ["nondeterministic", "same bits", "deterministic"],
    ["multithreading", "shard", "all cores"],
  ],

  // The sections that have the words of a query or of one that means the same, the best first; if none has, those with
  // the names in its words, or with the words that it was perhaps to be.
  find(query) {
    const phrase = query.toLowerCase().trim().split(/\s+/).join(" ");
    const search = (text, pattern) => Search.rank(text, text.split(pattern), query.trim());
    const found = search(phrase, /[\s"'`“”]+/);
    const group = Search.synonyms.find((words) => words.some((word) => phrase.includes(word)));
    if (group) {
      const said = group.find((word) => phrase.includes(word));
      for (const other of group) {
        if (other === said) continue;
        const known = new Set(found.map(({ section }) => section));
        const more = search(phrase.replace(said, other), /[\s"'`“”]+/).filter(({ section }) => !known.has(section));
        found.push(...more.slice(0, 20));
      }
    }
    const inOrder = Search.isMessage(query, phrase, found) ? (results) => results : Search.chaptersFirst;
    if (found.length) return inOrder(found).slice(0, 50);
    const names = search(phrase, /\W+/);
    return inOrder(names.length ? names : search(Search.spelled(phrase), /\s+/)).slice(0, 50);
  },

  // Whether somebody looks for a message, whose page is to come first: it has more words than a question has, and signs
  // that a question has not, or an error has it as it is.
  isMessage(query, phrase, found) {
    if (phrase.split(" ").length < 4) return false;
    if (/[:=_/()'"‘“]|error|failed/i.test(query)) return true;
    return found.some(({ section }) => section.isError && section.inText.includes(phrase));
  },

  // Three sections of each chapter, the others, and then the errors.
  chaptersFirst(found) {
    const times = {};
    const later = ({ section: { page, isError } }) => {
      times[page] = (times[page] ?? 0) + 1;
      return isError ? 2 : Number(times[page] > 3);
    };
    const groups = [[], [], []];
    for (const each of found) groups[later(each)].push(each);
    return groups.flat();
  },

  // A query with each unknown word as the book's word that differs in the fewest letters, if there are few.
  spelled(phrase) {
    Search.words ??= new Set(Search.sections.flatMap(({ inText }) => inText.match(/[a-z]{4,}/g) ?? []));
    return phrase.replace(/[a-z]{5,}/g, (word) => {
      if (Search.words.has(word)) return word;
      let best = [word, word.length > 7 ? 3 : 2];
      for (const known of Search.words) {
        const far = Search.distance(word, known, best[1]);
        if (far < best[1]) best = [known, far];
      }
      return best[0];
    });
  },

  // How many letters are to be changed, put in, left out, or exchanged with the next; `limit` for more than that.
  distance(one, other, limit) {
    if (Math.abs(one.length - other.length) >= limit) return limit;
    let before = [];
    let last = [...other, ""].map((_, n) => n);
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] !== other[j - 1]));
        const turned = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
        if (i > 1 && j > 1 && turned) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      if (Math.min(...row) >= limit) return limit;
      [before, last] = [last, row];
    }
    return last[other.length];
  },

  // Rare words count more than frequent ones, and all in one piece count most, above all in the section's own heading;
  // the page's title is above each of its sections. Of a message that was pasted with other values in it, most of the
  // words that the book has are enough.
  rank(phrase, parts, asTyped) {
    const sections = Search.sections;
    const words = [...new Set(parts.filter(Boolean))];
    const isMessage = words.length > 3;
    const known = [];
    for (const word of words) {
      const start = /^\w/.test(word) && word.length < 4 ? "(?<!\\w)" : "";
      const there = new RegExp(start + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      const having = sections.map(
        (each) => there.test(each.inText) || there.test(each.inTitle) || (each.isPage && there.test(each.inAbout)),
      );
      const count = having.filter(Boolean).length;
      if (count || !isMessage) known.push({ word, having, weight: Math.log(1 + sections.length / (1 + count)) });
    }
    const all = known.reduce((sum, { weight }) => sum + weight, 0);
    const ranked = sections.map((section, n) => {
      const found = known.filter(({ having }) => having[n]);
      let score = found.reduce((sum, { weight }) => sum + weight, 0) / (all || 1);
      if (score < (isMessage ? 0.5 : 1 - 1e-9)) return {};
      const times = section.inText.split(phrase).length - 1;
      if (times) score += 1 + Math.min(times, 2) / 100;
      if (section.inHeading.includes(phrase)) score += 2;
      // A page that is about all of it, by its titles or its description; else the earlier page.
      if (section.isPage && words.every((word) => section.inAbout.includes(word))) score += 2;
      if (section.isPage && words.every((word) => section.inTitles.includes(word))) score += 1;
      score -= section.place / 2;
      if (asTyped !== phrase && section.text.includes(asTyped)) score += 0.5;
      const rarest = found.reduce((one, other) => (other.weight > one.weight ? other : one));
      return { section, score, phrase: times ? phrase : rarest.word };
    });
    return ranked.filter(({ section }) => section).sort((a, b) => b.score - a.score);
  },

  show(results, root, query) {
    const found = Search.find(query);
    const heading = document.createElement("h2");
    heading.textContent = "Search results";
    const summary = document.createElement("p");
    summary.className = "search-summary";
    summary.setAttribute("role", "status");
    summary.textContent = found.length
      ? `Sections with “${query}”, the best first: ${found.length}${found.length === 50 ? " or more" : ""}.`
      : `No section has “${query}”. Try fewer words, or the part of a message that names no values of yours.`;
    const list = document.createElement("ul");
    list.className = "search";
    for (const { section, phrase } of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + section.address;
      link.textContent = section.title;
      item.append(link, Search.excerpt(section, phrase));
      list.append(item);
    }
    results.replaceChildren(heading, summary, list);
  },

  // The text around the first place, which is marked.
  excerpt(section, phrase) {
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    const at = Math.max(section.inText.indexOf(phrase), 0);
    const from = Math.max(at - 80, 0);
    const mark = document.createElement("mark");
    mark.textContent = section.text.slice(at, section.inText.includes(phrase) ? at + phrase.length : at);
    const after = at + mark.textContent.length;
    paragraph.append(from ? "… " : "", section.text.slice(from, at), mark, section.text.slice(after, after + 120), " …");
    return paragraph;
  },
};
document.addEventListener("DOMContentLoaded", Search.init);
