// Shared by all parts of the page: the data, and small helpers for building elements.
const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function build(namespace, tag, attributes, children) {
  const element = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
const html = (tag, attributes, ...children) => build(null, tag, attributes, children);
const svg = (tag, attributes, ...children) => build(SVG, tag, attributes, children);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

const fixed = (value, decimals) =>
  value === undefined || value === null ? "·"
    : value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

// A cell is addressed as table/dataset/method.
function cellAt(id) {
  const [table, dataset, method] = id.split("/");
  const about = DATA.tables[table];
  return { table, dataset, method, about, cell: about.cells[dataset][about.methods.indexOf(method)] };
}

function commandFor({ about, dataset, method }) {
  const values = { protocol: about.protocol, experiment: about.experiment, dataset, method };
  return DATA.command.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Options stay whole where the line breaks.
const commandText = (command) =>
  html("code", {}, command.split(/ (?=--)/).flatMap((part) => [html("span", {}, part), " "]));

function say(message) {
  document.getElementById("said").textContent = message;
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened from disk may lack the clipboard: select the text for the reader instead.
    const code = button.parentElement.querySelector("code");
    if (code) getSelection().selectAllChildren(code);
    say("The command is selected.");
    return;
  }
  const before = button.textContent;
  button.textContent = "Copied";
  say("Copied.");
  setTimeout(() => { button.textContent = before; }, 1400);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".copy");
  if (button) copy(button.dataset.copy, button);
});
