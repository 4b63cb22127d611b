// Texts that look the same have the same contrast, on all pages: axe looks at the colours of one of them.
const markOneOfEachLook = ([mark, known]) => {
  const looks = new Set(known), grounds = new Map();
  const ground = (element) => {
    if (!element) return "";
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity];
      grounds.set(element, own + ground(element.parentElement));
    }
    return grounds.get(element);
  };
  const says = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  for (const element of document.body.querySelectorAll("*")) {
    const visible = element.checkVisibility({ visibilityProperty: true });
    if (!visible || ![...element.childNodes].some(says)) continue;
    const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
    const link = element.closest("a"), around = link?.parentElement;
    const lines = link && around.localName + getComputedStyle(link).textDecorationLine;
    const own = [color, fill, fontSize, fontWeight, element.disabled, lines, around && getComputedStyle(around).color];
    const look = own + ground(element);
    if (!looks.has(look)) [element, link ?? element].forEach((each) => (each.dataset[mark] = ""));
    looks.add(look);
  }
  return [...looks];
};
// Of the coloured pieces of code, up to 20,000 on a page, one of each kind stays, the others become plain text. What
// has the same classes, outside too, looks the same in all views. What axe looks at stays in any case.
const thinOut = () => {
  const known = new Set(), kinds = new Map();
  const kind = (element) => {
    if (!element) return "";
    if (!kinds.has(element)) kinds.set(element, `${element.className} ${kind(element.parentElement)}`);
    return kinds.get(element);
  };
  const pieces = [...document.querySelectorAll("pre span:not([data-light], [data-dark], :has(*))")];
  const others = pieces.filter((piece) => {
    const own = kind(piece) + piece.checkVisibility();
    return known.has(own) || !known.add(own);
  });
  for (const piece of others) piece.replaceWith(piece.textContent);
};
// The words and lines in drawings that reach over their left or right edge, by more than fonts differ.
const cutOff = () => [...document.querySelectorAll("article svg[viewBox] :is(text, path, line, rect, circle)")].filter(mark => {
  const { x, width } = mark.getBBox();
  const view = mark.ownerSVGElement.viewBox.baseVal;
  return !mark.closest("[transform]") && (x < view.x - 4 || x + width > view.x + view.width + 4);
}).map(mark => mark.textContent || mark.outerHTML);
// The options and arrows of code in which a line ends, from there on.
const brokenOptions = () => {
  const broken = [];
  for (const code of document.querySelectorAll("article :not(pre) > code, article .prev-next-title")) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), places = [];
    while (walker.nextNode()) [...walker.currentNode.data].forEach((_, n) => places.push([walker.currentNode, n]));
    const line = (at) => {
      const [text, n] = places[at], range = document.createRange();
      range.setStart(text, n);
      range.setEnd(text, n + 1);
      return range.getBoundingClientRect().bottom;
    };
    for (const { 0: option, index } of code.textContent.matchAll(/(?<![\w-])--?[A-Za-z][\w-]*|->/g)) {
      for (const { index: at } of option.matchAll(/-./g)) {
        if (Math.abs(line(index + at) - line(index + at + 1)) > 5) broken.push(code.textContent.slice(index + at));
      }
    }
  }
  return broken;
};
