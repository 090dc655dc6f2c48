"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);

// Elements: everything that is not an element becomes text, so no name can turn into markup.
function make(space, tag, attributes, children) {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
const html = (tag, attributes = {}, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  make("http://www.w3.org/2000/svg", tag, attributes, children);

// Light and dark: the reader's choice, else the system's. A page from a file may not store it.
const root = document.documentElement;
try { root.dataset.theme = localStorage.getItem("theme") ?? ""; } catch { /* not stored */ }
document.getElementById("theme").addEventListener("click", () => {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* not stored */ }
});

// Tables are drawn when they are unfolded. A line has texts, or [text, bold, mark]; a heading has
// one. `behind` has, for a line of a dataset, its slug and what stands behind each cell:
// [verdict, paper, difference, note, scores, numbers of trials].
function drawTable(name, show = "ours") {
  const table = DATA.tables[name], bodies = [];
  const numeric = (column) => (table.numeric[column] ? "num" : "");
  const body = (kind) => {
    if (bodies.at(-1)?.className !== kind) bodies.push(html("tbody", { class: kind }));
    return bodies.at(-1);
  };
  const words = (cell) => {
    const [text, bold, mark] = Array.isArray(cell) ? cell : [cell];
    return [bold ? html("b", {}, text) : text, mark ? html("sup", {}, mark) : null];
  };
  let tab = 0; // the first cell is reached by the tab key, the others by arrows
  const dataCell = (line, at, column, behind) => {
    const [verdict = "", paper, difference] = behind[column];
    const cell = html("td", {
      class: `num ${verdict}`, tabindex: tab, "data-cell": `${at},${column}`,
      "data-glyph": DATA.glyphs[verdict], "aria-haspopup": "dialog",
    }, show === "ours" ? words(line[column]) : { paper, difference }[show] || "–");
    tab = -1;
    return cell;
  };
  table.lines.forEach((line, at) => {
    const behind = table.behind?.[at];
    if (line.length === 1) {
      const heading = html("th", { colspan: table.headers.length, scope: "rowgroup" }, line[0]);
      return body("head").append(html("tr", {}, heading));
    }
    const label = behind ? html("a", { href: `#dataset-${behind[0]}` }, words(line[0])) : words(line[0]);
    body(table.behind && !behind ? "sum" : "rows").append(html("tr", {},
      html("th", { scope: "row", class: numeric(0) }, label),
      line.slice(1).map((cell, place) => {
        if (behind) return dataCell(line, at, place + 1, behind);
        return html("td", { class: numeric(place + 1) || (cell.length > 40 ? "text" : "") }, words(cell));
      })));
  });
  const groups = table.groups.map(([text, span]) => html("th", { colspan: span, scope: "colgroup" }, text));
  const headers = table.headers.map((text, at) =>
    html("th", { scope: "col", "aria-sort": "none", class: numeric(at) }, html("button", { type: "button" }, text)));
  const head = html("thead", {}, groups.length ? html("tr", { class: "groups" }, groups) : null, html("tr", {}, headers));
  return html("table", {}, head, bodies);
}

document.querySelectorAll("details[data-table]").forEach((fold) => {
  const place = fold.querySelector(".scroll");
  const draw = (show) => place.replaceChildren(drawTable(fold.dataset.table, show));
  fold.addEventListener("toggle", () => { if (fold.open && !place.hasChildNodes()) draw(); });
  fold.querySelectorAll("[data-show]").forEach((button, _, all) => button.addEventListener("click", () => {
    all.forEach((each) => each.setAttribute("aria-pressed", each === button));
    draw(button.dataset.show);
  }));
});

// Sorting: numbers from the largest, words from A, gaps last; lines stay in their block.
const numberIn = (text) => parseFloat(text.replace(/[,<>+\s[]/g, ""));
document.addEventListener("click", (event) => {
  const header = event.target.closest("thead th[aria-sort]");
  if (!header) return;
  const table = header.closest("table"), numeric = header.classList.contains("num");
  const down = header.ariaSort === "none" ? numeric : header.ariaSort === "ascending";
  table.querySelectorAll("thead th[aria-sort]").forEach((each) => { each.ariaSort = "none"; });
  header.ariaSort = down ? "descending" : "ascending";
  const compare = ([, a], [, b]) => {
    if (!numeric) return (down ? -1 : 1) * a.localeCompare(b);
    return Number.isNaN(a) - Number.isNaN(b) || (down ? b - a : a - b) || 0;
  };
  for (const body of table.tBodies) {
    if (["head", "sum"].includes(body.className)) continue;
    const texts = [...body.rows].map((row) => [row, row.cells[header.cellIndex].textContent]);
    const keyed = texts.map(([row, text]) => [row, numeric ? numberIn(text) : text]);
    body.append(...keyed.sort(compare).map(([row]) => row));
  }
});

// Trials as dots, their mean as a line, the paper's mean and deviation as a band; a row per learner.
function strips(rows, digits) {
  const data = rows.map(([name, [, paper = "", , , scores = [], trials = []]]) => {
    const [mean, deviation = 0] = paper.split(" ± ").map(numberIn);
    const band = Number.isNaN(mean) ? [] : [mean - deviation, mean, mean + deviation];
    return { name, band, trials, scores: scores.map((score) => score / 10 ** digits) };
  });
  const all = data.flatMap(({ scores, band }) => [...scores, ...band]);
  if (!all.length) return null;
  const named = rows.length > 1, left = named ? 170 : 6, width = 640, height = 30;
  const low = Math.min(...all), room = (Math.max(...all) - low || Math.abs(low) || 1) * 1.08;
  const x = (value) => left + ((value - low) / room + 0.03) * (width - left - 8);
  const line = (value, top, bottom, stroke, more) => svg("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, stroke, ...more });
  const power = 10 ** Math.floor(Math.log10(room / 6)), bottom = rows.length * height;
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= room / 6);
  const ticks = Array.from({ length: 9 }, (_, at) => (Math.ceil(low / step) + at) * step);
  return svg("svg", { class: "strip", viewBox: `0 0 ${width} ${bottom + 18}`, role: "img", "aria-label": "Scores of the trials" },
    ticks.filter((tick) => tick <= low + room).map((tick) => [
      line(tick, 0, bottom, "var(--line)"),
      svg("text", { class: "faint", x: x(tick), y: bottom + 14, "text-anchor": "middle" }, +tick.toFixed(6)),
    ]),
    data.map(({ name, band, trials, scores }, at) => {
      const y = at * height + height / 2, mean = scores.reduce((sum, each) => sum + each, 0) / scores.length;
      return [
        named ? svg("text", { x: 0, y: y + 4 }, name) : null,
        band.length ? [
          svg("rect", { class: "band", x: x(band[0]), y: y - 9, width: Math.max(1, x(band[2]) - x(band[0])), height: 18 }),
          line(band[1], y - 9, y + 9, "var(--muted)"),
        ] : null,
        scores.map((score, place) => svg("circle", { cx: x(score), cy: y, r: 4.5 },
          svg("title", {}, `trial ${trials[place] ?? place}: ${score}`))),
        scores.length ? line(mean, y - 11, y + 11, "var(--ink)", { "stroke-width": 2 }) : null,
      ];
    }));
}

// A cell opens what stands behind it, with the command that repeats it.
const popover = document.getElementById("cell");
function openCell(cell) {
  const table = DATA.tables[cell.closest("[data-table]").dataset.table];
  const [at, column] = cell.dataset.cell.split(",").map(Number), behind = table.behind[at];
  const [verdict, paper, difference, note, scores = [], trials = []] = behind[column];
  const ours = [table.lines[at][column]].flat()[0];
  const command = `.venv/bin/python -m experiments run --experiment ${table.experiment} --protocol ${table.protocol}`
    + ` --dataset ${behind[0]} --method ${table.methods[column - 1]}${DATA.options}`;
  const listed = scores.map((score, place) => {
    const text = (score / 10 ** table.digits).toFixed(Math.min(table.digits, 3));
    return trials.length ? `${trials[place]}: ${text}` : text;
  });
  const copy = (event) => navigator.clipboard?.writeText(command).then(() => { event.target.textContent = "Copied"; });
  popover.replaceChildren(...[
    html("b", {}, `${cell.parentNode.cells[0].textContent}, ${table.headers[column]}`),
    html("p", {}, `Here: ${ours}`),
    paper && html("p", {}, `Paper: ${paper}${difference ? `, difference ${difference}` : ""}`),
    verdict && html("p", {}, html("b", { class: verdict }, DATA.glyphs[verdict] ?? ""), ` ${DATA.verdicts[verdict]}`),
    strips([["", behind[column]]], table.digits),
    listed.length && html("p", { class: "means" }, `Trials: ${listed.join(", ")}`),
    note && html("p", { class: "means" }, note),
    html("pre", {}, command),
    html("button", { type: "button", autofocus: "", onclick: copy }, "Copy command"),
  ].filter(Boolean));
  popover.showPopover();
  const box = cell.getBoundingClientRect(), size = popover.getBoundingClientRect();
  const above = Math.max(8, box.top - size.height - 4), below = box.bottom + 4;
  popover.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
  popover.style.top = `${below + size.height + 4 < innerHeight ? below : above}px`;
}
document.addEventListener("click", (event) => {
  const cell = event.target.closest("td[data-cell]");
  if (cell) openCell(cell);
});
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
document.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td[data-cell]"), step = STEPS[event.key];
  if (!cell || !(step || event.key === "Enter" || event.key === " ")) return;
  event.preventDefault();
  if (!step) return openCell(cell);
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
