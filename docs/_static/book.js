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

// A long name in a table may break behind an underscore or a bracket and before a capital letter, where the table is too
// narrow for it.
document.addEventListener("DOMContentLoaded", () => {
  for (const name of document.querySelectorAll("article :is(td, th) code.literal .pre")) {
    if (name.textContent.length > 20) {
      const parts = name.textContent.split(/(?<=[({]|::)|(?<=_)(?=\w\w)|(?<=[a-z\d])(?=[A-Z])/);
      name.replaceChildren(...parts.flatMap((part) => [part, document.createElement("wbr")]));
    }
  }
});
