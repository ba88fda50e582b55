"use strict";
// Sorting, filtering, unfolding and drawing. Whatever comes from a run is set as text, never as markup.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  document.documentElement.classList.add("scripted");

  // Unfolding: the benchmark's name becomes a button.
  const unfold = (body, open) => {
    const row = body.querySelector("tr.more");
    row.classList.toggle("open", open);
    row.querySelector("details").open = open;
    body.querySelector("th.name button").setAttribute("aria-expanded", open);
  };
  for (const body of all("table.figures tbody")) {
    const details = body.querySelector("details");
    if (!details) continue;
    const head = body.querySelector("th.name");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", details.id);
    button.addEventListener("click", () => unfold(body, button.getAttribute("aria-expanded") !== "true"));
    head.replaceChildren(button);
    details.addEventListener("toggle", () => { if (!details.open) unfold(body, false); });
  }

  // Sorting: each heading becomes a button. Rows without a value stay last.
  const valueOf = (body, column, kind) => {
    let place = 0;
    for (const cell of body.rows[0].cells) {
      if (column < place + cell.colSpan) {
        if (cell.colSpan > 1) return null;
        const text = cell.dataset.v ?? (kind === "word" ? cell.textContent : "");
        if (text === "") return null;
        return kind === "word" ? { unit: "", value: text } : { unit: cell.dataset.unit ?? "", value: Number(text) };
      }
      place += cell.colSpan;
    }
    return null;
  };
  const words = new Intl.Collator("en", { numeric: true });
  const order = (a, b, sign) => {
    if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
    if (a.unit !== b.unit) return words.compare(a.unit, b.unit);
    return sign * (typeof a.value === "string" ? words.compare(a.value, b.value) : a.value - b.value);
  };
  const sort = (head) => {
    const table = head.closest("table");
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const column = Number(head.dataset.column);
    const bodies = [...table.tBodies].map((body) => [valueOf(body, column, head.dataset.sort), body]);
    bodies.sort((a, b) => order(a[0], b[0], up ? 1 : -1));
    table.append(...bodies.map((pair) => pair[1]));
  };
  for (const head of all("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }

  // Filtering.
  const box = document.getElementById("filter");
  const found = document.getElementById("found");
  const bodies = all("tbody[data-text]");
  box.closest(".filter").hidden = false;
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const body of bodies) {
      const text = body.dataset.text.toLowerCase();
      body.hidden = !wanted.every((word) => text.includes(word));
      shown += body.hidden ? 0 : 1;
    }
    found.textContent = wanted.length ? `${shown} of ${bodies.length} rows` : "";
  });

  // Drawing.
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const digits = (v) => (v == null ? "" : Number(v.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false }));
  const short = (v) => {
    if (v >= 1024 && v % 1024 === 0) {
      for (const [size, name] of [[2 ** 30, "Gi"], [2 ** 20, "Mi"], [1024, "Ki"]]) if (v % size === 0) return v / size + name;
    }
    return digits(v);
  };
  const colours = ["#3b7dd8", "#d9632b", "#2f9e5b", "#b04fc4", "#b58900", "#0f9aa8", "#d6336c", "#7a8793"];

  const table = (chart) => {
    const xs = [...new Set(chart.curves.flatMap((c) => c.points.map((p) => p[0])))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    const data = [xs];
    const intervals = [null];
    // What stands under the pointer is what the table has.
    const series = [{ label: chart.x, value: (_, v) => (v == null ? "" : short(v)) }];
    chart.curves.forEach((curve, i) => {
      const ys = xs.map(() => null);
      const marks = xs.map(() => null);
      const texts = xs.map(() => "");
      for (const [x, y, interval, text] of curve.points) { const at = place.get(x); ys[at] = y; marks[at] = interval; texts[at] = text; }
      const colour = colours[i % colours.length];
      data.push(ys);
      intervals.push(marks);
      series.push({
        label: curve.name || chart.name, stroke: colour, width: 2, spanGaps: true, points: { show: true, size: 6 },
        value: (_, v, s, at) => texts[at] ?? "",
      });
      if (curve.line) {
        const [start, slope] = curve.line;
        data.push(xs.map((x) => (x >= curve.points[0][0] && x <= curve.points.at(-1)[0] ? start + slope * x : null)));
        intervals.push(null);
        series.push({ label: (curve.name ? curve.name + " " : "") + "fitted", stroke: colour, width: 1, dash: [6, 4], spanGaps: true, points: { show: false }, value: (_, v) => digits(v) });
      }
    });
    return { data, series, intervals };
  };

  // The interval of each point, as a mark from its low end to its high end.
  const drawIntervals = (intervals) => (plot) => {
    const context = plot.ctx;
    context.save();
    context.lineWidth = devicePixelRatio;
    intervals.forEach((marks, s) => {
      if (!marks || !plot.series[s].show) return;
      context.strokeStyle = plot.series[s].stroke(plot, s);
      marks.forEach((mark, i) => {
        if (!mark) return;
        const x = plot.valToPos(plot.data[0][i], "x", true);
        const [low, high] = mark.map((v) => plot.valToPos(v, "y", true));
        const half = 4 * devicePixelRatio;
        context.beginPath();
        context.moveTo(x, low); context.lineTo(x, high);
        context.moveTo(x - half, low); context.lineTo(x + half, low);
        context.moveTo(x - half, high); context.lineTo(x + half, high);
        context.stroke();
      });
    });
    context.restore();
  };

  const draw = (place) => {
    const chart = charts[Number(place.dataset.chart)];
    const { data, series, intervals } = table(chart);
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text").trim();
    const grid = { stroke: style.getPropertyValue("--line").trim(), width: 1 };
    const highest = Math.max(...chart.curves.flatMap((c) => c.points.flatMap((p) => [p[1], ...(p[2] ?? [])])));
    const lowest = Math.min(0, ...chart.curves.flatMap((c) => c.points.flatMap((p) => [p[1], ...(p[2] ?? [])])));
    place.replaceChildren();
    return new uPlot({
      width: Math.max(200, place.clientWidth), height: 260, series,
      scales: { x: { time: false, distr: chart.log ? 3 : 1, log: 2 }, y: { range: [lowest * 1.05, highest > lowest ? highest * 1.05 : 1] } },
      axes: [
        { stroke: text, grid, label: chart.x, labelSize: 20, values: (_, vs) => vs.map((v) => (v == null ? "" : short(v))) },
        { stroke: text, grid, label: chart.y, labelSize: 20, size: 60, values: (_, vs) => vs.map(digits) },
      ],
      cursor: { drag: { x: false, y: false } },
      hooks: { draw: [drawIntervals(intervals)] },
    }, data, place);
  };

  // A chart is drawn when it comes near, and again in other colours or another width.
  const drawn = new Map();
  const redraw = () => { for (const [place, plot] of drawn) { plot.destroy(); drawn.set(place, draw(place)); } };
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (isIntersecting && !drawn.has(target)) { drawn.set(target, draw(target)); near.unobserve(target); }
    }
  }, { rootMargin: "400px" });
  const drawAll = () => { for (const place of all(".plot")) if (!drawn.has(place)) drawn.set(place, draw(place)); };
  all(".plot").forEach((place) => near.observe(place));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", drawAll);
  let waiting = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
})();
