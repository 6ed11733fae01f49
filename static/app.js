// What pages gain with a script; every page is complete without it.
//
// - plots: the pointer or ← → moves a cursor through all plots of the page at once and names the
//   nearest point with its exact figures; Esc takes it away
// - a curve: dragging over a plot, or Shift with ← →, chooses task counts; what is let go, or `z`, is
//   drawn alone, by the address; Esc goes back to all of it
// - figures: download as SVG or PNG
// - tables: copy as plain text (for mail), Markdown or CSV, all digits
// - keys: letters decide about an incident, j and k go through lists, `/` searches, ? tells all
"use strict";

const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);
const button = (text, title, act) => {
  const made = make("button", { type: "button", className: "tool", textContent: text, title });
  made.addEventListener("click", () => act(made));
  return made;
};

/* Plots. The drawing lists its points: [x, key, words], x in pixels of its own width. */

const plots = [...document.querySelectorAll("svg.plot[data-marks]")].map((svg) => {
  const marks = JSON.parse(svg.dataset.marks).map(([x, key, words]) => ({ x, key, words }));
  const box = svg.viewBox.baseVal;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("class", "cursor");
  line.setAttribute("y1", 0);
  line.setAttribute("y2", box.height);
  const reading = make("div", { className: "reading" });
  reading.setAttribute("aria-live", "polite");
  return { svg, marks, line, reading, scale: box.width / Number(svg.getAttribute("width")) };
}).filter((plot) => plot.marks.length > 0);

function hide() {
  for (const { line, reading } of plots) {
    line.remove();
    reading.remove();
  }
}

function show(plot, index) {
  hide();
  const { key } = plot.marks[index];
  for (const other of plots) {
    const mark = other === plot ? plot.marks[index] : other.marks.find((one) => one.key === key);
    const { svg, line, reading, scale } = other;
    if (!mark || svg.getClientRects().length === 0) continue;
    line.setAttribute("x1", mark.x * scale);
    line.setAttribute("x2", mark.x * scale);
    svg.append(line);
    reading.textContent = mark.words;
    svg.parentElement.append(reading);
    // Within the figure: to the right of the cursor where there is room, else to its left.
    const drawn = svg.getBoundingClientRect();
    const at = (mark.x * scale * drawn.width) / svg.viewBox.baseVal.width;
    const left = at + 12 + reading.offsetWidth <= drawn.width ? at + 12 : at - 12 - reading.offsetWidth;
    reading.style.left = `${Math.max(0, left)}px`;
    reading.style.top = `${svg.offsetTop + 24}px`;
  }
}

for (const plot of plots) {
  const { svg, marks } = plot;
  plot.shown = marks.length - 1;
  const move = (index) => {
    plot.shown = Math.min(Math.max(index, 0), marks.length - 1);
    show(plot, plot.shown);
  };
  svg.setAttribute("tabindex", 0);
  svg.addEventListener("pointermove", (event) => {
    const drawn = svg.getBoundingClientRect();
    const x = ((event.clientX - drawn.left) * Number(svg.getAttribute("width"))) / drawn.width;
    const distance = (mark) => Math.abs(mark.x - x);
    move(marks.reduce((best, mark, i) => (distance(mark) < distance(marks[best]) ? i : best), 0));
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("focus", () => move(plot.shown));
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -marks.length, End: marks.length };
    if (event.key in steps && !event.shiftKey) {
      move(plot.shown + steps[event.key]);
      event.preventDefault();
    } else if (event.key === "Escape") {
      hide();
    }
  });
}

/* Part of a curve: its form has the range, its address keeps it. */

const range = document.querySelector("form select[name='from']")?.form;
const tasksOf = (plot, index) => Number(/^tasks (\d+)$/.exec(plot.marks[index]?.key ?? "")?.[1]);

function draw(from, to) {
  const address = new URL(location);
  for (const [name, value] of [["from", from], ["to", to]]) {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  }
  if (address.href !== location.href) location.assign(address);
}

