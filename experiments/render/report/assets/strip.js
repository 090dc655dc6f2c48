// Values of trials as dots on a line, the paper's mean and deviation as a band behind them.
const METHOD_COLOURS = {
  "gradtree": "blue", "dndt": "orange", "genetictree": "purple", "dl85": "green", "cart": "vermilion",
  "gradtree-gumbel": "sky", "gradtree-annealed": "grey",
};
const colourOf = (method) => `var(--${METHOD_COLOURS[method] || "grey"})`;

function extentOf(cells) {
  const points = cells.flatMap((cell) => [
    ...(cell.values || []),
    ...(cell.paper ? [cell.paper[0] - (cell.paper[1] || 0), cell.paper[0] + (cell.paper[1] || 0)] : []),
  ]);
  if (!points.length) return null;
  const low = Math.min(...points), high = Math.max(...points);
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - margin, high + margin];
}

// One row of dots between x0 and x1 at height y; equal values are stacked.
function dots(cell, method, scale, y, radius = 4) {
  const group = svg("g", {});
  if (cell.paper) {
    const [mean, deviation] = [cell.paper[0], cell.paper[1] || 0];
    group.append(
      svg("rect", { x: scale(mean - deviation), y: y - 9, width: Math.max(scale(mean + deviation) - scale(mean - deviation), 1), height: 18, rx: 3, fill: "var(--paper-mark)", "fill-opacity": .18 }),
      svg("line", { x1: scale(mean), x2: scale(mean), y1: y - 9, y2: y + 9, stroke: "var(--paper-mark)", "stroke-width": 1.6 }),
    );
  }
  const stacked = new Map();
  (cell.values || []).forEach((value, index) => {
    const place = Math.round(scale(value) / (radius * .9));
    const level = stacked.get(place) || 0;
    stacked.set(place, level + 1);
    const shift = (level % 2 ? 1 : -1) * Math.ceil(level / 2) * radius * 0.9;
    group.append(svg("circle", { cx: scale(value), cy: y + shift, r: radius, fill: colourOf(method), "fill-opacity": .62 },
      svg("title", {}, `trial ${cell.trials?.[index] ?? index}: ${value}`)));
  });
  if (cell.mean !== undefined) {
    group.append(svg("line", { x1: scale(cell.mean), x2: scale(cell.mean), y1: y - 11, y2: y + 11, stroke: "var(--ink)", "stroke-width": 2 }));
  }
  return group;
}

function scaleBetween([low, high], x0, x1) {
  return (value) => +(x0 + (value - low) / (high - low) * (x1 - x0)).toFixed(2);
}

function axis([low, high], scale, y, decimals) {
  const step = niceStep((high - low) / 4);
  const group = svg("g", { class: "axis" });
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
    group.append(
      svg("line", { x1: scale(tick), x2: scale(tick), y1: 0, y2: y, stroke: "var(--grid)" }),
      svg("text", { x: scale(tick), y: y + 14, "text-anchor": "middle", class: "faint" }, fixed(tick, Math.min(decimals, Math.max(0, Math.ceil(-Math.log10(step)))))),
    );
  }
  return group;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}
