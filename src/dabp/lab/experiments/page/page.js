"use strict";
// Draws the page from the data element: a section per plan, with tables, figures, comparisons and provenance.

const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 360, LOWEST = 250, HIGHEST = 400, LEFT = 52, RIGHT = 20, TOP = 8, BOTTOM = 38;
let clips = 0;
const DASHES = ["", "7 4", "7 3 2 3", "2 3"];

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shape(name, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
}

const groupBy = (items, key) => {
  const groups = new Map();
  for (const item of items) {
    if (!groups.has(item[key])) groups.set(item[key], []);
    groups.get(item[key]).push(item);
  }
  return groups;
};

function number(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return Number(value.toPrecision(3)).toExponential().replace("e+", "e");
  return String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
}

// ---- tables -----------------------------------------------------------------------------------

function sortableTable(headings, rows) {
  const body = element("tbody");
  const fill = (ordered) => body.replaceChildren(...ordered.map((row) => {
    const line = element("tr", row.best ? { class: "best" } : {});
    line.append(...row.cells.map((cell) => element("td", {}, cell)));
    return line;
  }));
  const heads = headings.map((heading, column) => {
    const button = element("button", { type: "button" }, heading);
    const head = element("th", { scope: "col" }, button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      fill([...rows].sort((a, b) => order(a.sort[column], b.sort[column], down ? -1 : 1)));
    });
    return head;
  });
  fill(rows);
  return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
}

// What is missing comes last, whichever way the rest is sorted.
function order(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
}

function plainTable(headings, rows) {
  const head = element("tr", {}, ...headings.map((text) => element("th", { class: "text", scope: "col" }, text)));
  const lines = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", { class: "text wrap" }, cell))));
  return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines)));
}

// ---- figures ----------------------------------------------------------------------------------

function ticks(low, high, logarithmic, whole = false) {
  if (logarithmic) {
    const powers = [], fine = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      powers.push(10 ** power);
      fine.push(...[1, 2, 5].map((digit) => digit * 10 ** power));
    }
    const inside = (values) => values.filter((value) =>
      value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9) && (!whole || value >= 1));
    return inside(powers).length > 2 ? inside(powers) : inside(fine);
  }
  const raw = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const nice = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw);
  const step = whole ? Math.max(1, nice) : nice;
  const all = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) all.push(value);
  return all;
}

function scale(low, high, from, to, logarithmic) {
  const place = logarithmic ? Math.log : (value) => value;
  const span = place(high) - place(low) || 1;
  return (value) => from + (to - from) * (place(value) - place(low)) / span;
}

class LinePanel {
  constructor(figure, panel, style) {
    this.figure = figure;
    this.style = style;
    this.curves = panel.curves;
    this.focus = panel.focus;
    this.whole = /iteration/.test(figure.x_label);
    this.svg = shape("svg", { role: "img", "aria-label": `${figure.title}: ${panel.title}` });
    this.fit(WIDTH);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerdown", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.draw(new Set());
  }

