
// A dataset: the trials of every learner, and its trees.
// Nodes: inner [column, left condition, right condition, left, right], leaf [class, share, rows].
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f7f7f"];
const WIDTH = 124, ROW = 92, BOX = 112, MOST_COLUMNS = 14;
const isLeaf = (node) => node.length === 3;
const conditions = (node) => [node[1], node[2] || node[1].replace("≤", ">")];
const leafFacts = (node) => `${Math.round(node[1] * 100)} %${node[2] === null ? "" : ` of ${node[2].toLocaleString("en-US")}`}`;
const leaves = (node, depth = Infinity) => (isLeaf(node) || !depth ? 1 : leaves(node[3], depth - 1) + leaves(node[4], depth - 1));

// Leaves side by side, parents above the middle of their children; what is too wide is cut and opens.
function drawTree({ classes, name }, root, open) {
  let limit = 2, columns = 0, depth = 0;
  while (limit < 12 && leaves(root, limit + 1) <= MOST_COLUMNS) limit++;
  const edges = [], boxes = [];
  const text = (x, y, words, length, style) => svg("text", { x, y, "text-anchor": "middle", class: style },
    words.length > length ? `${words.slice(0, length - 1).trimEnd()}…` : words, svg("title", {}, words));
  const box = (x, y, height, style) => svg("rect", { x: x - BOX / 2, y, width: BOX, height, rx: 6, style });
  function place(node, level) {
    depth = Math.max(depth, level);
    const y = level * ROW;
    if (isLeaf(node)) {
      const x = columns++ * WIDTH + WIDTH / 2, colour = COLOURS[node[0] % COLOURS.length];
      const strength = (.08 + .4 * node[1] ** 2).toFixed(2);
      boxes.push(box(x, y, 40, `fill:${colour};fill-opacity:${strength};stroke:${colour}`),
        text(x, y + 17, classes[node[0]], 16), text(x, y + 33, leafFacts(node), 18, "faint"));
      return x;
    }
    if (level === limit) {
      const x = columns++ * WIDTH + WIDTH / 2;
      const onkeydown = (event) => { if (event.key === "Enter") open(node); };
      boxes.push(svg("g", { class: "more", tabindex: 0, role: "button", onclick: () => open(node), onkeydown },
        box(x, y, 40, "stroke-dasharray:4 3"), text(x, y + 17, node[0], 16),
        text(x, y + 33, `open ${leaves(node)} leaves`, 18, "faint")));
      return x;
    }
    const children = [node[3], node[4]].map((child) => place(child, level + 1)), x = (children[0] + children[1]) / 2;
    children.forEach((to, side) => {
      edges.push(svg("path", { d: `M${x},${y + 28}C${x},${y + 48} ${to},${y + 40} ${to},${y + ROW}` }),
        text(to, y + ROW - 8, conditions(node)[side], 19, "edge"));
    });
    boxes.push(box(x, y, 28), text(x, y + 18, node[0], 16));
    return x;
  }
  place(root, 0);
  const width = columns * WIDTH;
  return svg("svg", {
    class: "tree", viewBox: `0 -2 ${width} ${depth * ROW + 44}`, width, style: `min-width:${width * .62}px`,
    role: "group", "aria-label": `Decision tree of ${name}; the same as text below`,
  }, edges, boxes);
}

function treeText({ root, classes }) {
  const lines = [];
  (function walk(node, indent) {
    if (isLeaf(node)) return lines.push(`${indent}→ ${classes[node[0]]} (${leafFacts(node)})`);
    conditions(node).forEach((words, side) => {
      lines.push(`${indent}${node[0]} ${words}`);
      walk(node[3 + side], `${indent}  `);
    });
  })(root, "");
  return lines.join("\n");
}

function showTree(place, tree) {
  const frame = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Tree of ${tree.name}` });
  const back = html("button", { type: "button", onclick: () => open(tree.root) }, "Back to the root");
  function open(node) {
    frame.replaceChildren(drawTree(tree, node, open));
    back.hidden = node === tree.root;
  }
  open(tree.root);
  place.replaceChildren(html("p", { class: "means" }, tree.caption), html("p", { class: "choose" }, back), frame,
    html("details", {}, html("summary", {}, "As text"), html("pre", { tabindex: 0 }, treeText(tree))));
}

function showDataset(place, slug) {
  const table = DATA.tables[DATA.overview.slug], trees = DATA.datasets[slug];
  const behind = table?.behind?.find((line) => line && line[0] === slug);
  const trials = behind && strips(behind.slice(1).map((cell, at) => [table.headers[at + 1], cell]), table.digits);
  if (trials) {
    const meaning = "Dots are trials, the line their mean, the band the paper’s mean and deviation.";
    place.append(html("h3", {}, DATA.overview.title), trials, html("p", { class: "means" }, meaning));
  }
  if (!trees.length) return place.append(html("p", { class: "means" }, "No tree of this dataset is stored."));
  const drawn = html("div"), buttons = trees.map((tree) => html("button", { type: "button" }, tree.name));
  buttons.forEach((button, at) => button.addEventListener("click", () => {
    buttons.forEach((each) => each.setAttribute("aria-pressed", each === button));
    showTree(drawn, trees[at]);
  }));
  place.append(html("h3", {}, "Trees"), html("p", { class: "choose", role: "group", "aria-label": "Learner" }, buttons), drawn);
  buttons[0].click();
}
document.querySelectorAll("details[data-dataset]").forEach((fold) => fold.addEventListener("toggle", () => {
  const place = fold.querySelector("div");
  if (fold.open && !place.hasChildNodes()) showDataset(place, fold.dataset.dataset);
}));
