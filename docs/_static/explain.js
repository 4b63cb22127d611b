// Finds the messages of the table in what a visitor pastes. opcheck/explain.py and opcheck/symbols.py do the same and say
// why; a test compares the two. Nothing leaves the page.
const explain = (() => {
  // The index of the first element that is larger.
  const after = (sorted, value) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] > value) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const length = (text) => text.replace(/[ \n]/g, "").length;

  class Log {
    constructor({ clean, limits, mangled }, text) {
      Object.assign(this, { limits, symbol: new RegExp(mangled, "g") });
      const all = (name) => new RegExp(clean[name], "g");
      text = text.replaceAll("\r\n", "\n").replace(all("escapes"), "");
      if (/[\\â]/.test(text)) text = text.replace(all("broken"), "'").replace(all("break"), " ");
      text = text.replace(all("quotes"), "'").replace(all("double"), '"').replace(all("blank"), " ");
      const prefix = new RegExp(clean.prefix);
      [this.numbers, this.widths, this.lines, this.starts] = [[], [], [], [0]];
      const solid = [];
      text.split("\n").forEach((line, number) => {
        for (let at = 0; at < Math.max(line.length, 1); at += limits.longest) {
          const piece = line.slice(at, at + limits.longest);
          const cleaned = piece.replace(/ {2,}/g, " ").replace(prefix, "");
          this.numbers.push(number + 1);
          this.widths.push(piece.length);
          this.lines.push(cleaned);
          solid.push(cleaned.replaceAll(" ", ""));
          this.starts.push(this.starts.at(-1) + solid.at(-1).length);
        }
      });
      this.solid = solid.join("");
    }

    // Where a pattern matches, wherever lines are wrapped.
    matches(rule) {
      const found = new Map();
      for (const needs of rule.needs) {
        const key = needs.reduce((longest, need) => (need.length > longest.length ? need : longest));
        let at = -1;
        let tries = 0;
        while (tries < this.limits.tries && (at = this.solid.indexOf(key, at + 1)) >= 0) {
          const line = after(this.starts, at) - 1;
          const first = Math.max(0, line - this.limits.around);
          const last = Math.min(this.lines.length, line + this.limits.around + 1);
          const near = this.solid.slice(this.starts[first], this.starts[last]);
          if (!needs.every((need) => near.includes(need))) continue;
          ++tries;
          const match = this.match(rule, first, last, at, at + key.length);
          if (!match || found.has(match.start)) continue;
          found.set(match.start, match);
          at = Math.max(at, match.end - 1);
        }
      }
      return [...found.values()];
    }

    match(rule, first, last, start, end) {
      for (const way of ["\n", " ", ""]) {
        const text = this.joined(first, last, way);
        for (const found of text.matchAll(rule.regex)) {
          const low = this.starts[first] + length(text.slice(0, found.index));
          const high = low + length(found[0]);
          if (low >= end || start >= high) continue;
          const line = after(this.starts, low) - 1;
          const upto = after(this.starts, high - 1);
          const shown = this.joined(line, upto, way).replaceAll("\n", " ").replace(/ {2,}/g, " ").trim();
          return { rule, start: low, end: high, line: this.numbers[line], text: shown };
        }
      }
      return null;
    }

    mangled() {
      const names = new Set();
      this.lines.forEach((line, i) => {
        if (names.size >= this.limits.symbols || !line.includes("_Z")) return;
        const text = this.joined(i, Math.min(i + this.limits.around, this.lines.length), "");
        for (const found of text.matchAll(this.symbol)) if (found.index < line.length) names.add(found[0]);
      });
      return [...names].slice(0, this.limits.symbols);
    }

    joined(first, last, way) {
      const width = Math.max(...this.widths.slice(first, last));
      let text = "";
      for (let i = first; i < last; ++i) {
        const full = this.widths[i] === width && width >= 40;
        text += this.lines[i] + (way || (full ? "" : " "));
      }
      return text.replace(/ {2,}/g, " ");
    }
  }

  // What a text holds of the table: { id, line, text, times, follows } of each entry.
  const find = (table, log) => {
    const matches = table.rules.flatMap((rule) => {
      rule.regex ??= new RegExp(rule.pattern, "g");
      return log.matches(rule);
    });
    matches.sort((one, other) => other.rule.weight - one.rule.weight || one.start - other.start);
    const [taken, first, times] = [[], new Map(), new Map()];
    for (const match of matches) {
      if (taken.some(([start, end]) => match.start < end && start < match.end)) continue;
      taken.push([match.start, match.end]);
      const { id } = match.rule;
      times.set(id, (times.get(id) ?? 0) + 1);
      if (!first.has(id) || match.start < first.get(id).start) first.set(id, match);
    }
    const inOrder = (names) => names.sort((one, other) => first.get(one).start - first.get(other).start);
    const anything = (id) => first.get(id).rule.follows.includes("*");
    const causes = (id) => {
      const found = [...first.keys()];
      const named = anything(id)
        ? found.filter((one) => !anything(one))
        : found.filter((one) => first.get(id).rule.follows.includes(one));
      return inOrder(named.filter((one) => one !== id));
    };
    const entries = inOrder([...first.keys()]).map((id) => {
      const { line, text: shown } = first.get(id);
      return { id, line, text: shown, times: times.get(id), follows: causes(id) };
    });
    return [
      ...entries.filter((entry) => !entry.follows.length),
      ...entries.filter((entry) => entry.follows.length),
    ];
  };

  // A mangled name's names, and the name without them.
  const parts = (symbol) => {
    const special = { TV: "vtable for ", TI: "typeinfo for ", TS: "typeinfo name for " }[symbol.slice(2, 4)];
    const token = /B?(\d+)|S[0-9A-Z]*_|S[absiod]|T\d*_|L[a-z]n?\d+E|A\d+_|[CD]\d|./y;
    const names = [];
    let [plain, leading] = ["", true];
    token.lastIndex = special ? 4 : 2;
    while (token.lastIndex < symbol.length) {
      const [found, digits] = token.exec(symbol);
      if (digits) {
        const at = token.lastIndex;
        if (leading && found[0] !== "B") names.push(symbol.slice(at, at + Number(digits)));
        token.lastIndex = at + Number(digits);
        plain += "#";
        continue;
      }
      if (leading && /^C[123]$/.test(found) && names.length) names.push(names.at(-1));
      else if (leading && /^D[012]$/.test(found) && names.length) names.push(`~${names.at(-1)}`);
      else if (!["N", "K"].includes(found)) leading = false;
      plain += found;
    }
    return [(special ?? "") + names.filter((name) => !name.startsWith("lts_")).join("::"), plain];
  };

  // As opcheck.symbols.read.
  const read = ({ tagged, release: rows }, symbol) => {
    const minor = ({ version }) => version.split(".").slice(0, 2).join(".");
    const span = `TensorFlow ${minor(rows[0])} to ${minor(rows.at(-1))}`;
    const listed = (some) =>
      `TensorFlow ${some.length < 3 ? some.map(minor).join(" and ") : `${minor(some[0])} to ${minor(some.at(-1))}`}`;
    const wheels = (some) => (some.length ? `as in the wheels of ${listed(some)}` : `as in no wheel from ${span}`);
    const [name, plain] = parts(symbol);
    let abi = null;
    if (/7__cxx11|B5cxx11/.test(symbol)) abi = 1;
    else if (plain.includes("Ss") || tagged.some((one) => symbol.startsWith(`${one}E`))) abi = 0;
    const found = /12lts_(\d{8})|14lts_(\d{4}_\d\d_\d\d)/.exec(symbol);
    const date = found ? (found[1] ?? found[2]).replaceAll("_", "") : "";
    const dated = rows.filter((row) => row.absl === date);
    const same = rows.filter((row) => row.abi === abi);
    const absl = "10tensorflow\\w*4absl(?:12lts_\\d{8}|14lts_\\d{4}_\\d\\d_\\d\\d)?";
    const spaces = Object.entries({ tensorflow: "10tensorflow", tsl: "3tsl", absl });
    const status = ([, name]) => new RegExp(`${name}6Status\\D|^_ZNK?${name}\\w*NS_6Status\\D`).test(symbol);
    const [space] = spaces.find(status) ?? [""];
    const classes = rows.filter((row) => row.status === space);
    const told = Object.entries({ abi, absl: date || null, status: space || null }).filter(([, value]) => value !== null);
    const known = rows.filter((row) => told.every(([field, value]) => row[field] === value));
    const says = [];
    if (date) {
      const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
      const later = rows.filter((row) => row.absl > date);
      let whose = `that of no wheel from ${span}`;
      if (dated.length) whose = `that of ${listed(dated)}`;
      else if (later.length === rows.length) whose = `older than that of TensorFlow ${minor(rows[0])}`;
      else if (!later.length) whose = `newer than that of TensorFlow ${minor(rows.at(-1))}`;
      says.push(`Abseil of ${day}: ${whose}.`);
    }
    if (abi !== null) says.push(`Compiled with _GLIBCXX_USE_CXX11_ABI=${abi}, ${wheels(same)}.`);
    if (space) says.push(`tensorflow::Status is ${space}::Status, ${wheels(classes)}.`);
    const what = known.length ? listed(known) : `no wheel from ${span}`;
    if (says.length) says.push(`To judge by this name, the library was compiled for ${what}.`);
    else says.push("Neither Abseil nor std::string is in this name: it does not tell for which TensorFlow it is.");
    return { symbol, name, abi, absl: date, fits: says.length > 1 ? known.map(minor) : [], says };
  };

  // What a text holds that is known, as opcheck.explain.explain.
  return (table, text) => {
    const log = new Log(table, text);
    const found = find(table, log);
    const died = !found.length && new RegExp(table.died).test(log.solid);
    return { found, died, read: log.mangled().map((symbol) => read(table.releases, symbol)) };
  };
})();

// The field of the page on errors.
document.addEventListener("DOMContentLoaded", () => {
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const form = document.querySelector("form.explain");
  if (!form) return;
  const table = JSON.parse(document.getElementById("explain-table").textContent);
  const [field, status, list] = ["textarea", ".explain-status", ".explain-found"].map((one) => form.querySelector(one));
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const link = (id) => make("a", { href: `#${id}` }, document.querySelector(`#${id} summary`)?.textContent ?? id);

  // An entry of the page, opened, below the line of the log in which its message begins.
  const shown = ({ id, line, text, times, follows }) => {
    const where = make("p", { className: "explain-where" }, `Line ${line}`, times > 1 ? `, ${times} times` : "");
    if (times >= table.limits.tries) where.append(" or more");
    if (follows.length) where.append(", follows from ", ...follows.flatMap((one, i) => (i ? [" and ", link(one)] : [link(one)])));
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
    const { found, read, died } = explain(table, text);
    const { shown: most } = table.limits;
    if (died) {
      const silent = make("a", { href: "#nothing-is-printed" }, "What makes an op do so");
      status.append("A process has died, and nothing tells why. ", silent, ".");
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
