"use strict";
// Sorting, filtering and unfolding. Whatever comes from a run is set as text, never as markup.
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

  // A link to a figure shows what stands behind it.
  const follow = () => {
    const details = /^#entry-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    const body = details && details.closest("tbody");
    if (!body) return;
    body.hidden = false;
    unfold(body, true);
    body.scrollIntoView();
    body.querySelector("th.name button").focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#entry-']");
    if (!link || link.hash !== location.hash) return;
    event.preventDefault();
    follow();
  });

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
  // The collator compares the digits after a point, and below 0, as whole numbers.
  const numbers = /((?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]))/i;
  const byWords = (a, b) => {
    const [own, other] = [a, b].map((text) => text.split(numbers));
    for (let i = 0; i < Math.min(own.length, other.length); i++) {
      const first = i % 2 ? own[i] - other[i] : words.compare(own[i], other[i]);
      if (first) return first;
    }
    return own.length - other.length;
  };
  const order = (a, b, sign) => {
    if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
    if (a.unit !== b.unit) return words.compare(a.unit, b.unit);
    return sign * (typeof a.value === "string" ? byWords(a.value, b.value) : a.value - b.value);
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
  // The words of the page in a row, and those that it shows in another form or place.
  const texts = new Map();
  const textOf = (body) => {
    if (!texts.has(body)) {
      const cells = all(":scope > tr:not(.more) > *", body).map((cell) => cell.textContent);
      texts.set(body, [body.dataset.text, ...cells].join(" ").toLowerCase());
    }
    return texts.get(body);
  };
  // `invalid` contains `valid`.
  const contains = (text, word) => (word === "valid" ? text.split(/\s+/).includes(word) : text.includes(word));
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const body of bodies) {
      body.hidden = !wanted.every((word) => contains(textOf(body), word));
      shown += body.hidden ? 0 : 1;
    }
    found.textContent = wanted.length ? `${shown} of ${bodies.length} rows` : "";
  });

  // Paper shows the folded parts of the page, except the details of each figure.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = all("details.folded:not([open])");
    for (const details of unfolded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of unfolded) details.open = false; });
  // A link to folded facts unfolds them.
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href='#facts']");
    if (link) document.getElementById("facts").closest("details").open = true;
  });
  follow();
})();