function chooseRange(plot) {
  const { svg, marks } = plot;
  const band = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  band.setAttribute("class", "cursor band");
  band.setAttribute("height", svg.viewBox.baseVal.height);
  let first = null;
  let last = null;
  const nearest = (event) => {
    const drawn = svg.getBoundingClientRect();
    const x = ((event.clientX - drawn.left) * Number(svg.getAttribute("width"))) / drawn.width;
    return marks.reduce((best, mark, i) => (Math.abs(mark.x - x) < Math.abs(marks[best].x - x) ? i : best), 0);
  };
  const show = () => {
    const [left, right] = [first, last].map((i) => marks[i].x * plot.scale).sort((a, b) => a - b);
    band.setAttribute("x", left);
    band.setAttribute("width", right - left);
    svg.prepend(band);
  };
  const forget = () => {
    first = last = null;
    band.remove();
  };
  const zoom = () => {
    const [from, to] = [first, last].map((i) => tasksOf(plot, i)).sort((a, b) => a - b);
    if (from < to) draw(from, to);
    else forget();
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    first = last = nearest(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (first === null || !svg.hasPointerCapture(event.pointerId)) return;
    last = nearest(event);
    if (last !== first) show();
  });
  svg.addEventListener("pointerup", () => first !== null && zoom());
  svg.addEventListener("pointercancel", forget);
  svg.addEventListener("keydown", (event) => {
    if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      first ??= plot.shown;
      last = Math.min(Math.max((last ?? first) + (event.key === "ArrowRight" ? 1 : -1), 0), marks.length - 1);
      show();
    } else if (event.key === "z" && first !== null) {
      zoom();
    } else if (event.key === "Escape") {
      if (first === null && new URL(location).searchParams.has("from")) draw();
      forget();
    }
  });
}

for (const plot of range ? plots : []) {
  if (tasksOf(plot, 0)) chooseRange(plot);
}

/* Files. */

