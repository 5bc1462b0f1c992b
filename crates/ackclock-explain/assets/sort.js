// Sorts the tables of class `sortable` by the column whose heading is clicked.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((th, column) => {
    const button = document.createElement("button");
    button.append(...th.childNodes);
    if (!button.textContent) button.setAttribute("aria-label", "number");
    th.append(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") !== "descending";
      headings.forEach((h) => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)], difference = Number(x) - Number(y);
        return Number.isNaN(difference) ? x.localeCompare(y, undefined, { numeric: true }) : difference;
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
      table.tBodies[0].append(...rows);
    });
  });
}
