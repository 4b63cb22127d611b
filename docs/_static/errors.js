// The field of the page on errors: what explain.js finds in what a visitor pastes. Nothing leaves the page.
document.addEventListener("DOMContentLoaded", () => {
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const form = document.querySelector("form.explain");
  if (!form) return;
  const rules = JSON.parse(document.getElementById("explain-rules").textContent);
  const { says, limits } = rules;
  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const [field, status, list] = ["textarea", ".explain-status", ".explain-found"].map((one) => form.querySelector(one));
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const link = (id) => make("a", { href: `#${id}` }, document.querySelector(`#${id} summary`)?.textContent ?? id);

  // An entry of the page, opened, below the line of the log in which its message begins.
  const shown = ({ id, line, text, times, follows }) => {
    const where = make("p", { className: "explain-where" }, fill(says.line, { line }));
    if (times > 1) where.append(fill(says.times, { times }));
    if (times >= limits.tries) where.append(says.or_more);
    const [before, behind] = says.follows.split("{causes}");
    const causes = follows.flatMap((one, i) => [i ? ", " : "", link(one)]);
    if (causes.length) where.append(before, ...causes, behind);
    const quoted = text.length > 400 ? `${text.slice(0, 400)} …` : text;
    const entry = document.getElementById(id)?.cloneNode(true) ?? make("p", {}, link(id));
    for (const one of [entry, ...entry.querySelectorAll("[id]")]) one.removeAttribute("id");
    entry.open = true;
    return make("section", {}, where, make("pre", {}, quoted), entry);
  };
  const reading = ({ name, says }) => make("p", {}, make("code", {}, name), `: ${says.join(" ")}`);

  const show = (text) => {
    list.replaceChildren();
    status.textContent = "";
    if (!text.trim()) return;
    const { found, read, died } = explain(rules, text);
    const most = limits.shown;
    if (died) {
      const silent = make("a", { href: "#nothing-is-printed" }, says.died_why);
      status.append(`${says.died} `, silent, ".");
    } else if (!found.length) {
      const report = make("a", { href: form.dataset.report }, "report it");
      status.append("None of the messages of this page is in this text. If it is an error of an op, ", report, ".");
    } else {
      const number = found.length > 1 ? `${found.length} known messages` : "1 known message";
      status.append(found.length > 1 ? `${number}, causes first.` : `${number}.`);
    }
    list.append(...found.slice(0, most).map(shown));
    for (const one of read) {
      const at = found.slice(0, most).findIndex((entry) => entry.text.includes(one.symbol));
      if (at < 0) list.append(make("section", {}, reading(one)));
      else list.children[at].querySelector("pre").after(reading(one));
    }
    if (found.length > most) {
      const others = found.slice(most).map(({ id }) => make("li", {}, link(id)));
      list.append(make("p", {}, "And:"), make("ul", {}, ...others));
    }
  };

  // A browser takes long to lay out a large text in a field, so the field gets the beginning alone.
  const most = 200_000;
  let waiting = 0;
  const take = (text) => {
    const large = text.length > most;
    if (large) field.value = `${text.slice(0, 2000)}\n… (${text.split("\n").length} lines)`;
    status.textContent = large ? "Reading …" : "";
    clearTimeout(waiting);
    waiting = setTimeout(() => show(text), 100);
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
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
});
