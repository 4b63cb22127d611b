// A report of a mistake names the section that is being read: the last that has begun above the middle of the window.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("a.report-mistake")) {
    const page = new URL(link.href);
    const nameSection = () => {
      const section = [...document.querySelectorAll("article section[id]")]
        .filter((each) => each.getBoundingClientRect().top < innerHeight / 2)
        .pop();
      const heading = section?.querySelector("h1, h2, h3, h4")?.firstChild.textContent;
      const report = new URL(page);
      if (heading) {
        const text = report.searchParams.get("body");
        report.searchParams.set("title", `${report.searchParams.get("title")}, ${heading}`);
        report.searchParams.set("body", text.replace(/^(Page: .*)$/m, `$1#${section.id}\nSection: ${heading}`));
      }
      link.href = report;
    };
    link.addEventListener("click", nameSection);
    link.addEventListener("auxclick", nameSection);
  }
});

// A short piece of code stays in one line.
document.addEventListener("DOMContentLoaded", () => {
  for (const code of document.querySelectorAll("article code.literal")) {
    code.classList.toggle("short", code.textContent.length <= 16);
  }
});

// A long name in a table may break behind an underscore, a slash or a bracket and before a capital letter, where the
// table is too narrow for it.
document.addEventListener("DOMContentLoaded", () => {
  for (const name of document.querySelectorAll("article :is(td, th) code.literal .pre, article .filtered td code:not(.whole)")) {
    if (name.textContent.length <= 20) continue;
    const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (text.parentElement.matches(".option")) continue;
      const parts = text.data.split(/(?<=[({/]|::)|(?<=_)(?=\w\w)|(?<=[a-z\d])(?=[A-Z])/);
      text.replaceWith(...parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part])));
    }
  }
});

// On a phone, a table that is wider scrolls. There its columns of words are wider than their longest word, so that nobody
// reads a sentence down a page: the first one little, since what belongs to it is to be seen beside it, and the last one
// of many much, since a high cell out of sight would leave its row empty. Elsewhere they are so if there is room. What is brief, such as
// 390 ms, stays in one line if there is room. A folded table is looked at when it opens.
document.addEventListener("DOMContentLoaded", () => {
  const arrange = (box) => {
    const isWide = () => box.scrollWidth > box.clientWidth;
    const cells = [...box.querySelectorAll("td")].map((cell) => [cell, cell.textContent.trim().length]);
    const brief = cells.filter(([, letters]) => letters <= 10);
    const long = cells.filter(([, letters]) => letters > 24);
    const mark = (some, name, most) => {
      for (const [cell, letters] of some) {
        cell.classList.add(name);
        cell.style.setProperty("--long", `${Math.min(most(cell, letters), letters / 4)}rem`);
      }
    };
    const unmark = (some, name) => some.forEach(([cell]) => cell.classList.remove(name));
    const phone = matchMedia("(max-width: 959.98px)").matches;
    if (phone) mark(long.filter(([cell]) => !cell.nextElementSibling), "long", () => 8);
    if (isWide()) box.classList.add("tight");
    const wide = phone && isWide();
    mark(brief, "brief", () => 0);
    if (!wide && isWide()) unmark(brief, "brief");
    const most = (cell, letters) => {
      if (!cell.previousElementSibling) return 9;
      const last = cell.cellIndex > 1 && !cell.nextElementSibling;
      return last ? Math.max(8, Math.min(20, letters / 6)) : 10;
    };
    mark(long, "long", wide ? most : () => 8);
    if (!wide && isWide()) unmark(long, "long");
  };
  for (const box of document.querySelectorAll("article .pst-scrollable-table-container:has(td)")) {
    const fold = box.closest("details:not([open])");
    if (fold) fold.addEventListener("toggle", () => arrange(box), { once: true });
    else arrange(box);
  }
});

// The chapter that is read is in sight in the sidebar; the theme restores where the sidebar was on the page before.
addEventListener("load", () => {
  const show = (list) => {
    const current = list?.querySelector('[aria-current="page"]');
    if (!current) return;
    const place = current.getBoundingClientRect();
    const frame = list.getBoundingClientRect();
    if (place.top < frame.top || place.bottom > Math.min(frame.bottom, innerHeight)) {
      list.scrollTop += place.top - frame.top - list.clientHeight / 3;
    }
  };
  show(document.querySelector(".bd-sidebar-primary"));
  // On a phone the list is in a dialog.
  document.querySelector(".primary-toggle")?.addEventListener("click", () => {
    requestAnimationFrame(() => show(document.querySelector("dialog[open]")));
  });
});

// Where a finger taps on a term, its meaning shows; a second tap leads to the glossary.
document.addEventListener("click", (event) => {
  const term = event.target.closest?.("a.term");
  const touched = event.pointerType ? event.pointerType === "touch" : matchMedia("(hover: none)").matches;
  if (term && touched && !term.classList.contains("open")) event.preventDefault();
  for (const open of document.querySelectorAll("a.term.open")) if (open !== term) open.classList.remove("open");
  if (touched) term?.classList.add("open");
});

// What can be scrolled sideways fades out at the side where there is more.
addEventListener("load", () => {
  // A drawing shrinks to the width of the screen as long as its words can be read.
  const fit = (box) => {
    const drawing = box.querySelector("svg.drawing[width][viewBox]");
    if (!drawing) return;
    const sizes = [...drawing.querySelectorAll("text, tspan")].map((each) => parseFloat(getComputedStyle(each).fontSize));
    const scale = box.clientWidth / drawing.viewBox.baseVal.width;
    drawing.classList.toggle("fit", Math.min(...sizes) * scale >= 9);
  };
  const update = (box) => {
    fit(box);
    const more = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more-right", more > 2);
    box.style.setProperty("--more", `${more}px`);
    box.classList.toggle("more-left", box.scrollLeft > 2 && box.scrollWidth > box.clientWidth + 2);
  };
  const boxes = document.querySelectorAll("article :is(pre, div.drawing, .pst-scrollable-table-container)");
  for (const box of boxes) box.classList.toggle("large", box.querySelector("svg.drawing")?.getAttribute("width") > box.clientWidth);
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => update(target)));
  for (const box of boxes) {
    sizes.observe(box);
    box.addEventListener("scroll", () => update(box), { passive: true });
  }
});

// On paper, what is folded is open and the page is light.
const folded = [];
addEventListener("beforeprint", () => {
  const root = document.documentElement;
  root.dataset.screenTheme = root.dataset.theme;
  root.dataset.theme = "light";
  for (const box of document.querySelectorAll("article details:not([open])")) {
    box.open = true;
    folded.push(box);
  }
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = document.documentElement.dataset.screenTheme;
  for (const box of folded.splice(0)) box.open = false;
});
