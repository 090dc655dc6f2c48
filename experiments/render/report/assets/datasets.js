// Each dataset's section is drawn when it is first opened.
(() => {
  function trials(slug, room) {
    const about = DATA.tables[DATA.primary];
    if (!about?.cells[slug]) return null;
    const rows = about.methods.map((method, index) => ({ method, name: about.names[index], cell: about.cells[slug][index] }));
    const extent = extentOf(rows.map((row) => row.cell));
    if (!extent) return null;
    // Drawn at the size it is shown, so that its words stay readable on a phone.
    const width = Math.max(300, Math.min(760, room)), left = 92, step = 34, height = rows.length * step;
    const scale = scaleBetween(extent, left, width - 48);
    const picture = svg("svg", { class: "strips", viewBox: `0 0 ${width} ${height + 24}`, role: "img", "aria-label": `${about.title}, trial by trial; the numbers are in the tables` },
      axis(extent, scale, height, 3));
    rows.forEach(({ method, name, cell }, index) => {
      const y = index * step + step / 2;
      picture.append(svg("text", { x: 0, y: y + 4 }, name));
      if (cell.mean === undefined && !cell.paper) picture.append(svg("text", { x: left, y: y + 4, class: "faint" }, cell.missing || "not run yet"));
      else picture.append(dots(cell, method, scale, y));
      if (cell.mean !== undefined) picture.append(svg("text", { x: width, y: y + 4, "text-anchor": "end" }, fixed(cell.mean, about.decimals)));
    });
    return html("div", {}, html("h4", {}, about.title), html("p", { class: "means" }, "Dots are trials, the dark line their mean; the grey band is the paper’s mean ± standard deviation."), picture);
  }

  // One table for each set of methods, so that none is wider than the page.
  function overview(slug) {
    const sets = new Map();
    for (const about of Object.values(DATA.tables)) {
      if (!about.cells[slug]) continue;
      const key = about.methods.join();
      sets.set(key, [...(sets.get(key) || []), about]);
    }
    return html("div", {}, html("h4", {}, "All measures"), [...sets.values()].map((tables) => measures(slug, tables)));
  }

  function measures(slug, tables) {
    const filled = tables.filter((about) => about.cells[slug].some((cell) => cell.mean !== undefined || cell.missing));
    if (!filled.length) return null;
    const body = filled.map((about) => html("tr", {}, html("th", { scope: "row" }, about.title.replace(" hyperparameters", "") + (about.protocol === "paper" ? "" : ` (${about.protocol})`)),
      about.cells[slug].map((cell) => {
        const spread = cell.std === undefined ? null : html("small", {}, ` ±${fixed(cell.std, about.stdDecimals || about.decimals)}`);
        const mark = cell.outcome ? html("span", { class: `mark ${cell.outcome}`, title: cell.outcome }, DATA.glyphs[cell.outcome]) : html("span", { class: "mark" });
        return html("td", {}, cell.missing || fixed(cell.mean, about.decimals), spread, mark);
      })));
    return html("div", { class: "scroll" }, html("table", { class: "overview" },
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "Table"), tables[0].names.map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, body)));
  }

  function trees(slug) {
    const { trees: stored, name } = DATA.datasets[slug];
    if (!stored?.length) return html("div", { class: "trees" }, html("h4", {}, "Trees"), html("p", { class: "empty" }, "No tree of this dataset has been stored."));
    const stage = html("div", {});
    const buttons = stored.map((tree, index) => html("button", { type: "button", "aria-pressed": "false", onclick: () => show(index) }, tree.label));
    function show(index) {
      const tree = stored[index];
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
      stage.replaceChildren(html("p", { class: "means" }, tree.caption), ...TreeView.create(tree, tree.classes, `${tree.label} on ${name}`));
    }
    const section = html("div", { class: "trees" }, html("h4", {}, "Trees in original units"), html("div", { class: "switch" }, buttons), stage);
    show(0);
    return section;
  }

  function rerun(slug) {
    const about = DATA.tables[DATA.primary];
    if (!about) return null;
    const command = DATA.datasetCommand.replace(/\{(\w+)\}/g, (_, key) => ({ dataset: slug, experiment: about.experiment, protocol: about.protocol })[key]);
    return html("div", {}, html("h4", {}, "Run it again"), html("div", { class: "command" }, commandText(command), html("button", { type: "button", class: "copy", "data-copy": command }, "Copy")));
  }

  for (const details of all("details.dataset")) {
    details.addEventListener("toggle", () => {
      const body = details.querySelector(".body");
      if (!details.open || body.dataset.drawn) return;
      body.dataset.drawn = "yes";
      const slug = details.dataset.dataset;
      body.replaceChildren(...[trials(slug, body.clientWidth), overview(slug), trees(slug), rerun(slug)].filter(Boolean));
    });
  }

  const search = document.getElementById("dataset-filter");
  search.addEventListener("input", () => {
    const text = search.value.trim().toLowerCase();
    for (const details of all("details.dataset")) details.hidden = !details.dataset.name.toLowerCase().includes(text);
  });

  function follow() {
    if (!location.hash.startsWith("#dataset-")) return;
    const details = document.getElementById(location.hash.slice(1));
    if (!details) return;
    details.hidden = false;
    details.open = true;
    details.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
})();
