document.querySelectorAll(".filtered:not(.looked-up, .stacked)").forEach((each) => {
  const field = each.querySelector("input");
  field.addEventListener("input", () => each.querySelectorAll("tbody tr").forEach((row) => {
    row.hidden = !row.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
  }));
});
document.querySelectorAll(".looked-up").forEach((each) => {
  const rows = JSON.parse(each.querySelector("script").textContent);
  const heads = [...each.querySelectorAll("th")].map((head) => head.textContent);
  const [field, body, box, missing] = ["input", "tbody", ".low", ".missing"].map((part) => each.querySelector(part));
  field.addEventListener("input", () => {
    const typed = field.value.trim().toLowerCase();
    const found = rows.filter((row) => typed && row.join(" ").toLowerCase().includes(typed));
    body.replaceChildren(...found.map((row) => {
      const line = document.createElement("tr");
      row.forEach((text, column) => {
        const cell = line.insertCell();
        (column !== 1 && text ? cell.appendChild(document.createElement("code")) : cell).textContent = text;
        if (column && text) cell.dataset.head = heads[column];
      });
      return line;
    }));
    box.hidden = !found.length;
    missing.hidden = !typed || found.length > 0;
  });
});
