// Tables: choosing one, sorting, filtering, and walking over cells with the arrow keys.
(() => {
  const section = document.getElementById("tables");
  const tabs = all("[role=tab]", section);
  const panels = all(".panel", section);
  const form = document.getElementById("filters");
  if (!tabs.length) return;
  // Addresses of cells follow from where they stand; writing them out would fill a tenth of the page.
  for (const panel of panels) {
    const methods = DATA.tables[panel.dataset.table]?.methods;
    for (const row of methods ? all("tr[data-dataset]", panel) : []) {
      all("td.c", row).forEach((cell, at) => {
        cell.dataset.c = `${panel.dataset.table}/${row.dataset.dataset}/${methods[at]}`;
        cell.tabIndex = -1;
      });
    }
  }
  const shownPanel = () => panels.find((panel) => panel.classList.contains("shown"));

  function choose(name, focus = false) {
    const tab = tabs.find((candidate) => candidate.id === `tab-${name}`);
    if (!tab) return;
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    for (const panel of panels) panel.classList.toggle("shown", panel.id === `table-${name}`);
    const judged = Boolean(shownPanel().querySelector('[data-judged="yes"]'));
    for (const part of all('[data-needs="paper"]', form)) part.hidden = !judged;
    for (const part of all('[data-needs="tasks"]', form)) part.hidden = !shownPanel().querySelector("tbody[data-task]");
    Popover.hide();
    if (focus) tab.focus();
    filter();
  }

  for (const tab of tabs) tab.addEventListener("click", () => choose(tab.id.slice(4)));
  section.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    choose(tabs[(to + tabs.length) % tabs.length].id.slice(4), true);
  });

  // Sorting -----------------------------------------------------------------
  const shown = () => new FormData(form).get("show") || "ours";

  function keyOf(row, button, column) {
    if (button.dataset.kind === "name") return row.cells[0].textContent.trim().toLowerCase();
    if (button.dataset.kind === "cell") {
      const { cell } = cellAt(row.cells[column].dataset.c);
      const value = { ours: cell.mean, paper: cell.paper?.[0], difference: cell.difference }[shown()];
      return value ?? null;
    }
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    if (button.dataset.kind === "number") return text === "" ? null : Number(text);
    return text.toLowerCase();
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function sortBy(button) {
    const header = button.parentElement;
    const table = header.closest("table");
    const column = header.cellIndex;
    const descending = header.getAttribute("aria-sort") === "ascending"
      || (header.getAttribute("aria-sort") === "none" && ["cell", "number"].includes(button.dataset.kind));
    for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    arrange(table);
    say(`Sorted by ${button.textContent}, ${descending ? "descending" : "ascending"}.`);
    return column;
  }

  // Rows keep to their task; gaps stay last in either direction.
  function arrange(table) {
    const header = table.querySelector('th[aria-sort="ascending"], th[aria-sort="descending"]');
    if (!header) return;
    const button = header.querySelector(".sort");
    const sign = header.getAttribute("aria-sort") === "descending" ? -1 : 1;
    for (const body of all("tbody:not(.summaries)", table)) {
      const rows = all("tr:not(.task)", body).map((row) => [keyOf(row, button, header.cellIndex), row]);
      rows.sort(([a], [b]) => (a === null || b === null ? compare(a, b) : sign * compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".sort");
    if (button) sortBy(button);
  });

  // Filtering ---------------------------------------------------------------
  function filter() {
    const fields = new FormData(form);
    const text = document.getElementById("filter-text").value.trim().toLowerCase();
    const panel = shownPanel();
    const judged = Boolean(panel.querySelector('[data-judged="yes"]'));
    const outcomes = judged ? fields.getAll("outcome") : [];
    section.dataset.show = judged ? shown() : "ours";
    const total = all("tbody:not(.summaries) tr:not(.task)", panel);
    let kept = 0;
    for (const row of total) {
      const task = row.parentElement.dataset.task;
      const pass = row.cells[0].textContent.toLowerCase().includes(text)
        && (!task || !fields.get("task") || task === fields.get("task"))
        && (!outcomes.length || outcomes.some((outcome) => row.querySelector(`td.c.${outcome}`)));
      row.hidden = !pass;
      kept += pass;
    }
    for (const body of all("tbody[data-task]", panel)) {
      const task = body.dataset.task;
      const empty = !all(`tbody.rows[data-task="${task}"] tr:not(.task):not([hidden])`, panel).length;
      // A summary is over all datasets: it would mislead below a part of them.
      body.hidden = empty || (body.classList.contains("summaries") && kept < total.length && (text || outcomes.length));
    }
    panel.querySelector(".none").hidden = kept > 0;
    document.getElementById("filter-count").textContent = kept === total.length ? `${kept} rows` : `${kept} of ${total.length} rows`;
    for (const table of all("table.grid", panel)) rove(table);
  }

  form.addEventListener("input", (event) => {
    filter();
    if (event.target.name === "show") all("table.grid", section).forEach(arrange);
  });
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());

  // Walking -----------------------------------------------------------------
  const walkable = (table) => all("tbody.rows tr:not(.task):not([hidden])", table).filter((row) => !row.parentElement.hidden);

  // One tab stop per table: the cell visited last, or the first one.
  function rove(table, target) {
    const first = target || walkable(table)[0]?.querySelector("td.c");
    for (const cell of all('td.c[tabindex="0"]', table)) cell.tabIndex = -1;
    if (first) first.tabIndex = 0;
  }

  section.addEventListener("keydown", (event) => {
    if (!event.target.matches("td.c")) return;
    const table = event.target.closest("table");
    const rows = walkable(table);
    const row = event.target.parentElement;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const last = row.cells.length - 1;
    let target = null;
    if (step) target = rows[rows.indexOf(row) + step[0]]?.cells[Math.min(last, Math.max(1, event.target.cellIndex + step[1]))];
    if (event.key === "Home") target = row.cells[1];
    if (event.key === "End") target = row.cells[last];
    if (!target) return;
    event.preventDefault();
    rove(table, target);
    target.focus();
  });
  section.addEventListener("focusin", (event) => {
    if (event.target.matches("td.c")) rove(event.target.closest("table"), event.target);
  });

  // Links such as #table-… open their tab.
  function follow() {
    if (location.hash.startsWith("#table-")) choose(location.hash.slice(7));
  }
  addEventListener("hashchange", follow);
  choose(tabs[0].id.slice(4));
  follow();
})();
