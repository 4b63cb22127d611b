// Finds the messages of the dictionary in a log, as explain.py does: both interpret what `for_javascript` gives of
// rules.toml, errors.toml and releases.toml, and one list of cases tests both.
const explain = (() => {
  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const cleaner = (steps) => {
    const compiled = steps.map(([pattern, becomes]) => [new RegExp(pattern, "g"), becomes.replace("\\1", "$$1")]);
    return (text) => compiled.reduce((done, [pattern, becomes]) => done.replace(pattern, becomes), text);
  };
  const solid = (text) => text.replace(/[ \n]/g, "");

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

  // Where the first name of a message that headers.toml has is declared.
  const headerOf = ({ names, headers }, message) => {
    const known = new RegExp(headers.known).test(message);
    for (const [, before, name] of message.matchAll(new RegExp(headers.name, "g"))) {
      if (!Object.hasOwn(names, name) || !new RegExp(headers.roots).test(before)) continue;
      if (!known && headers.ordinary.includes(name)) continue;
      const [header, space] = names[name];
      return fill(headers[space ? "qualified" : "macro"], { name, header, space });
    }
    return "";
  };

  // A text as its lines, cleaned, and as one string without white space.
  class Log {
    constructor(rules, text) {
      const { longest } = (this.limits = rules.limits);
      this.rules = rules;
      [this.numbers, this.widths, this.lines, this.starts] = [[], [], [], [0]];
      const [clean, cleanLine, parts] = [cleaner(rules.clean), cleaner(rules.clean_line), []];
      clean(text).split("\n").forEach((line, number) => {
        for (let at = 0; at < Math.max(line.length, 1); at += longest) {
          const piece = line.slice(at, at + longest);
          const cleaned = cleanLine(piece);
          this.numbers.push(number + 1);
          this.widths.push(piece.length);
          this.lines.push(cleaned);
          parts.push(solid(cleaned));
          this.starts.push(this.starts.at(-1) + parts.at(-1).length);
        }
      });
      this.solid = parts.join("");
      this.ours = new RegExp(rules.ours).test(this.solid);
    }

    // Whether the text as a whole is one in which a pattern is looked for.
    allows({ ours, beside, unless }) {
      if (ours && !this.ours) return false;
      if (beside && !new RegExp(beside).test(this.solid)) return false;
      return !(unless && new RegExp(unless).test(this.solid));
    }

    // Where a pattern matches, wherever lines are wrapped.
    matches(rule) {
      const found = new Map();
      const { tries: most, around } = this.limits;
      for (const needs of rule.needs) {
        const key = needs.reduce((longest, need) => (need.length > longest.length ? need : longest));
        let [at, tries] = [-1, 0];
        while (tries < most && (at = this.solid.indexOf(key, at + 1)) >= 0) {
          const line = after(this.starts, at) - 1;
          const lines = [Math.max(0, line - around), Math.min(this.lines.length, line + around + 1)];
          const near = this.solid.slice(...lines.map((one) => this.starts[one]));
          if (!needs.every((need) => near.includes(need))) continue;
          ++tries;
          const match = this.match(rule, lines, at, at + key.length);
          if (!match || found.has(match.start)) continue;
          found.set(match.start, match);
          at = Math.max(at, match.end - 1);
        }
      }
      return [...found.values()];
    }

    // The match around some fixed words.
    match(rule, lines, start, end) {
      for (const way of this.limits.joins) {
        const text = this.joined(...lines, way);
        for (const found of text.matchAll(rule.regex)) {
          const low = this.starts[lines[0]] + solid(text.slice(0, found.index)).length;
          const high = low + solid(found[0]).length;
          if (rule.names && !headerOf(this.rules, found[0])) continue;
          if (low >= end || start >= high) continue;
          const line = after(this.starts, low) - 1;
          const [upto, broken] = this.upto(high, lines);
          const shown = this.joined(line, upto, broken ? "" : way);
          const words = shown.replace(/[ \n]+/g, " ").trim();
          return { rule, start: low, end: high, line: this.numbers[line], text: words };
        }
      }
      return null;
    }

    // The line behind a match, and whether a terminal has broken the match's last word, which then is whole.
    upto(high, [first, last]) {
      const end = after(this.starts, high - 1);
      const width = Math.max(...this.widths.slice(first, last));
      const goesOn = (upto) =>
        (this.starts[upto] === high || upto > end) &&
        upto < last &&
        this.widths[upto - 1] === width &&
        width >= this.limits.terminal &&
        (upto === end || !this.lines[upto - 1].includes(" ")) &&
        /^\w \w/.test(`${this.lines[upto - 1].slice(-1)} ${this.lines[upto]}`);
      let upto = end;
      while (goesOn(upto)) ++upto;
      return [upto, upto > end];
    }

    // The number and the text of the first line that looks like an error, by the surest sign that any line has. Lines in
    // which `but` finds something do not count.
    first(signs, but = null) {
      for (const sign of signs.map((pattern) => new RegExp(pattern))) {
        const at = this.lines.findIndex((line) => sign.test(line) && (but === null || line.search(but) < 0));
        if (at >= 0) return [this.numbers[at], this.lines[at].trim()];
      }
      return null;
    }

    // Where a compiler's first error begins in the text without white space, and where the next one does.
    ofCompiler() {
      const sign = new RegExp(this.rules.says.compiler, "g");
      const places = [sign.exec(this.solid), sign.exec(this.solid)];
      return places[0] && [places[0].index, places[1]?.index ?? this.solid.length];
    }

    // The number and the text of a line in which something of the text without white space is.
    at(start) {
      const line = after(this.starts, start) - 1;
      return [this.numbers[line], this.lines[line].trim()];
    }

    // The first mangled names.
    mangled(pattern) {
      const names = new Set();
      const { names: most, around } = this.limits;
      this.lines.forEach((line, i) => {
        if (names.size >= most || !line.includes("_Z")) return;
        const text = this.joined(i, Math.min(i + around, this.lines.length), "");
        for (const found of text.matchAll(pattern)) if (found.index < line.length) names.add(found[0]);
      });
      return [...names].slice(0, most);
    }

    // Some lines as one, each break a `way`, which is nothing only where the terminal's last column was reached.
    joined(first, last, way) {
      const width = Math.max(...this.widths.slice(first, last));
      const full = (i) => width >= this.limits.terminal && this.widths[i] === width;
      const inside = (i) => i + 1 < last && this.numbers[i] === this.numbers[i + 1]; // between two pieces of a line
      const gap = (i) => (inside(i) ? "" : way || (full(i) ? "" : " "));
      return this.lines
        .slice(first, last)
        .map((line, i) => line + gap(first + i))
        .join("")
        .replace(/ {2,}/g, " ");
    }
  }

  // What a log holds of the dictionary, { id, line, text, times, follows, header } of each entry, of a text of
  // another library those that are anyone's; whose it is else; and a compiler's first error if no entry is about it.
  const find = (rules, log, owned) => {
    const matches = rules.patterns.flatMap((rule) => {
      if ((owned && !rule.anyones) || !log.allows(rule)) return [];
      rule.regex ??= new RegExp(rule.pattern, "g");
      return log.matches(rule);
    });
    matches.sort((one, other) => other.rule.weight - one.rule.weight || one.start - other.start);
    const [taken, each] = [[], new Map()];
    for (const match of matches) {
      if (taken.some(({ start, end }) => match.start < end && start < match.end)) continue;
      taken.push(match);
      each.set(match.rule.id, [...(each.get(match.rule.id) ?? []), match]);
    }
    const stranger = [...each.values()].map(([{ rule }]) => rule.of).find(Boolean) ?? "";
    const known = [...each.values()].filter(([{ rule }]) => !rule.of);
    let first = known.map((some) => some.reduce((a, b) => (b.start < a.start ? b : a)));
    const surer = first.filter(({ rule }) => !rule.alone && !rule.harmless);
    const place = log.ofCompiler();
    const later = ({ start }) => start >= place[1];
    let unknown = place && surer.every(later);
    const about = first.filter((one) => unknown && one.rule.alone && place[0] <= one.start && !later(one));
    if (surer.length || unknown) first = first.filter((one) => !one.rule.alone || about.includes(one));
    unknown = unknown && first.every(later);
    const signs = rules.says.errors.slice(0, 2);
    first = first.filter(({ rule }) => !(rule.cut && log.first(signs, rule.regex)));
    first.sort((one, other) => one.start - other.start);
    const anything = ({ rule }) => rule.follows.includes("*");
    const last = ({ id, follows }) => follows.length > 0 || first.find(({ rule }) => rule.id === id).rule.harmless;
    const causes = (match) =>
      first
        .filter((one) => one !== match && !match.rule.harmless)
        .filter((one) => match.rule.follows.includes(one.rule.id) || (anything(match) && !anything(one)))
        .map((one) => one.rule.id);
    const found = first
      .map((match) => {
        const { line, text, rule } = match;
        const header = rule.names ? headerOf(rules, text) : "";
        return { id: rule.id, line, text, times: each.get(rule.id).length, follows: causes(match), header };
      })
      .sort((one, other) => last(one) - last(other));
    const line = unknown && !stranger && !owned ? log.at(place[0]) : null;
    return { found, stranger: stranger || (found.length ? "" : owned), line };
  };

  // Whose text it is, if there is nothing of TensorFlow's in it.
  const owner = ({ strangers }, { ours, solid }) =>
    ours ? "" : (strangers.find(({ sign }) => new RegExp(sign).test(solid))?.of ?? "");

  // What the signal tells of why a process has died.
  const death = ({ signals, says }, { solid }) =>
    signals.find(({ sign }) => new RegExp(sign).test(solid))?.says ?? says.died;

  // A mangled name's names, and the name without what has a length.
  const parts = (symbols, symbol) => {
    const special = symbols.special[symbol.slice(0, 4)] ?? "";
    const token = new RegExp(symbols.token, "y");
    const names = [];
    let [plain, leading] = ["", true];
    token.lastIndex = special ? 4 : 2;
    while (token.lastIndex < symbol.length) {
      const [found, digits] = token.exec(symbol);
      if (digits) {
        const at = token.lastIndex;
        token.lastIndex = at + Number(digits);
        if (leading && found === digits) names.push(symbol.slice(at, token.lastIndex));
        plain += "#";
        continue;
      }
      if (leading && names.length && /^(?:C[123]|D[012])$/.test(found)) {
        names.push((found[0] === "D" ? "~" : "") + names.at(-1));
      } else if (!["N", "K"].includes(found)) leading = false;
      plain += found;
    }
    const unnamed = new RegExp(symbols.unnamed);
    return [special + names.filter((name) => !unnamed.test(name)).join("::"), plain];
  };

  // What a mangled name, of macOS or of Linux, says of the library that holds it: { symbol, name, told, fits, says }.
  const read = (symbols, symbol, mac) => {
    const { releases } = symbols;
    const listed = (some) => {
      const [from, to] = some.length ? [some[0], some.at(-1)] : [releases[0], releases.at(-1)];
      const template = symbols[["none", "one", "two", "more"][Math.min(some.length, 3)]];
      return fill(template, { first: from.minor, last: to.minor });
    };
    const [name, plain] = parts(symbols, symbol);
    const [told, says] = [{}, []];
    let [known, alone] = [releases, true];
    for (const fact of symbols.facts) {
      if (mac && fact.linux) continue;
      const search = (one) => new RegExp(one.pattern).exec(one.plain ? plain : symbol);
      const one = fact.values.find(search);
      if (!one) continue;
      if (!fact.alone) alone = false;
      const value = one.value ?? search(one)[1].replaceAll("_", "");
      told[fact.field] = value;
      known = known.filter((row) => row[fact.field] === value);
      let [template, some] = [fact.says, releases.filter((row) => row[fact.field] === value)];
      if (!some.length && fact.older) {
        if (value < releases[0][fact.field]) [template, some] = [fact.older, releases.slice(0, 1)];
        else if (value > releases.at(-1)[fact.field]) [template, some] = [fact.newer, releases.slice(-1)];
      }
      says.push(one.says ? symbols[one.says] : fill(template, { value, releases: listed(some) }));
    }
    if (!says.length) return { symbol, name, told, fits: [], says: [symbols.silent] };
    if (!alone) {
      says.push(mac ? symbols.on_mac : fill(symbols.fits, { releases: listed(known) }));
      if (known[0] === releases[0]) says.push(fill(symbols.earlier, { oldest: known[0].minor }));
    }
    return { symbol, name, told, fits: known.map(({ minor }) => minor), says };
  };

  // What a text holds that is known: { found, read, died, stranger, first, unsure }.
  return (rules, text) => {
    const log = new Log(rules, text);
    const owned = owner(rules, log);
    let { found, stranger, line } = find(rules, log, owned);
    const dead = new RegExp(rules.died).test(log.solid);
    const harmless = ({ id }) => rules.patterns.find((rule) => rule.id === id).harmless;
    const failed = () => dead || log.first(rules.says.errors.slice(0, 2)) !== null;
    if (found.length && found.every(harmless) && failed()) found = []; // what harms nothing is not why it failed
    const names = owned ? [] : log.mangled(new RegExp(rules.symbols.pattern, "g"));
    const asked = ({ symbol }) => new RegExp(rules.symbols.outside + symbol).test(log.solid);
    const mac = new RegExp(rules.symbols.mac).test(log.solid);
    const reading = names.map((symbol) => read(rules.symbols, symbol, mac));
    const died = dead && !found.length && !stranger ? death(rules, log) : "";
    const first = found.length ? line : died ? null : log.first(rules.says.errors);
    const unsure = found.length > 0 && !log.ours;
    const told = reading.filter((one) => Object.keys(one.told).length > 0 || asked(one));
    return { found, read: told, died, stranger, first, unsure };
  };
})();
