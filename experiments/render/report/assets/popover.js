// The box beside a cell: numbers, verdict, trials, and the command that repeats it.
const Popover = (() => {
  const box = document.getElementById("popover");
  let owner = null;
  let pinned = false;

  function contents(at, withCommand) {
    const { about, cell } = at;
    const pair = (mean, deviation) => deviation === undefined || deviation === null ? fixed(mean, about.decimals)
      : `${fixed(mean, about.decimals)} ± ${fixed(deviation, about.stdDecimals)}`;
    const lines = [];
    const add = (term, text) => lines.push(html("dt", {}, term), html("dd", {}, text));
    if (cell.mean !== undefined) {
      const trials = cell.expected ? `${cell.n} of ${cell.expected} trials` : `${cell.n} trials`;
      add("Here", `${pair(cell.mean, cell.std)}  (${trials})`);
    } else add("Here", cell.missing || "not run yet");
    if (cell.paper) add("Paper", pair(...cell.paper));
    else if (cell.paperMissing) add("Paper", cell.paperMissing);
    if (cell.difference !== undefined) add("Difference", (cell.difference > 0 ? "+" : "") + fixed(cell.difference, Math.max(about.decimals, 4)));
    if (cell.outcome) add("Verdict", verdictText(cell));
    if (cell.note) add("Note", cell.note);
    return [
      html("h4", {}, DATA.datasets[at.dataset].name, " ", html("small", {}, about.names[about.methods.indexOf(at.method)])),
      html("dl", { class: "pairs" }, lines),
      chart(at), values(at),
      withCommand
        ? html("div", { class: "command" }, commandText(commandFor(at)), html("button", { type: "button", class: "copy", "data-copy": commandFor(at) }, "Copy"))
        : html("p", { class: "hint" }, "Enter or click: how to repeat it"),
    ];
  }

  function verdictText(cell) {
    if (cell.pAdjusted === undefined || cell.pEquivalent === undefined) return cell.outcome;
    const p = (value) => value < 1e-4 ? "p < 0.0001" : `p = ${fixed(value, 4)}`;
    return `${cell.outcome} (difference: adjusted ${p(cell.pAdjusted)}; equivalence: ${p(cell.pEquivalent)})`;
  }

  function chart({ cell, method }) {
    const extent = extentOf([cell]);
    if (!cell.values || !extent) return null;
    const scale = scaleBetween(extent, 8, 292);
    return svg("svg", { viewBox: "0 0 300 40", "aria-hidden": "true" },
      svg("line", { x1: 4, x2: 296, y1: 20, y2: 20, stroke: "var(--grid)" }), dots(cell, method, scale, 20, 4.5));
  }

  function values({ cell, about }) {
    if (!cell.values) return null;
    return html("p", { class: "values" }, "By trial: " + cell.values.map((value) => fixed(value, about.decimals)).join("  "));
  }

  function place(target) {
    const around = target.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const below = around.bottom + 8 + size.height < innerHeight;
    box.style.top = `${Math.max(8, below ? around.bottom + 8 : around.top - 8 - size.height)}px`;
    box.style.left = `${Math.max(8, Math.min(around.left + around.width / 2 - size.width / 2, innerWidth - size.width - 8))}px`;
  }

  function show(target, pin = false) {
    if (owner && owner !== target) owner.removeAttribute("aria-describedby");
    owner = target;
    pinned = pin;
    box.replaceChildren(...contents(cellAt(target.dataset.c), pin).filter(Boolean));
    box.setAttribute("role", pin ? "dialog" : "tooltip");
    if (pin) box.setAttribute("aria-label", "Details of the cell"); else box.removeAttribute("aria-label");
    box.hidden = false;
    target.setAttribute("aria-describedby", "popover");
    place(target);
    if (pin) box.querySelector(".copy").focus();
  }

  function hide(restoreFocus = false) {
    if (!owner) return;
    owner.removeAttribute("aria-describedby");
    if (restoreFocus) owner.focus();
    owner = null;
    pinned = false;
    box.hidden = true;
  }

  document.addEventListener("pointerover", (event) => {
    if (pinned || event.pointerType === "touch") return;
    const cell = event.target.closest("td.c");
    if (cell) show(cell); else if (owner !== document.activeElement) hide();
  });
  document.addEventListener("focusin", (event) => {
    if (box.contains(event.target)) return;
    const cell = event.target.closest("td.c");
    if (cell) { if (!pinned) show(cell); } else hide();
  });
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("td.c");
    if (cell) show(cell, true); else if (!box.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide(pinned);
    if (event.key === "Enter" && event.target.matches("td.c")) { event.preventDefault(); show(event.target, true); }
  });
  addEventListener("scroll", () => { if (owner && !pinned) place(owner); }, { passive: true, capture: true });
  return { hide };
})();