  // One unit is one pixel, so that letters stay as they are however wide the figure is.
  fit(width) {
    this.width = Math.max(240, Math.round(width));
    this.height = Math.max(LOWEST, Math.min(HIGHEST, Math.round(0.55 * this.width)));
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  draw(hidden) {
    this.shown = this.curves.filter((curve) => !hidden.has(curve.label));
    this.svg.replaceChildren();
    const xs = this.shown.flatMap((curve) => curve.x);
    const ys = this.shown.flatMap((curve) => curve.y).filter((value) => value !== null);
    if (!ys.length) return;
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    const margin = 0.06 * (y1 - y0 || Math.abs(y1) || 1);
    [y0, y1] = [y0 - margin, y1 + margin];
    if (this.focus) [y0, y1] = [Math.max(y0, this.focus[0]), Math.min(y1, this.focus[1])];
    if (y1 <= y0) [y0, y1] = [y0 - 1, y0 + 1];
    this.clip = `clip${clips++}`;
    const window = shape("clipPath", { id: this.clip });
    window.append(shape("rect", { x: LEFT, y: TOP, width: this.width - LEFT - RIGHT, height: this.height - TOP - BOTTOM }));
    this.svg.append(window);
    this.x = scale(x0, x1, LEFT, this.width - RIGHT, this.figure.log_x);
    this.y = scale(y0, y1, this.height - BOTTOM, TOP, false);
    this.axes(x0, x1, y0, y1);
    this.paths = new Map(this.shown.map((curve) => [curve, this.trace(curve)]));
    this.mark = shape("circle", { r: 4, visibility: "hidden" });
    this.svg.append(this.mark);
  }

  axes(x0, x1, y0, y1) {
    for (const value of ticks(y0, y1, false)) {
      const at = this.y(value);
      this.svg.append(shape("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: at, y2: at }),
        shape("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, number(value)));
    }
    for (const value of ticks(x0, x1, this.figure.log_x, this.whole)) {
      const at = this.x(value);
      this.svg.append(shape("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: this.height - BOTTOM }),
        shape("text", { x: at, y: this.height - BOTTOM + 15, "text-anchor": "middle" }, number(value)));
    }
    this.svg.append(
      shape("path", { class: "axis", d: `M${LEFT} ${TOP}V${this.height - BOTTOM}H${this.width - RIGHT}` }),
      shape("text", { x: (LEFT + this.width - RIGHT) / 2, y: this.height - 6, "text-anchor": "middle" }, this.figure.x_label),
      shape("text", { transform: `translate(11 ${(TOP + this.height - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, this.figure.y_label));
  }

  trace(curve) {
    const { colour, dash } = this.style(curve.label);
    const clip = (value) => Math.max(TOP, Math.min(this.height - BOTTOM, value));
    const points = curve.x.map((x, i) => [this.x(x), this.y(curve.y[i]), curve.half[i] ?? 0, i]);
    const parts = [];
    if (curve.half.some((half) => half)) {
      const edge = (sign) => points.map(([px, , half, i]) => `${px.toFixed(1)},${clip(this.y(curve.y[i] + sign * half)).toFixed(1)}`);
      parts.push(shape("polygon", { class: "band", fill: colour, points: [...edge(1), ...edge(-1).reverse()].join(" ") }));
    }
    const line = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
    parts.push(shape("polyline", { class: "curve", stroke: colour, "stroke-dasharray": dash, points: line,
      "clip-path": `url(#${this.clip})`, "data-label": curve.label }));
    if (points.length <= 12) parts.push(...points.map(([cx, cy]) => shape("circle", { cx, cy, r: 3, fill: colour })));
    this.svg.append(...parts);
    return parts;
  }

  point(event) {
    if (!this.shown.length) return;
    const box = this.svg.getBoundingClientRect();
    const px = (event.clientX - box.left) * this.width / box.width, py = (event.clientY - box.top) * this.height / box.height;
    let best = null;
    for (const curve of this.shown) {
      curve.x.forEach((x, i) => {
        if (curve.y[i] === null || this.y(curve.y[i]) < TOP) return;
        const distance = Math.hypot(this.x(x) - px, this.y(curve.y[i]) - py);
        if (best === null || distance < best.distance) best = { curve, i, distance };
      });
    }
    if (best === null || best.distance > 60) { this.leave(); return; }
    const { curve, i } = best;
    for (const [other, parts] of this.paths) for (const part of parts) part.classList.toggle("faded", other !== curve);
    const set = { cx: this.x(curve.x[i]), cy: this.y(curve.y[i]), fill: this.style(curve.label).colour, visibility: "visible" };
    for (const [key, value] of Object.entries(set)) this.mark.setAttribute(key, value);
    const half = curve.half[i] ? ` ± ${number(curve.half[i])}` : "";
    showTip(event, `${curve.label}: ${number(curve.y[i])}${half} at ${this.figure.x_label} ${number(curve.x[i])}`);
  }

  leave() {
    if (this.paths) for (const parts of this.paths.values()) for (const part of parts) part.classList.remove("faded");
    if (this.mark) this.mark.setAttribute("visibility", "hidden");
    tip.hidden = true;
  }
}

class WordPanel {
  constructor(figure, panel, style) {
    Object.assign(this, { figure, style, curves: panel.curves });
    this.svg = shape("svg", { role: "img", "aria-label": `${figure.title}: ${panel.title}` });
    this.svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    this.fit(WIDTH);
    this.draw(new Set());
  }

  fit(width) {
    this.width = Math.max(240, Math.round(width));
  }

  draw(hidden) {
    const shown = this.curves.filter((curve) => !hidden.has(curve.label) && curve.y[0] !== null);
    const height = 24 * shown.length + BOTTOM;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${Math.max(height, 60)}`);
    this.svg.replaceChildren();
    if (!shown.length) return;
    const ends = shown.flatMap((curve) => [curve.y[0] - (curve.half[0] ?? 0), curve.y[0] + (curve.half[0] ?? 0)]);
    const bars = this.figure.kind === "bars";
    const low = bars ? 0 : Math.min(...ends), high = Math.max(...ends);
    const x = scale(low, high === low ? low + 1 : high, 150, this.width - 16, false);
    for (const value of ticks(low, high === low ? low + 1 : high, false).filter((_, i, all) => all.length < 6 || i % 2 === 0)) {
      this.svg.append(shape("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height - BOTTOM }),
        shape("text", { x: x(value), y: height - BOTTOM + 14, "text-anchor": "middle" }, number(value)));
    }
    shown.forEach((curve, i) => this.row(curve, 24 * i + 12, x, bars));
    this.svg.append(shape("text", { x: (150 + this.width) / 2, y: height - 6, "text-anchor": "middle" }, this.figure.y_label));
  }

  row(curve, y, x, bars) {
    const { colour } = this.style(curve.label), value = curve.y[0], half = curve.half[0] ?? 0;
    const name = curve.label.length > 24 ? `${curve.label.slice(0, 23)}…` : curve.label;
    const parts = [shape("text", { x: 144, y: y + 4, "text-anchor": "end" }, name)];
    if (bars) parts.push(shape("rect", { x: x(0), y: y - 8, width: Math.max(1, x(value) - x(0)), height: 16, fill: colour, "data-label": curve.label }));
    else {
      if (half) parts.push(shape("line", { x1: x(value - half), x2: x(value + half), y1: y, y2: y, stroke: colour, "stroke-width": 2 }));
      parts.push(shape("circle", { cx: x(value), cy: y, r: 5, fill: colour, "data-label": curve.label }));
    }
    const words = `${curve.label}: ${number(value)}${half ? ` ± ${number(half)}` : ""} ${this.figure.y_label}`;
    for (const part of parts) part.addEventListener("pointermove", (event) => showTip(event, words));
    this.svg.append(...parts);
  }
}

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
}

function figureSection(figure, styleOf, hidden, redraws) {
  const labels = [...new Set(figure.panels.flatMap((panel) => panel.curves.map((curve) => curve.label)))];
  const panels = figure.panels.map((panel) => {
    const drawn = figure.kind === "line" ? new LinePanel(figure, panel, styleOf) : new WordPanel(figure, panel, styleOf);
    redraws.push(() => drawn.draw(hidden));
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width && width !== drawn.width) { drawn.fit(width); drawn.draw(hidden); }
    }).observe(drawn.svg);
    return element("figure", {}, element("figcaption", {}, panel.title), drawn.svg);
  });
  const chips = labels.map((label) => {
    const { colour, dash } = styleOf(label);
    const sample = shape("svg", { width: 26, height: 10, "aria-hidden": "true" });
    sample.append(shape("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colour, "stroke-width": 3, "stroke-dasharray": dash }));
    const chip = element("button", { type: "button", class: "chip", "aria-pressed": "true" }, sample, label);
    chip.addEventListener("click", () => {
      if (!hidden.delete(label)) hidden.add(label);
      for (const redraw of redraws) redraw();
    });
    redraws.push(() => chip.setAttribute("aria-pressed", String(!hidden.has(label))));
    return chip;
  });
  return element("section", { "data-figure": figure.name }, element("h3", {}, figure.title),
    element("div", { class: "legend", role: "group", "aria-label": "Show or hide solvers" }, ...chips),
    element("div", { class: "panels" }, ...panels));
}

// ---- sections ---------------------------------------------------------------------------------

function comparisonSection(comparisons) {
  const headings = ["First", "Second", "Wins", "Draws", "Losses", "Mean difference", "p"];
  const rows = comparisons.map((c) => {
    const p = c.test.p_value;
    return { cells: [c.first, c.second, String(c.wins), String(c.draws), String(c.losses), number(c.mean_difference), p < 1e-4 ? p.toExponential(1) : p.toFixed(4)],
      sort: [c.first, c.second, c.wins, c.draws, c.losses, c.mean_difference, p] };
  });
  return element("details", {}, element("summary", {}, "Paired comparisons (Wilcoxon signed-rank, two-sided, not corrected for their number)"),
    sortableTable(headings, rows));
}

function provenance(plan) {
  const session = ({ versions, machine, command, started, jobs, scheduler }) => [
    ["Started", started], ["Command", command.join(" ")],
    ["Runs at a time", scheduler ? `on ${scheduler}` : String(jobs)],
    ["Versions", Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")],
    ["Machine", `${machine.system}, ${machine.processor}, ${machine.cores} cores, ${(machine.memory / 1e9).toFixed(0)} GB`],
  ];
  // Runs that were there already are not repeated, so a plan can have been run in several sessions.
  const rows = [...(plan.environment.earlier ?? []), plan.environment].flatMap(session);
  return element("details", {}, element("summary", {}, "How this was run: command, versions, machine, plan"),
    plainTable(["", ""], rows), element("pre", {}, plan.text));
}

function planSection(plan) {
  const styleOf = (label) => {
    const index = Math.max(0, plan.labels.indexOf(label)), count = data.palette.length;
    const named = data.palette[index % count];
    return { colour: named === "#000000" ? "currentColor" : named, dash: DASHES[Math.floor(index / count) % DASHES.length] };
  };
  const hidden = new Set(), redraws = [];
  const tables = [...groupBy(plan.table, "group")].map(([group, rows]) =>
    element("div", {}, element("h3", {}, group), sortableTable(data.headings, rows)));
  const section = element("section", { id: plan.name }, ...(data.plans.length > 1 ? [element("h2", {}, plan.title)] : []),
    element("p", { class: "note" }, `${plan.finished} of ${plan.runs} runs finished, ${plan.failures.length} failed. Cost is per constraint; ± is the half width of the 95 % confidence interval of the mean; gap is to the best mean of the group.`),
    element("div", { class: "tables" }, ...tables));
  for (const figure of plan.figures) section.append(figureSection(figure, styleOf, hidden, redraws));
  if (plan.comparisons.length) section.append(comparisonSection(plan.comparisons));
  if (plan.failures.length) {
    section.append(element("details", {}, element("summary", {}, `Failed runs (${plan.failures.length})`),
      plainTable(["Solver", "Group", "Instance", "Reason"], plan.failures.map((f) => [f.solver, f.group, f.instance, f.reason]))));
  }
  section.append(provenance(plan));
  return section;
}

document.querySelector("h1").textContent = data.title;
if (data.plans.length > 1) {
  document.querySelector("nav").append(...data.plans.map((plan) => element("a", { href: `#${plan.name}` }, plan.title)));
}
document.querySelector("main").append(...data.plans.map(planSection));
addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
