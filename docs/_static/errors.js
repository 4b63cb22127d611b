// The field of the page on errors: what explain.js finds in what a visitor pastes. Nothing leaves the page.
document.addEventListener("DOMContentLoaded", () => {
  // The entries were on this page once: an old link to one leads on to its own page.
  const leadOn = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const item = target?.closest(".error-list > li");
    if (item) location.replace(item.querySelector("a").href);
  };
  addEventListener("hashchange", leadOn);
  leadOn();

  const form = document.querySelector("form.explain");
  if (!form) return;
  let rules, entries, says, limits;
  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const [field, status, list] = ["textarea", ".explain-status", ".explain-found"].map((one) => form.querySelector(one));
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  // All that is known is large: it is loaded when somebody asks.
  let loading;
  const load = () =>
    (loading ??= new Promise((resolve, reject) => {
      document.head.append(make("script", { src: "errors/known.js", onload: resolve, onerror: reject }));
    }).then(() => {
      ({ rules, entries } = known);
      ({ says, limits } = rules);
    }));
  const link = (id) => make("a", { href: `errors/${id}.html`, innerHTML: entries[id].title });
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most)} …` : text);
  // A sentence with names between backticks.
  const sentence = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

  // What is known of an entry, below the line of the log in which its message begins.
  const shown = ({ id, line, text, times, follows, header }) => {
    const where = make("p", { className: "explain-where" }, fill(says.line, { line }));
    if (times > 1) where.append(fill(says.times, { times }));
    if (times >= limits.tries) where.append(says.or_more);
    const [before, behind] = says.follows.split("{causes}");
    const causes = follows.flatMap((one, i) => [i ? ", " : "", link(one)]);
    if (causes.length) where.append(before, ...causes, behind);
    const { cause, cure } = entries[id];
    const section = make("section", {}, where, make("pre", {}, cut(text, 400)));
    if (header) section.append(make("p", { className: "explain-header" }, ...sentence(header)));
    const more = make("a", { href: `errors/${id}.html` }, "Examples, and how else it is said");
    section.append(make("div", { innerHTML: cause }), make("div", { innerHTML: `<strong>What to do:</strong> ${cure}` }));
    section.append(make("p", { className: "explain-more" }, more));
    return section;
  };
  const reading = ({ name, says }) => make("p", {}, make("code", {}, name), ": ", ...sentence(says.join(" ")));

  // What helps where nothing is known: the line that looks like an error, a search for it, and a report with it.
  const unknown = ({ stranger, first }) => {
    status.append(says.nothing);
    if (stranger) {
      list.append(make("p", {}, fill(says.stranger, { of: stranger })));
      return;
    }
    const [line, text] = first ?? [0, ""];
    if (first) list.append(make("p", {}, `${fill(says.first, { line })}:`), make("pre", {}, cut(text, 400)));
    const place = /^\S+?:\d+(?::\d+)?: |(?:[\w.-]*[\\/])+|\b0x[0-9a-f]+\b|:\d+/g;
    const words = text.replace(place, " ").replace(/\s+/g, " ").trim().slice(0, 120);
    const search = make("a", { href: `search.html?q=${encodeURIComponent(words)}` }, "Search the book for it");
    const title = cut(text, 90) || "An error that is not in the list";
    const body = `The first line that looks like an error:\n\n    ${cut(text, 400)}\n\nWhat I did:\n\nTensorFlow, compiler, system:\n`;
    const query = new URLSearchParams({ title, body });
    const report = make("a", { href: `${form.dataset.report.split("?")[0]}?${query}` }, "report it");
    const help = make("p", {}, first ? search : "", first ? ", or, if it comes from an op, " : "If it comes from an op, ", report);
    help.append(first ? ": the report begins with this line and with nothing else of your log." : ".");
    list.append(help);
  };

  const show = (text) => {
    list.replaceChildren();
    status.textContent = "";
    form.classList.toggle("filled", Boolean(text.trim()));
    if (!text.trim()) return;
    const explanation = explain(rules, text);
    const { found, read, died } = explanation;
    const most = limits.shown;
    if (died) {
      const silent = make("a", { href: "#nothing-is-printed" }, says.died_why);
      status.append(`${died} `, silent, ".");
    } else if (found.length) {
      status.append(found.length > 1 ? `${found.length} known messages, causes first.` : "1 known message.");
    } else if (!read.length) {
      unknown(explanation);
    }
    if (explanation.unsure) status.append(` ${says.unsure}`);
    if (found.length && explanation.first) {
      const [line, text] = explanation.first;
      const where = make("p", { className: "explain-where" }, fill(says.line, { line }));
      list.append(make("section", {}, where, make("pre", {}, cut(text, 400)), make("p", {}, says.before)));
    }
    const sections = found.slice(0, most).map(shown);
    list.append(...sections);
    for (const one of read) {
      const at = found.slice(0, most).findIndex((entry) => entry.text.includes(one.symbol));
      if (at < 0) list.append(make("section", {}, reading(one)));
      else sections[at].querySelector("pre").after(reading(one));
    }
    if (found.length > most) {
      const others = found.slice(most).map(({ id }) => make("li", {}, link(id)));
      list.append(make("p", {}, "And:"), make("ul", {}, ...others));
    }
  };

  // A browser takes long to lay out a large text in a field, so the field gets the beginning alone.
  const most = 200_000;
  let waiting = 0;
  let latest = "";
  const take = (text) => {
    latest = text;
    const large = text.length > most;
    if (large) field.value = `${text.slice(0, 2000)}\n… (${text.split("\n").length} lines)`;
    status.textContent = large ? "Reading …" : "";
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      try {
        await load();
        show(latest);
      } catch {
        loading = undefined;
        status.textContent = "The list of errors could not be loaded.";
      }
    }, 100);
  };
  field.addEventListener("input", () => take(field.value));
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (text.length <= most) return;
    event.preventDefault();
    take(text);
  });
  field.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    const text = await file.text();
    field.value = text.length > most ? "" : text;
    take(text);
  });
  for (const sample of form.querySelectorAll(".explain-samples button")) {
    sample.addEventListener("click", () => {
      field.value = sample.dataset.log;
      take(field.value);
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
});
