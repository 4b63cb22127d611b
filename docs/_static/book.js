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
