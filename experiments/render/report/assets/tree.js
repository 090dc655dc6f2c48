// A decision tree as SVG that can be moved and magnified with pointer, wheel and keys.
const TreeView = (() => {
  const ROW = 106, GAP = 22, PAD = 12, BOX = 30, LEAF = 44, LABEL = 30;
  const CLASS_COLOURS = ["blue", "orange", "green", "purple", "sky", "vermilion", "grey"];
  const classColour = (index) => `var(--${CLASS_COLOURS[index % CLASS_COLOURS.length]})`;
  const FONT = "600 12.5px system-ui, sans-serif";
  const pen = document.createElement("canvas").getContext("2d");

  // Long lists of categories are cut in the picture; the whole list is in its title and in the text.
  const brief = (text) => (text.length > LABEL ? text.slice(0, LABEL - 1).trimEnd() + "…" : text);

  function widthOf(text, font) {
    pen.font = font;
    return pen.measureText(text).width;
  }

  // Stored nodes: inner [left, right, column, condition left, condition right], leaf [class, probability, rows].
  function measure(tree, classNames) {
    return tree.nodes.map((node) => {
      if (node.length === 5) return { node, label: brief(node[2]), title: node[2], width: widthOf(brief(node[2]), FONT) + 2 * PAD };
      const title = classNames[node[0]], label = brief(title);
      const less = `${Math.round(node[1] * 100)} %` + (node[2] === null ? "" : ` of ${node[2].toLocaleString("en-US")}`);
      return { node, label, title, less, width: Math.max(widthOf(label, FONT), widthOf(less, "11px sans-serif"), 34) + 2 * PAD };
    });
  }

  // Leaves side by side from left to right, parents above the middle of their children.
  function layout(boxes) {
    let edge = 0;
    const walk = [[0, 0, false]];
    while (walk.length) {
      const [index, depth, done] = walk.pop();
      const box = boxes[index];
      if (box.node.length !== 5) {
        box.x = edge + box.width / 2;
        box.y = depth * ROW;
        edge += box.width + GAP;
      } else if (done) {
        const [left, right] = [boxes[box.node[0]], boxes[box.node[1]]];
        box.x = (left.x + right.x) / 2;
        box.y = depth * ROW;
      } else {
        // Each half of the bar between the children carries the words of its branch.
        box.need = 2 * Math.max(...[3, 4].map((side) => widthOf(brief(box.node[side]), "11px sans-serif"))) + 24;
        walk.push([index, depth, true], [box.node[1], depth + 1, false], [box.node[0], depth + 1, false]);
      }
    }
    spread(boxes);
    return boxes;
  }

  // Widen where the branches of a node are too close for their words; subtrees move as a whole.
  function spread(boxes) {
    const order = boxes.map((_, index) => index).reverse();
    const shift = (index, by) => {
      const walk = [index];
      while (walk.length) {
        const box = boxes[walk.pop()];
        box.x += by;
        if (box.node.length === 5) walk.push(box.node[0], box.node[1]);
      }
    };
    const contour = (index, side) => {
      const edges = [];
      const walk = [index];
      while (walk.length) {
        const box = boxes[walk.pop()];
        const row = box.y / ROW;
        const at = box.x + side * box.width / 2;
        edges[row] = edges[row] === undefined ? at : side * Math.max(side * edges[row], side * at);
        if (box.node.length === 5) walk.push(box.node[0], box.node[1]);
      }
      return edges;
    };
    for (const index of order) {
      const box = boxes[index];
      if (box.node.length !== 5) continue;
      const [left, right] = box.node;
      const a = contour(left, 1), b = contour(right, -1);
      let room = Infinity;
      a.forEach((value, row) => { if (b[row] !== undefined) room = Math.min(room, b[row] - value - GAP); });
      const now = boxes[right].x - boxes[left].x;
      const wanted = Math.max(now - room, box.need);
      shift(right, wanted - now);
      box.x = (boxes[left].x + boxes[right].x) / 2;
    }
  }

  function draw(boxes) {
    const edges = svg("g", {}), words = svg("g", {}), nodes = svg("g", {});
    for (const box of boxes) {
      const inner = box.node.length === 5;
      const height = inner ? BOX : LEAF;
      if (inner) {
        [[box.node[0], box.node[3]], [box.node[1], box.node[4]]].forEach(([child, text]) => {
          const to = boxes[child];
          const bend = box.y + LEAF + 12;
          edges.append(svg("path", { class: "edge", d: `M${box.x},${box.y + BOX} V${bend} H${to.x} V${to.y}` }));
          words.append(svg("text", { class: "edge-label", x: (box.x + to.x) / 2, y: bend + 16, "text-anchor": "middle" }, brief(text), svg("title", {}, text)));
        });
      }
      const colour = inner ? null : classColour(box.node[0]);
      const strength = inner ? null : 0.1 + 0.35 * box.node[1] ** 2;
      nodes.append(svg("g", { class: inner ? "inner" : "leaf" },
        svg("rect", { x: box.x - box.width / 2, y: box.y, width: box.width, height, rx: inner ? 6 : 8, ...(inner ? {} : { fill: colour, "fill-opacity": strength.toFixed(2), stroke: colour }) }),
        svg("text", { x: box.x, y: box.y + 19, "text-anchor": "middle", "font-weight": 600 }, box.label, svg("title", {}, box.title)),
        inner ? null : svg("text", { class: "less", x: box.x, y: box.y + 35, "text-anchor": "middle" }, box.less)));
    }
    return [edges, words, nodes];
  }

  function bounds(boxes) {
    const left = Math.min(...boxes.map((box) => box.x - box.width / 2));
    const right = Math.max(...boxes.map((box) => box.x + box.width / 2));
    const bottom = Math.max(...boxes.map((box) => box.y + LEAF));
    return { left, right, top: 0, bottom };
  }

  // The visible window is the viewBox: moving and magnifying change nothing else.
  function navigate(picture, limits) {
    const margin = 24;
    let view;
    const apply = () => picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    // Small trees need little room, large ones get all there is.
    const wide = 2 * (Math.max(limits.root - limits.left, limits.right - limits.root) + margin);
    const scale = Math.min(1, (picture.clientWidth || 900) / wide);
    picture.style.height = `${Math.min(540, innerHeight * .62, Math.max(220, (limits.bottom - limits.top + 2 * margin) * scale))}px`;
    const ratio = () => (picture.clientHeight || 520) / (picture.clientWidth || 900);
    function frame(width, x, y) {
      view = { x, y, w: width, h: width * ratio() };
      apply();
    }
    // The whole tree, with its root in the middle.
    function fit() {
      const side = Math.max(limits.root - limits.left, limits.right - limits.root);
      const w = 2 * (side + margin), h = limits.bottom - limits.top + 2 * margin;
      const width = Math.max(w, h / ratio(), Math.min(picture.clientWidth || 900, 900));
      frame(width, limits.root - width / 2, limits.top - margin - Math.max(0, (width * ratio() - h) / 2));
    }
    function zoom(factor, cx = view.x + view.w / 2, cy = view.y + view.h / 2) {
      const w = Math.min(Math.max(view.w * factor, 160), 4 * (limits.right - limits.left + 400));
      const f = w / view.w;
      view = { x: cx - (cx - view.x) * f, y: cy - (cy - view.y) * f, w, h: view.h * f };
      apply();
    }
    function move(dx, dy) {
      view.x += dx * view.w;
      view.y += dy * view.h;
      apply();
    }
    return { fit, zoom, move, view: () => view };
  }

  function listen(picture, camera) {
    const fingers = new Map();
    const toView = (x, y) => {
      const area = picture.getBoundingClientRect(), view = camera.view();
      return [view.x + (x - area.left) / area.width * view.w, view.y + (y - area.top) / area.height * view.h];
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      picture.classList.add("held");
    });
    picture.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const area = picture.getBoundingClientRect();
      const now = [event.clientX, event.clientY];
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
        camera.zoom(apart(before, other) / apart(now, other), ...toView((now[0] + other[0]) / 2, (now[1] + other[1]) / 2));
      } else camera.move(-(now[0] - before[0]) / area.width, -(now[1] - before[1]) / area.height);
      fingers.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      picture.addEventListener(end, (event) => {
        fingers.delete(event.pointerId);
        if (!fingers.size) picture.classList.remove("held");
      });
    }
    picture.addEventListener("wheel", (event) => {
      // A plain wheel scrolls the page, as everywhere; with Ctrl (or a pinch) it magnifies.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      camera.zoom(Math.exp(event.deltaY * 0.0022), ...toView(event.clientX, event.clientY));
    }, { passive: false });
    picture.addEventListener("keydown", (event) => {
      const action = {
        ArrowLeft: () => camera.move(-.1, 0), ArrowRight: () => camera.move(.1, 0),
        ArrowUp: () => camera.move(0, -.1), ArrowDown: () => camera.move(0, .1),
        "+": () => camera.zoom(.8), "=": () => camera.zoom(.8), "-": () => camera.zoom(1.25), 0: camera.fit,
      }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  function asText(tree, classNames) {
    const lines = [];
    const walk = [[0, "", ""]];
    while (walk.length) {
      const [index, indent, condition] = walk.pop();
      const node = tree.nodes[index];
      if (node.length === 5) {
        if (condition) lines.push(indent.slice(2) + condition);
        walk.push([node[1], indent + "  ", `${node[2]} ${node[4]}`], [node[0], indent + "  ", `${node[2]} ${node[3]}`]);
      } else {
        const rows = node[2] === null ? "" : `, ${node[2]} rows`;
        lines.push(`${indent.slice(2)}${condition ? condition + "  →  " : ""}${classNames[node[0]]} (${node[1].toFixed(2)}${rows})`);
      }
    }
    return lines.join("\n");
  }

  function create(tree, classNames, label) {
    const boxes = layout(measure(tree, classNames));
    const picture = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "decision tree", "aria-label": `${label}. Arrow keys move, plus and minus magnify, 0 shows all.` }, draw(boxes));
    const button = (text, name, action) => html("button", { type: "button", "aria-label": name, title: name, onclick: action }, text);
    const tools = html("div", { class: "tools" });
    // The camera measures the picture, which has a size only once it is on the page.
    requestAnimationFrame(() => {
      const camera = navigate(picture, { ...bounds(boxes), root: boxes[0].x });
      listen(picture, camera);
      tools.append(button("+", "Magnify", () => camera.zoom(.75)), button("−", "Shrink", () => camera.zoom(1.33)), button("Fit", "Show the whole tree", camera.fit));
      camera.fit();
    });
    const viewer = html("div", { class: "viewer" }, picture, tools);
    return [viewer, html("details", {}, html("summary", {}, "As text"), html("pre", { tabindex: 0 }, asText(tree, classNames)))];
  }
  return { create };
})();
