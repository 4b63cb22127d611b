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
    ["optional input", "optional output", "list of tensors"],
    ["wheel", "pip install", "package"],
    ["segfault", "segmentation fault", "sigsegv", "signal 11", "crash"],
    ["abi mismatch", "cxx11_abi"],
    ["retracing", "traced again"],
    ["backprop", "backward pass", "derivative", "gradient"],
    ["bf16", "bfloat16"],
    ["fp16", "half precision", "mixed precision", "float16", "half"],
    ["string input", "string tensor", "tstring"],
    ["im2col", "patches"],
    ["micro-kernel", "microkernel", "register tile"],
    ["boilerplate", "the whole file"],
    ["getting started", "hello world", "tutorial", "first op"],
    ["fallback", "soft placement"],
    ["nondeterministic", "same bits", "deterministic"],
    ["multithreading", "parallel", "openmp", "shard", "all cores"],
    ["msvc", "visual studio", "windows"],
    ["mac", "macos", "apple silicon"],
    ["docker", "container"],
    ["slow", "faster"],
    ["speed up", "faster"],
    ["unit test", "op_test", "opcheck"],
    ["stateful", "keep state"],
    ["shape inference", "shape function"],
    ["deploy", "serve"],
    ["simd", "avx", "vectors"],
    ["attribute", "attr"],
    ["op not found", "op type not registered", "not registered"],
    ["version mismatch", "another version", "another release"],
    ["deadlock", "hangs", "never returns"],
    ["numerical gradient", "gradient check", "finite differences"],
    ["allocate temporary memory", "scratch memory", "allocate_temp"],
    ["dynamic output size", "dynamic output shape", "dynamic shape", "unknown dimension"],
  ],

  // What a question has besides the words that it is about.
  ofQuestions: new Set(
    ("a about an and any are as at be by can custom do does for from get how i if in into is it me my of on or own should " +
      "that the there this to unit use using what when where which why with you your").split(" "),
  ),

  // The sections that have the words of a query or of one that means the same, the best first; if none has, those with
  // the names in its words, with the words that it was perhaps to be, or with most of them.
  find(query) {
    const typed = query.toLowerCase().trim().split(/\s+/).join(" ");
    const search = (text, pattern, ...how) => Search.rank(text, text.split(pattern), query.trim(), ...how);
    const quotes = /[\s"'`“”]+/;
    let found = search(typed, quotes, undefined, 0);
    if (Search.isMessage(query, typed, found)) return found.slice(0, 50);
    const about = typed.replace(/[?!.,]+$/, "").split(" ");
    const phrase = about.filter((word) => !Search.ofQuestions.has(word)).join(" ") || typed;
    const has = (word) => new RegExp(`(?<!\\w)${word.replace(/\W/g, "\\$&")}s?(?!\\w)`).test(phrase);
    const group = Search.synonyms.find((words) => words.some(has)) ?? [];
    const said = group.find(has);
    const phrases = [phrase, ...group.filter((word) => word !== said).map((word) => phrase.replace(said, word))];
    // Of all of them, each section once; what has the words that were typed, sooner.
    const searchAll = (...how) => {
      const best = new Map();
      for (const one of phrases) {
        for (const hit of search(one, ...how)) {
          const score = hit.score - (one === phrase ? 0 : 0.5);
          if (!(best.get(hit.section)?.score >= score)) best.set(hit.section, { ...hit, score });
        }
      }
      return [...best.values()].sort((a, b) => b.score - a.score);
    };
    found = searchAll(quotes);
    if (!found.length) found = search(phrase, /\W+/);
    if (!found.length) found = search(Search.spelled(phrase), /\s+/);
    // Few are no answer to a question.
    if (found.length < 5) {
      const known = new Set(found.map(({ section }) => section));
      found.push(...searchAll(/\W+/, 0.5).filter(({ section }) => !known.has(section)));
    }
    return Search.chaptersFirst(found);
  },

  // Whether somebody looks for a message, whose page is to come first: it has more words than a question has, and signs
  // that a question has not, or an error has it as it is.
  isMessage(query, phrase, found) {
    if (phrase.split(" ").length < 4) return false;
    if (/[:=_/()'"‘“]|error|failed/i.test(query)) return true;
    return found.some(({ section }) => section.isError && section.inText.includes(phrase));
  },

  // Three sections of each chapter, the others, and then the errors, for some of which there is always room.
  chaptersFirst(found) {
    const times = {};
    const groups = [[], [], []];
    for (const each of found) {
      const { page, isError } = each.section;
      times[page] = (times[page] ?? 0) + 1;
      groups[isError ? 2 : Number(times[page] > 3)].push(each);
    }
    const errors = groups.pop();
    const chapters = groups.flat().slice(0, 50 - Math.min(errors.length, 15));
    return [...chapters, ...errors].slice(0, 50);
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

  // The part of a word that it has in common with its plural and the like; what is looked for as a name stays.
  stem(word) {
    if (!/^[a-z]{6,}$/.test(word)) return word;
    if (/ing$/.test(word) && word.length > 6) return word.slice(0, -3).replace(/([^aeiousl])\1$/, "$1");
    return word.replace(/(?<=ch|sh|x|ss)es$|(?<![su])s$/, "");
  },

  // Rare words count more than frequent ones, those of headings more than others, and all in one piece count most, above
  // all in the section's own heading; the page's title is above each of its sections. Of a message that was pasted with
  // other values in it, most of the words that the book has are enough, wherever they are.
  rank(phrase, parts, asTyped, enough, headings = 1) {
    const sections = Search.sections;
    const words = [...new Set(parts.filter(Boolean))].map(Search.stem);
    const isMessage = words.length > 3;
    const typed = asTyped.toLowerCase();
    const known = [];
    for (const word of words) {
      // A short one is part of many others.
      const start = /^\w/.test(word) && word.length < 4 ? "(?<!\\w)" : "";
      const end = start && words.length > 1 ? "(?![a-z]{2})" : "";
      const there = new RegExp(start + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + end, "g");
      const places = sections.map((each) => ({
        text: [...each.inText.matchAll(there)].length,
        heading: each.inHeading.search(there) >= 0 || (each.isPage && each.inTitles.search(there) >= 0),
        above: each.inTitle.search(there) >= 0 || (each.isPage && each.inAbout.search(there) >= 0),
      }));
      const count = places.filter(({ text, above }) => text || above).length;
      if (count || !(isMessage || enough)) known.push({ word, places, weight: Math.log(1 + sections.length / (1 + count)) });
    }
    const all = known.reduce((sum, { weight }) => sum + weight, 0) || 1;
    enough ??= isMessage ? 0.5 : 1 - 1e-9;
    const ranked = sections.map((section, n) => {
      const sum = (value) => known.reduce((sum, { places, weight }) => sum + weight * value(places[n]), 0) / all;
      let score = sum(({ text, above }) => (text || above ? 1 : 0));
      if (!score || score < enough) return {};
      // A long section has all words.
      const share = Math.min(1, Math.sqrt(1500 / section.text.length));
      score += headings * sum(({ text, heading, above }) => heading + above / 4 + (Math.min(text, 4) / 16) * share);
      const said = [typed, phrase].find((text) => section.inText.includes(text));
      const times = said ? section.inText.split(said).length - 1 : 0;
      if (times) score += 1 + Math.min(times, 2) / 100;
      if (section.inHeading.includes(phrase) || section.inHeading.includes(typed)) score += 2;
      // A page that is about all of it, by its titles or its description; else the earlier page.
      if (section.isPage && words.every((word) => section.inAbout.includes(word))) score += 2;
      if (section.isPage && words.every((word) => section.inTitles.includes(word))) score += 1;
      score -= section.place / (words.length > 1 ? 2 : 0.5);
      if (asTyped !== phrase && section.text.includes(asTyped)) score += 0.5;
      const found = known.filter(({ places }) => places[n].text || places[n].above);
      const rarest = found.reduce((one, other) => (other.weight > one.weight ? other : one));
      return { section, score, phrase: said ?? rarest.word };
    });
    return ranked.filter(({ section }) => section).sort((a, b) => b.score - a.score);
  },

  show(results, root, query) {
    const found = Search.find(query);
    const summary = document.createElement("p");
    summary.className = "search-summary";
    summary.setAttribute("role", "status");
    summary.textContent = found.length
      ? `Sections with “${query}”, the best first: ${found.length}${found.length === 50 ? " or more" : ""}.`
      : `No section has “${query}”. Try fewer words, or the part of a message that names no values of yours.`;
    results.replaceChildren(summary, ...Search.parts(found).map((part) => Search.list(part, root)));
  },

  // Of chapters that are followed by errors, the first few come before the errors, and the others behind them.
  parts(found) {
    const errors = found.filter(({ section }) => section.isError);
    const chapters = found.filter(({ section }) => !section.isError);
    if (!errors.length || !chapters.length || found[0].section.isError) return [{ found }];
    return [
      { found: chapters.slice(0, 5) },
      { title: "In the list of errors", found: errors.slice(0, 8) },
      { title: "More", found: [...chapters.slice(5), ...errors.slice(8)] },
    ].filter(({ found }) => found.length);
  },

  list({ title, found }, root) {
    const list = document.createElement("ul");
    list.className = "search";
    for (const { section, phrase } of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + section.address;
      link.textContent = title?.includes("errors") ? section.title.replace("Errors › ", "") : section.title;
      item.append(link, Search.excerpt(section, phrase));
      list.append(item);
    }
    if (!title) return list;
    const part = document.createElement("section");
    const heading = document.createElement("h2");
    heading.textContent = title;
    part.append(heading, list);
    return part;
  },

  // The text around the first place, which is marked, from one end of a word to another.
  excerpt(section, phrase) {
    const { text, inText } = section;
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    const at = Math.max(inText.indexOf(phrase), 0);
    const end = inText.includes(phrase) ? at + phrase.length : at;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, end);
    let before = text.slice(Math.max(at - 80, 0), at);
    if (at > 80) before = before.replace(/^\S*\s/, "… ");
    let after = text.slice(end, end + 120);
    if (end + 120 < text.length) after = after.replace(/\s\S*$/, " …");
    paragraph.append(before, mark, after);
    return paragraph;
  },
};
document.addEventListener("DOMContentLoaded", Search.init);
