"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);

// Elements: everything that is not an element becomes text, so no name can turn into markup.
function make(space, tag, attributes, children) {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
const html = (tag, attributes = {}, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes = {}, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);

// Light and dark: the reader's choice, else the system's.
const store = { get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
  set: (value) => { try { localStorage.setItem("theme", value); } catch { /* a file may not store */ } } };
if (store.get()) document.documentElement.dataset.theme = store.get();
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  store.set(root.dataset.theme = dark ? "light" : "dark");
});

// Tables are drawn when they are unfolded: lines of texts, a heading line has one cell.
function drawTable(name, show = "ours") {
  const table = DATA.tables[name];
  const head = table.headers.map((text, at) =>
    html("th", { scope: "col", "aria-sort": "none", class: table.numeric[at] ? "num" : null }, html("button", { type: "button" }, text)));
  const groups = table.groups.length
    ? html("tr", { class: "groups" }, table.groups.map(([text, span]) => html("th", { colspan: span, scope: "colgroup" }, text))) : null;
  const bodies = [];
  const body = (kind) => {
    if (bodies.at(-1)?.className !== kind) bodies.push(html("tbody", { class: kind }));
    return bodies.at(-1);
  };
  let first = true;
  table.lines.forEach((line, at) => {
    const behind = table.behind?.[at];
    if (line.length === 1) return body("head").append(html("tr", {}, html("th", { colspan: table.headers.length, scope: "rowgroup" }, line[0])));
    const kind = table.behind && !behind ? "sum" : "rows";
    body(kind).append(html("tr", {}, line.map((cell, column) => {
      const [text, bold, mark] = Array.isArray(cell) ? cell : [cell, 0, ""];
      const words = [bold && (show === "ours" || !behind) ? html("b", {}, text) : text, mark ? html("sup", {}, mark) : null];
      if (!column) return html("th", { scope: "row", class: table.numeric[0] ? "num" : null }, behind ? html("a", { href: `#dataset-${behind[0]}` }, words) : words);
      const style = [table.numeric[column] ? "num" : text.length > 40 ? "text" : "", behind?.[column]?.[0] ?? ""].join(" ").trim();
      if (!behind) return html("td", { class: style || null }, words);
      const tab = first ? 0 : -1;
      first = false;
      const other = { paper: behind[column][1], difference: behind[column][2] }[show];
      return html("td", { class: style, "data-cell": `${at},${column}`, "data-glyph": DATA.glyphs[behind[column][0]], tabindex: tab, "aria-haspopup": "dialog" }, show === "ours" ? words : other || "–");
    })));
  });
  return html("table", {}, html("thead", {}, groups, html("tr", {}, head)), bodies);
}

document.querySelectorAll("details[data-table]").forEach((fold) => {
  const place = fold.querySelector(".scroll"), draw = (show) => place.replaceChildren(drawTable(fold.dataset.table, show));
  fold.addEventListener("toggle", () => { if (fold.open && !place.hasChildNodes()) draw(); });
  fold.querySelectorAll("[data-show]").forEach((button, _, all) => button.addEventListener("click", () => {
    all.forEach((each) => each.setAttribute("aria-pressed", each === button));
    draw(button.dataset.show);
  }));
});

