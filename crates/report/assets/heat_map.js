"use strict";
// Draws the heat map, and the history of the chosen node. Whatever comes from a document is set as
// text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const heat = document.getElementById("heat");
  const { nodes, resources, jobs, ratios, scores, figures, letters, slow } = data;
  const rows = resources.length;
  if (!nodes.length || !rows) return;
  const steps = 13;
  // A step of the colours is one standard deviation.
  const step = (score) => Math.max(0, Math.min(steps - 1, Math.round(score / 10) + 6));
  const marked = new Map();
  for (const [node] of slow) marked.set(node, true);
  // Height of a row, of the marks above, and the gap between bands, in CSS pixels.
  const [high, above, gap] = [14, 8, 10];
  let layout;
  const make = (name, text, parent) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  };
  const ratio = (job, node, row) => ratios[job][node * rows + row];
  const asText = (value) => (value == null ? "unknown" : (1 + value / 1e4).toFixed(3));

  const legend = make("p", "Rows from above: " + resources.join(", ") + ".", heat);
  legend.className = "rows";
  const canvas = make("canvas", undefined, heat);

  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = Array.from({ length: steps }, (_, i) => colour(`--s${i}`));
    const width = Math.max(200, heat.clientWidth);
    const cell = Math.max(3, Math.min(24, Math.floor(width / nodes.length)));
    const across = Math.min(nodes.length, Math.floor(width / cell));
    const bands = Math.ceil(nodes.length / across);
    const band = above + rows * high + gap;
    layout = { cell, across, band };
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [across * cell, bands * band];
    canvas.width = w * scale;
    canvas.height = h * scale;
    canvas.style.width = w + "px";
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const space = cell > 4 ? 1 : 0;
    for (let node = 0; node < nodes.length; node++) {
      const x = (node % across) * cell;
      const y = Math.floor(node / across) * band;
      for (let row = 0; row < rows; row++) {
        const score = scores[node * rows + row];
        const top = y + above + row * high;
        pen.fillStyle = score == null ? colour("--none") : colours[step(score)];
        if (score == null) pen.fillRect(x, top + high / 2 - 1, cell - space, 2);
        else pen.fillRect(x, top, cell - space, high - 1);
      }
      if (marked.has(node)) {
        const middle = x + (cell - space) / 2;
        pen.fillStyle = colour("--bad");
        pen.beginPath();
        pen.moveTo(middle - 4, y);
        pen.lineTo(middle + 4, y);
        pen.lineTo(middle, y + above - 1);
        pen.fill();
      }
      // A line before each class.
      if (node > 0 && data.classes[node] !== data.classes[node - 1]) {
        pen.fillStyle = colour("--text");
        pen.fillRect(x - 1, y + above - 2, 1, rows * high + 2);
      }
    }
  };

  const at = (event) => {
    const place = canvas.getBoundingClientRect();
    const zoom = canvas.clientWidth / (layout.across * layout.cell);
    const [x, y] = [(event.clientX - place.left) / zoom, (event.clientY - place.top) / zoom];
    const [line, column] = [Math.floor(y / layout.band), Math.floor(x / layout.cell)];
    const node = line * layout.across + column;
    const row = Math.floor((y - line * layout.band - above) / high);
    return column < layout.across && node < nodes.length && row >= 0 && row < rows ? [node, row] : undefined;
  };
  const pointed = document.getElementById("pointed");
  canvas.addEventListener("pointermove", (event) => {
    const found = at(event);
    if (!found) return;
    const [node, row] = found;
    const score = scores[node * rows + row];
    const deviations = score == null ? "" : `, ${(score / 10).toFixed(1)} deviations`;
    pointed.textContent = `${nodes[node]} (class ${data.classes[node]}), ${resources[row]}: ${asText(ratio(jobs.length - 1, node, row))}${deviations}`;
  });

  const chosen = document.getElementById("chosen");
  const svg = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent?.append(made);
    return made;
  };
  // The ratio of one resource in each job.
  const line = (node, row, parent) => {
    const values = jobs.map((_, job) => ratio(job, node, row));
    const known = values.filter((value) => value != null);
    const [low, top] = [Math.min(-100, ...known), Math.max(100, ...known)];
    const [w, h, left] = [320, 90, 44];
    const x = (job) => left + 8 + (job * (w - left - 16)) / Math.max(1, jobs.length - 1);
    const y = (value) => 8 + ((top - value) * (h - 16)) / (top - low);
    const box = make("div", undefined, parent);
    make("h4", `${resources[row]}: ${asText(values.at(-1))}`, box);
    const drawing = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img" }, box);
    drawing.setAttribute("aria-label", jobs.map((job, i) => `${job}: ${asText(values[i])}`).join(", "));
    for (const value of [low, 0, top]) {
      svg("line", { x1: left, x2: w, y1: y(value), y2: y(value) }, drawing);
      svg("text", { x: 0, y: y(value) + 4 }, drawing).textContent = asText(value);
    }
    let path = "";
    values.forEach((value, job) => {
      if (value == null) return;
      path += (path ? "L" : "M") + x(job) + " " + y(value);
      svg("circle", { cx: x(job), cy: y(value), r: 2.5 }, drawing);
    });
    svg("path", { d: path }, drawing);
  };
  // The figures that differ most; their letters are steps of five twelfths of a deviation.
  const worst = (node, parent) => {
    const deviations = [...(letters[node] ?? "")].map((letter) => (letter === "." ? NaN : ((letter.charCodeAt(0) - 109) * 5) / 12));
    const order = deviations.map((_, i) => i).filter((i) => deviations[i] >= 2).sort((a, b) => deviations[b] - deviations[a]);
    make("h4", order.length ? "Figures that are slower than the class by two deviations or more" : "No figure is slower than the class by two deviations", parent);
    const list = make("ul", undefined, parent);
    for (const i of order.slice(0, 20)) {
      const more = deviations[i] >= 5 ? "5 deviations or more" : `${deviations[i].toFixed(1)} deviations`;
      make("li", `${figures[i][0]} (${resources[figures[i][1]]}): ${more}`, list);
    }
    if (order.length > 20) make("p", `and ${order.length - 20} more`, parent);
  };
  const show = (node) => {
    chosen.replaceChildren();
    make("h3", `${nodes[node]}, class ${data.classes[node]}: ratio to its class${jobs.length > 1 ? " in each job" : ""}`, chosen);
    const lines = make("div", undefined, chosen);
    lines.className = "lines";
    resources.forEach((_, row) => line(node, row, lines));
    worst(node, chosen);
    input.value = nodes[node];
  };
  const input = document.getElementById("node");
  const list = document.getElementById("nodes");
  for (const name of nodes) make("option", undefined, list).value = name;
  input.closest("[hidden]").hidden = false;
  input.addEventListener("change", () => {
    const node = nodes.indexOf(input.value);
    if (node >= 0) show(node);
  });
  canvas.addEventListener("click", (event) => {
    const found = at(event);
    if (found) show(found[0]);
  });
  draw();
  if (slow.length) show(slow[0][0]);
  new ResizeObserver(draw).observe(heat);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", draw);
})();