function save(name, address) {
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

const fileName = (figure, ending) => {
  const words = `${document.title} ${figure.querySelector("figcaption")?.textContent ?? ""}`;
  return `${words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80)}.${ending}`;
};

// As drawn: in the light palette, without the cursor.
function source(svg) {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll(".cursor").forEach((line) => line.remove());
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", "#ffffff"]]) {
    ground.setAttribute(name, value);
  }
  copy.prepend(ground);
  copy.removeAttribute("data-marks");
  return `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

function savePng(svg, name) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = make("canvas", {
      width: 2 * Number(svg.getAttribute("width")),
      height: 2 * Number(svg.getAttribute("height")),
    });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    save(name, canvas.toDataURL("image/png"));
  });
  image.src = source(svg);
}

for (const figure of document.querySelectorAll("figure")) {
  const visible = () =>
    [...figure.querySelectorAll("svg.plot")].find((svg) => svg.getClientRects().length > 0);
  if (!figure.querySelector("svg.plot")) continue;
  const tools = make("span", { className: "tools" });
  tools.append(
    button("SVG", "Save this plot as SVG", () => save(fileName(figure, "svg"), source(visible()))),
    button("PNG", "Save this plot as PNG", () => savePng(visible(), fileName(figure, "png"))),
  );
  figure.append(tools);
}

/* Tables. */

// All digits where the cell has them; one line a cell.
const text = (cell) => {
  const exact = cell.classList.contains("n") ? cell.getAttribute("title") : null;
  return (exact ?? cell.textContent).replace(/\s+/g, " ").trim();
};

const rowsOf = (table) =>
  [...table.rows].map((row) =>
    [...row.cells].flatMap((cell) => [text(cell), ...Array(cell.colSpan - 1).fill("")]));

const formats = {
  text(rows, numeric) {
    const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
    const pad = (cell, i) => (numeric[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]));
    return rows.map((row) => row.map(pad).join("  ").trimEnd()).join("\n");
  },
  Markdown(rows, numeric) {
    const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const rule = `|${rows[0].map((_, i) => (numeric[i] ? "---:" : "---")).join("|")}|`;
    return [line(rows[0]), rule, ...rows.slice(1).map(line)].join("\n");
  },
  CSV(rows) {
    const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    return rows.map((row) => row.map(quoted).join(",")).join("\r\n");
  },
};

async function copy(table, format, pressed) {
  const rows = rowsOf(table);
  const numeric = [...table.rows[0].cells].map((cell) => cell.classList.contains("n"));
  const was = pressed.textContent;
  try {
    await navigator.clipboard.writeText(`${formats[format](rows, numeric)}\n`);
    pressed.textContent = "copied";
  } catch {
    pressed.textContent = "the browser forbids it";
  }
  setTimeout(() => { pressed.textContent = was; }, 1500);
}

for (const scroll of document.querySelectorAll(".scroll")) {
  const table = scroll.querySelector("table");
  // Beside words that stand there already, so that nothing moves; a table that says its roles, for it
  // is stacked on narrow screens, may have no buttons in its caption.
  const beside = table?.querySelector("table:not([role]) > caption:not(.hidden)") ?? scroll.closest("section")?.querySelector("h2");
  if (!beside || table.rows.length < 2 || !navigator.clipboard) continue;
  const tools = make("span", { className: "tools copy" });
  tools.append("copy as ");
  for (const format of Object.keys(formats)) {
    const title = `Copy this table as ${format}`;
    tools.append(button(format, title, (pressed) => copy(table, format, pressed)));
  }
  beside.append(" ", tools);
}

/* Keys. A letter presses the button, or leads to the field, that has it as aria-keyshortcuts; such
   buttons show it. j and k go through the lists of the page, x picks, ? tells all. */

const shortcuts = [...document.querySelectorAll("[aria-keyshortcuts]")];
for (const element of shortcuts) {
  const words = element.matches("button") ? element.firstChild : element.closest("label").firstChild;
  const letter = make("kbd", { textContent: element.getAttribute("aria-keyshortcuts") });
  const shown = make("span");
  element.dataset.name = words.textContent.trim();
  letter.setAttribute("aria-hidden", true);
  words.replaceWith(shown);
  shown.append(element.dataset.name, " ", letter);
}

function press(letter) {
  const element = shortcuts.find((one) => one.getAttribute("aria-keyshortcuts") === letter);
  if (!element) return false;
  element.closest("details")?.setAttribute("open", "");
  element.focus();
  if (element.matches("button")) element.click();
  return true;
}

// Enter in a field that belongs to a button presses that one; in another it goes back to the page,
// and never decides by itself.
function enter(field) {
  const button = field.closest(".pair")?.querySelector("button");
  if (button) button.click();
  else field.blur();
}

function step(by) {
  const links = [...document.querySelectorAll("main table th[scope='row'] a")]
    .filter((link) => link.getClientRects().length > 0);
  const row = document.activeElement.closest?.("tr");
  const at = links.findIndex((link) => row?.contains(link));
  const next = at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by;
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
}

function help() {
  const dialog = make("dialog", { className: "keys" });
  const list = make("dl");
  const line = (letter, words) => list.append(
    make("dt", { textContent: letter }), make("dd", { textContent: words }));
  for (const one of shortcuts) line(one.getAttribute("aria-keyshortcuts"), one.dataset.name);
  if (document.querySelector("main table th[scope='row'] a")) line("j k", "next, previous row of a list; Enter opens it");
  if (document.querySelector("td input[type='checkbox']")) line("x", "pick the row, or no longer");
  if (plots.length > 0) line("← →", "in a plot: cursor through all plots; Esc takes it away");
  if (range) line("z", "on a curve: draw alone what Shift with ← → or dragging chose; Esc: all of it");
  line("/", "search");
  line("?", "this list; Esc closes it");
  dialog.append(make("h2", { textContent: "Keys of this page", id: "keys" }), list);
  dialog.setAttribute("aria-labelledby", "keys");
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const field = target.closest?.("input:not([type='checkbox']), select, textarea");
  if (field) {
    if (key === "Escape") field.blur();
    if (key === "Enter" && field.matches("[aria-keyshortcuts]")) enter(field);
    else return;
  } else if (key === "/") document.querySelector(".search input")?.focus();
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if (key === "x") document.activeElement.closest("tr")?.querySelector("input[type='checkbox']")?.click();
  else if (key === "?") help();
  else if (!press(key)) return;
  event.preventDefault();
});

document.querySelector(".foot")?.append(button("Keys", "Which keys this page knows: ?", help));
