// The numbers behind a table as a file: full precision, one line per cell or row.
const Csv = (() => {
  const field = (value) => {
    const text = value === undefined || value === null ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const text = (lines) => lines.map((line) => line.map(field).join()).join("\n") + "\n";

  function cells(about) {
    const lines = [["dataset", "method", "mean", "std", "trials", "missing", "paper_mean", "paper_std", "verdict", "difference", "p_adjusted"]];
    for (const [slug, row] of Object.entries(about.cells)) {
      row.forEach((cell, at) => lines.push([slug, about.methods[at], cell.mean, cell.std, cell.n, cell.missing, cell.paper?.[0], cell.paper?.[1], cell.outcome, cell.difference, cell.pAdjusted]));
    }
    return text(lines);
  }

  function sheet(table) {
    const groups = all("tr.groups th", table).flatMap((th) => Array(th.colSpan).fill(th.textContent.trim()));
    const names = all("thead tr:last-child th", table).map((th, at) => [groups[at], th.textContent.trim()].filter(Boolean).join(" "));
    const rows = all("tbody tr", table).map((row) => [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent.trim()));
    return text([names, ...rows]);
  }

  function of(button) {
    const name = button.dataset.name;
    return DATA.tables[name] ? cells(DATA.tables[name]) : sheet(document.querySelector(`table[data-sheet="${name}"]`));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.csv");
    if (!button) return;
    html("a", { href: "data:text/csv;charset=utf-8," + encodeURIComponent(of(button)), download: `${button.dataset.name}.csv` }).click();
    say(`${button.dataset.name}.csv is downloaded.`);
  });
  return { of };
})();
