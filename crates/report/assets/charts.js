"use strict";
// Drawing: charts that answer the pointer, and the same charts as SVG, to be saved and printed.
// Whatever comes from a run is set as text, never as markup.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const drawn = new Map();
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const digits = (v) => (v == null ? "" : Number(v.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: false }));
  const short = (v) => {
    if (v >= 1024 && v % 1024 === 0) {
      for (const [size, name] of [[2 ** 30, "Gi"], [2 ** 20, "Mi"], [1024, "Ki"]]) if (v % size === 0) return v / size + name;
    }
    return digits(v);
  };
  // Steps of an axis on which all numbers are whole.
  const whole = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
  // The radius of the ring around a disturbed point, in CSS pixels.
  const ring = 7;
  // The size of a mark, in CSS pixels.
  const radius = 3.5;
  // Curves differ by the shape of their marks and by their dashes, too: paper and many eyes have no
  // colours.
  const shapes = [
    (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (x, y, r) => `M${x} ${y - 1.3 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}z`,
    (x, y, r) => `M${x} ${y - 1.4 * r}L${x + 1.4 * r} ${y}L${x} ${y + 1.4 * r}L${x - 1.4 * r} ${y}z`,
    (x, y, r) => `M${x} ${y + 1.3 * r}L${x + 1.2 * r} ${y - r}H${x - 1.2 * r}z`,
    (x, y, r) => `M${x - 1.2 * r} ${y - r / 3}h${2.4 * r}v${r / 1.5}h${-2.4 * r}z`,
    (x, y, r) => `M${x - r / 3} ${y - 1.2 * r}h${r / 1.5}v${2.4 * r}h${-r / 1.5}z`,
  ];
  const dashes = [[], [9, 4], [2, 3], [9, 3, 2, 3], [14, 5]];
  const straight = [1, 3];
  const colours = ["#3b7dd8", "#d9632b", "#2f9e5b", "#b04fc4", "#b58900", "#0f9aa8", "#d6336c", "#7a8793"];

  // Points of one curve at the same x get neighbouring indices; the legend there shows all of them.
  const table = (chart) => {
    const most = new Map();
    for (const { points } of chart.curves) {
      const counts = new Map();
      for (const [x] of points) counts.set(x, (counts.get(x) ?? 0) + 1);
      for (const [x, count] of counts) most.set(x, Math.max(count, most.get(x) ?? 0));
    }
    const xs = [...most.keys()].sort((a, b) => a - b).flatMap((x) => Array(most.get(x)).fill(x));
    const place = new Map();
    xs.forEach((x, i) => { if (!place.has(x)) place.set(x, i); });
    const data = [xs];
    const intervals = [null];
    const disturbed = [null];
    // The legend shows the values of the table.
    const series = [{ label: chart.x, value: (_, v) => (v == null ? "" : short(v)) }];
    chart.curves.forEach((curve, i) => {
      const ys = xs.map(() => null);
      const marks = xs.map(() => null);
      const doubtful = xs.map(() => false);
      const told = new Map();
      for (const [x, y, interval, text, isDisturbed] of curve.points) {
        const here = told.get(x) ?? [];
        const at = place.get(x) + here.length;
        ys[at] = y; marks[at] = interval; doubtful[at] = isDisturbed;
        here.push(text);
        told.set(x, here);
      }
      const texts = xs.map((x) => told.get(x)?.join("; "));
      const colour = colours[i % colours.length];
      // Neighbouring points with a cache level between them that has no point.
      const apart = chart.unconnected?.[i] ?? [];
      data.push(ys);
      intervals.push(marks);
      disturbed.push(doubtful);
      series.push({
        label: curve.name || chart.name, stroke: colour, width: 2, spanGaps: apart.length === 0, points: { show: false },
        gaps: (plot) => apart.map((ends) => ends.map((x) => plot.valToPos(x, "x", true))), apart,
        dash: dashes[i % dashes.length], shape: shapes[i % shapes.length],
        value: (_, v, s, at) => texts[at] ?? "",
      });
      if (curve.line) {
        const { name, intercept, slope } = curve.line;
        data.push(xs.map((x) => (x >= curve.points[0][0] && x <= curve.points.at(-1)[0] ? intercept + slope * x : null)));
        intervals.push(null);
        disturbed.push(null);
        series.push({ label: (curve.name ? curve.name + " " : "") + name, stroke: colour, width: 1, dash: straight, spanGaps: true, points: { show: false }, value: (_, v) => digits(v) });
      }
    });
    return { data, series, intervals, disturbed };
  };

  // The mark of each point, its interval from the low end to the high end, and a ring around what
  // is disturbed.
  const drawMarks = (shapes, intervals, disturbed) => (plot) => {
    const context = plot.ctx;
    context.save();
    context.lineWidth = devicePixelRatio;
    context.setLineDash([]);
    intervals.forEach((marks, s) => {
      if (!marks || !plot.series[s].show) return;
      context.strokeStyle = context.fillStyle = plot.series[s].stroke(plot, s);
      plot.data[s].forEach((v, i) => {
        if (v != null) context.fill(new Path2D(shapes[s](plot.valToPos(plot.data[0][i], "x", true), plot.valToPos(v, "y", true), radius * devicePixelRatio)));
      });
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
      disturbed[s].forEach((is, i) => {
        if (!is) return;
        context.beginPath();
        context.arc(plot.valToPos(plot.data[0][i], "x", true), plot.valToPos(plot.data[s][i], "y", true), ring * devicePixelRatio, 0, 2 * Math.PI);
        context.stroke();
      });
    });
    context.restore();
  };

  // Where levels of the caches end, in CSS pixels of the plot; names that would touch stand in
  // rows.
  const placed = (levels, plot) => {
    let row = 0;
    let last = -Infinity;
    return levels.map(([bytes, name]) => {
      const x = plot.valToPos(bytes, "x");
      row = x - last < 8 * name.length ? row + 1 : 0;
      last = x;
      return { x, row, name };
    });
  };
  const drawLevels = (levels, colour) => (plot) => {
    const context = plot.ctx;
    const { left, top, height } = plot.bbox;
    context.save();
    context.scale(devicePixelRatio, devicePixelRatio);
    context.translate(left / devicePixelRatio, top / devicePixelRatio);
    context.lineWidth = 1;
    context.strokeStyle = context.fillStyle = colour;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.setLineDash([3, 3]);
    for (const { x, row, name } of placed(levels, plot)) {
      context.beginPath();
      context.moveTo(x, 0); context.lineTo(x, height / devicePixelRatio);
      context.stroke();
      context.fillText(name, x + 3, 11 + 12 * row);
    }
    context.restore();
  };

  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  // A piece of a curve with its mark, for a legend.
  const piece = ({ stroke, width, dash, shape }, x, y) => {
    const line = make("path", { d: `M${x} ${y}h34`, fill: "none", stroke, "stroke-width": width, ...(dash?.length && { "stroke-dasharray": dash.join(" ") }) });
    return [line, ...(shape ? [make("path", { d: shape(x + 17, y, radius), fill: stroke })] : [])];
  };
  const sample = (series) => {
    const drawing = make("svg", { class: "mark", viewBox: "0 0 34 12" });
    drawing.append(...piece(series, 0, 6));
    return drawing;
  };

  // Room for the longest of some texts beside an axis, in CSS pixels.
  const widest = (texts) => 8 * Math.max(4, ...(texts ?? []).map((text) => text.length));

  const draw = (place) => {
    const chart = charts[Number(place.dataset.chart)];
    const { data, series, intervals, disturbed } = table(chart);
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text").trim();
    const soft = style.getPropertyValue("--soft").trim();
    const grid = { stroke: style.getPropertyValue("--line").trim(), width: 1 };
    const upwards = chart.curves.flatMap((c) => c.points.flatMap((p) => [p[1], ...(p[2] ?? [])]));
    // A linear axis has 0, so that lengths can be compared.
    const highest = Math.max(...upwards, 0);
    const lowest = Math.min(...upwards, 0);
    const { log_x_axis: across, log_y_axis: up } = chart;
    const range = up?.range ?? [lowest * 1.05, highest > lowest ? highest * 1.05 : 1];
    // A logarithmic axis comes with its labels, since those of the library are multiples of its low
    // end.
    const labelled = (axis) => axis && {
      splits: () => axis.ticks.map(([value]) => value), filter: (_, splits) => splits, values: () => axis.ticks.map(([, label]) => label),
    };
    place.replaceChildren();
    const plot = new uPlot({
      width: Math.max(200, place.clientWidth), height: innerWidth > 784 ? 340 : 260, series,
      scales: { x: { time: false, distr: across ? 3 : 1, ...(across && { range: across.range }) }, y: { range, distr: up ? 3 : 1 } },
      axes: [
        { stroke: text, grid, label: chart.x, incrs: data[0].every(Number.isInteger) ? whole : undefined, labelSize: 20, values: (_, vs) => vs.map((v) => (v == null ? "" : short(v))), ...labelled(across) },
        { stroke: text, grid, label: chart.y, labelSize: 20, size: (_, texts) => 20 + widest(texts), values: (_, vs) => vs.map(digits), ...labelled(up) },
      ],
      cursor: { drag: { x: false, y: false } },
      hooks: { draw: [drawMarks(series.map((s) => s.shape), intervals, disturbed), drawLevels(chart.levels, soft)] },
    }, data, place);
    // The legend shows the line and the mark of each curve.
    plot.root.querySelectorAll(".u-legend .u-series").forEach((row, i) => {
      row.querySelector(".u-marker").replaceWith(...(i > 0 ? [sample(series[i])] : []));
    });
    // To a screen reader the place is an image with a name: what the pointer shows in it stands in
    // the table.
    plot.root.setAttribute("aria-hidden", "true");
    return plot;
  };

  // The same chart for paper: black on white, wherever it stands.
  const ink = "#1b1f24";
  const svg = (place) => {
    const chart = charts[Number(place.dataset.chart)];
    const plot = drawn.get(place);
    plot.batch(() => {}); // One that was made just now is laid out.
    const left = plot.bbox.left / devicePixelRatio;
    const top = plot.bbox.top / devicePixelRatio;
    const width = plot.bbox.width / devicePixelRatio;
    const height = plot.bbox.height / devicePixelRatio;
    const round = (v) => Math.round(v * 100) / 100;
    const x = (v) => round(left + plot.valToPos(v, "x"));
    const y = (v) => round(top + plot.valToPos(v, "y"));
    const { series: drawings, intervals, disturbed } = table(chart);
    const [across, up] = plot.axes;
    const below = top + height + 56;
    const named = plot.series.map((series, i) => ({ series, data: plot.data[i] })).slice(1);
    const whole = make("svg", { viewBox: `0 0 ${plot.width} ${below + 16 * named.length}`, "font-family": "sans-serif", "font-size": 11, fill: ink });
    whole.append(make("title", {}, chart.name), make("desc", {}, place.getAttribute("aria-label")), make("rect", { width: "100%", height: "100%", fill: "#fff" }));
    across._splits.forEach((v, i) => {
      if (v == null) return;
      whole.append(make("path", { d: `M${x(v)} ${top}v${height}`, stroke: "#d1d9e0" }), make("text", { x: x(v), y: top + height + 16, "text-anchor": "middle" }, across._values[i] ?? ""));
    });
    up._splits.forEach((v, i) => {
      if (v == null) return;
      whole.append(make("path", { d: `M${left} ${y(v)}h${width}`, stroke: "#d1d9e0" }), make("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, up._values[i] ?? ""));
    });
    whole.append(make("text", { x: left + width / 2, y: top + height + 36, "text-anchor": "middle" }, chart.x));
    whole.append(make("text", { transform: `translate(${left - 12 - widest(up._values)} ${top + height / 2}) rotate(-90)`, "text-anchor": "middle" }, chart.y));
    for (const level of placed(chart.levels, plot)) {
      const at = round(left + level.x);
      whole.append(make("path", { d: `M${at} ${top}v${height}`, stroke: "#59636e", "stroke-dasharray": "3 3" }), make("text", { x: at + 3, y: top + 11 + 12 * level.row, fill: "#59636e" }, level.name));
    }
    named.forEach(({ series, data }, i) => {
      const stroke = series.stroke(plot, i + 1);
      const points = data.map((v, at) => (v == null ? null : [plot.data[0][at], v])).filter(Boolean);
      const { dash, shape, apart = [] } = drawings[i + 1];
      const line = { fill: "none", stroke, "stroke-width": series.width, ...(dash.length && { "stroke-dasharray": dash.join(" ") }) };
      const pieces = [[]];
      points.forEach((point, at) => {
        if (at > 0 && apart.some(([a, b]) => a === points[at - 1][0] && b === point[0])) pieces.push([]);
        pieces.at(-1).push(point);
      });
      for (const own of pieces) whole.append(make("polyline", { points: own.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), ...line }));
      if (shape) for (const [a, b] of points) whole.append(make("path", { class: "mark", d: shape(x(a), y(b), radius), fill: stroke }));
      (intervals[i + 1] ?? []).forEach((interval, at) => {
        if (!interval) return;
        const mid = x(plot.data[0][at]);
        const [low, high] = interval.map(y);
        whole.append(make("path", { d: `M${mid} ${low}V${high}M${mid - 4} ${low}h8M${mid - 4} ${high}h8`, stroke }));
      });
      (disturbed[i + 1] ?? []).forEach((is, at) => {
        if (is) whole.append(make("circle", { cx: x(plot.data[0][at]), cy: y(plot.data[i + 1][at]), r: ring, fill: "none", stroke }));
      });
      const at = below + 16 * i;
      whole.append(...piece(drawings[i + 1], left, at), make("text", { x: left + 40, y: at + 4 }, series.label));
    });
    return whole;
  };

  const ensure = (place) => { if (!drawn.has(place)) drawn.set(place, draw(place)); };
  const save = (place) => {
    ensure(place);
    const { name, x, y } = charts[Number(place.dataset.chart)];
    const text = new XMLSerializer().serializeToString(svg(place));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = `${name}-${y.split(" ")[0]}-${x}`.replace(/[^\w.-]+/g, "_") + ".svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  for (const place of all(".plot")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save as SVG";
    button.setAttribute("aria-label", `Save as SVG: ${charts[Number(place.dataset.chart)].name}`);
    button.addEventListener("click", () => save(place));
    place.after(button);
  }

  // A chart is drawn when it comes near, and again in other colours or another width.
  const redraw = () => { for (const [place, plot] of drawn) { plot.destroy(); drawn.set(place, draw(place)); } };
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (isIntersecting) { ensure(target); near.unobserve(target); }
    }
  }, { rootMargin: "400px" });
  all(".plot").forEach((place) => near.observe(place));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper gets lines, not points of a screen.
  addEventListener("beforeprint", () => { for (const place of all(".plot")) { ensure(place); place.append(svg(place)); } });
  addEventListener("afterprint", () => { for (const drawing of all(".plot > svg")) drawing.remove(); });
  let waiting = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
})();