// Sorting: a column of numbers from the largest, of words from A; lines stay in their block.
const numberIn = (text) => parseFloat(text.replace(/[,<>+\s[]/g, "").replace("−", "-"));
document.addEventListener("click", (event) => {
  const header = event.target.closest("thead th[aria-sort]");
  if (!header) return;
  const table = header.closest("table"), at = header.cellIndex;
  const numeric = header.classList.contains("num");
  const down = header.ariaSort === "none" ? numeric : header.ariaSort === "ascending";
  table.querySelectorAll("thead th[aria-sort]").forEach((each) => { each.ariaSort = "none"; });
  header.ariaSort = down ? "descending" : "ascending";
  for (const body of table.tBodies) {
    if (["head", "sum"].includes(body.className)) continue;
    const keyed = [...body.rows].map((row) => [row, numeric ? numberIn(row.cells[at].textContent) : row.cells[at].textContent]);
    const empty = (key) => numeric && Number.isNaN(key);
    keyed.sort(([, a], [, b]) => empty(a) - empty(b) || (down ? -1 : 1) * (numeric ? a - b || 0 : a.localeCompare(b)));
    body.append(...keyed.map(([row]) => row));
  }
});

// Trials as dots, their mean as a line, the paper's mean and deviation as a band.
function strips(rows, digits) {
  const left = rows.length > 1 ? 170 : 6, width = 640, height = 30;
  const printed = (text) => { const [mean, deviation] = (text || "").split(" ± ").map(numberIn); return Number.isNaN(mean) ? null : [mean, deviation || 0]; };
  const data = rows.map(([name, behind]) => ({ name, paper: printed(behind[1]), trials: behind[5] ?? [], scores: (behind[4] ?? []).map((v) => v / 10 ** digits) }));
  const all = data.flatMap(({ paper, scores }) => [...scores, ...(paper ? [paper[0] - paper[1], paper[0] + paper[1]] : [])]);
  if (!all.length) return null;
  const low = Math.min(...all), room = (Math.max(...all) - low || Math.abs(low) || 1) * 1.08;
  const x = (value) => left + ((value - low) / room + .03) * (width - left - 8);
  const rough = room / 6, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((f) => f * power >= rough) * power;
  const ticks = Array.from({ length: 9 }, (_, i) => (Math.ceil(low / step) + i) * step).filter((tick) => tick <= low + room);
  const bottom = data.length * height;
  return svg("svg", { class: "strip", viewBox: `0 0 ${width} ${bottom + 18}`, role: "img", "aria-label": "Scores of the trials" },
    ticks.map((tick) => [svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: bottom }), svg("text", { class: "faint", x: x(tick), y: bottom + 14, "text-anchor": "middle" }, +tick.toFixed(6))]),
    data.map(({ name, paper, scores, trials }, at) => {
      const y = at * height + height / 2, mean = scores.reduce((sum, v) => sum + v, 0) / scores.length;
      return [rows.length > 1 ? svg("text", { x: 0, y: y + 4 }, name) : null,
        paper ? [svg("rect", { x: x(paper[0] - paper[1]), y: y - 9, width: Math.max(1, x(paper[0] + paper[1]) - x(paper[0] - paper[1])), height: 18, fill: "var(--muted)", "fill-opacity": .18 }), svg("line", { x1: x(paper[0]), x2: x(paper[0]), y1: y - 9, y2: y + 9, stroke: "var(--muted)" })] : null,
        scores.map((v, i) => svg("circle", { cx: x(v), cy: y, r: 4.5, fill: "var(--exact)", "fill-opacity": .5 }, svg("title", {}, `trial ${trials[i] ?? i}: ${v}`))),
        scores.length ? svg("line", { x1: x(mean), x2: x(mean), y1: y - 11, y2: y + 11, stroke: "var(--ink)", "stroke-width": 2 }) : null];
    }));
}

// A cell opens what stands behind it.
const popover = document.getElementById("cell");
function openCell(cell) {
  const table = DATA.tables[cell.closest("[data-table]").dataset.table];
  const [at, column] = cell.dataset.cell.split(",").map(Number);
  const behind = table.behind[at], [verdict, paper, difference, note, scores, trials] = behind[column];
  const words = table.lines[at][column], ours = Array.isArray(words) ? words[0] : words;
  const command = `.venv/bin/python -m experiments run --experiment ${table.experiment} --protocol ${table.protocol} --dataset ${behind[0]} --method ${table.methods[column - 1]}${DATA.options}`;
  const list = (scores ?? []).map((v, i) => `${trials?.length ? `${trials[i]}: ` : ""}${(v / 10 ** table.digits).toFixed(Math.min(table.digits, 3))}`);
  popover.replaceChildren(
    html("b", {}, `${cell.parentNode.cells[0].textContent}, ${table.headers[column]}`),
    html("p", {}, `Here: ${ours}`), paper ? html("p", {}, `Paper: ${paper}${difference ? `, difference ${difference}` : ""}`) : "",
    verdict ? html("p", {}, html("b", { class: verdict }, DATA.glyphs[verdict] ?? ""), ` ${verdict}`) : "",
    strips([["", behind[column]]], table.digits) ?? "", list.length ? html("p", { class: "means" }, `Trials: ${list.join(", ")}`) : "",
    note ? html("p", { class: "means" }, note) : "", html("pre", {}, command),
    html("button", { type: "button", autofocus: "", onclick: (event) => navigator.clipboard?.writeText(command).then(() => { event.target.textContent = "Copied"; }) }, "Copy command"));
  popover.showPopover();
  const box = cell.getBoundingClientRect(), size = popover.getBoundingClientRect();
  popover.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
  popover.style.top = `${box.bottom + size.height + 8 < innerHeight ? box.bottom + 4 : Math.max(8, box.top - size.height - 4)}px`;
}
document.addEventListener("click", (event) => {
  const cell = event.target.closest("td[data-cell]");
  if (cell) openCell(cell);
});
document.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td[data-cell]");
  if (!cell) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return openCell(cell); }
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  const rows = [...cell.closest("table").rows].filter((row) => row.querySelector("[data-cell]"));
  const next = rows[rows.indexOf(cell.parentNode) + step[0]]?.cells[cell.cellIndex + step[1]];
  if (!next?.dataset.cell) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

// Links unfold what they lead to; the list of contents folds itself.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
  document.querySelector(".contents").open = false;
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
