// An attention map: one large canvas for one head, small ones to choose a head by, and a line of words.
// All weights of the view are here, so head, layer, query and scale change without asking the kernel.

const HIDDEN = 65535, NOT_A_NUMBER = 65534, TOP = 65533; // codes of a cell, as the kernel writes them

// stops of the Cividis scale, dark to light, and of a scale with a neutral middle for differences
const SCALES = {
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"],
  diverging: ["8c510a", "bf812d", "dfc27d", "f0e8d2", "f5f5f5", "d2e8e6", "80cdc1", "35978f", "01665e"],
};
const rgb = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
const stops = Object.fromEntries(Object.entries(SCALES).map(([name, list]) => [name, list.map(rgb)]));

/** Colour of a share 0 ... 1 of a scale, as [r, g, b]. */
function colour(scale, share) {
  const list = stops[scale], at = share * (list.length - 1), low = Math.min(Math.floor(at), list.length - 2);
  return list[low].map((c, i) => Math.round(c + (at - low) * (list[low + 1][i] - c)));
}

/** What the model holds, read once for every drawing. */
function read(model) {
  const bytes = model.get("values"), [layers, heads, T, S] = model.get("shape");
  const codes = new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const [low, high] = model.get("bounds"), root = model.get("root"), scale = model.get("palette");
  const layer = Math.min(model.get("layer"), layers - 1), head = Math.min(model.get("head"), heads - 1);
  const code = (h, t, s) => codes[((layer * heads + h) * T + t) * S + s];
  return {
    heads, T, S, head, low, high, scale, code,
    query: Math.min(model.get("query"), T - 1),
    value: (t, s) => low + (code(head, t, s) / TOP) * (high - low),
    shade: (c) => colour(scale, root ? Math.sqrt(c / TOP) : c / TOP),
    texts: model.get("texts"), marks: model.get("marks"),
    queries: model.get("query_words"), keys: model.get("key_words"),
  };
}

function themed(el) {
  const style = getComputedStyle(el), of = (name, other) => style.getPropertyValue(name).trim() || other;
  return {
    ink: style.color,
    accent: of("--jp-error-color1", "#d32f2f"),
    mark: of("--jp-brand-color1", "#1976d2"),
    font: (size) => `${size}px ${style.fontFamily}`,
  };
}

/** A canvas of that many CSS pixels, sharp on any screen. */
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  return ctx;
}

function shortened(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let kept = text;
  while (kept.length > 1 && ctx.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

/** A title in one line, or in two where it is longer than there is room. */
function asLines(ctx, title, room) {
  const at = title.indexOf(" (");
  return ctx.measureText(title).width <= room || at < 0 ? [title] : [title.slice(0, at), title.slice(at + 1)];
}

/** Where everything lies, in CSS pixels. */
function layoutOf(ctx, d, size, sums, bar, titles) {
  const cell = Math.max(5, Math.min(46, Math.floor(size / Math.max(d.T, d.S)))); // 46: a number fits; 5: still seen
  const widest = (words) => Math.max(0, ...words.map((word) => ctx.measureText(word).width));
  const lines = asLines(ctx, titles[0], d.T * cell + 40); // below the map there are 40 pixels at least
  const left = Math.ceil(10 + 14 * lines.length + Math.min(120, widest(d.queries))), keyWidth = Math.min(110, widest(d.keys));
  const upright = keyWidth > cell - 4; // key names that do not fit beside each other stand on end
  const below = (upright ? keyWidth : 14) + 30, right = (sums ? 78 : 10) + (bar ? 58 : 0);
  const width = Math.max(left + d.S * cell + right, ctx.measureText(titles[1]).width + 6);
  return { cell, left, top: 8, below, upright, width, height: 8 + d.T * cell + below, lines };
}

function drawCells(ctx, d, at, theme) {
  const numbers = at.cell >= 30;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let t = 0; t < d.T; t++) {
    for (let s = 0; s < d.S; s++) {
      const code = d.code(d.head, t, s), x = at.left + s * at.cell, y = at.top + t * at.cell, gap = at.cell > 12 ? 1 : 0;
      const shade = code > TOP ? [128, 128, 128] : d.shade(code);
      ctx.fillStyle = code === HIDDEN ? "rgba(128,128,128,0.35)" : `rgb(${shade})`;
      ctx.fillRect(x, y, at.cell - gap, at.cell - gap);
      const text = d.texts.length ? d.texts[t * d.S + s] : code === HIDDEN ? "" : d.value(t, s).toFixed(2);
      const bright = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] > 125;
      ctx.fillStyle = code === HIDDEN ? theme.ink : bright ? "#000" : "#fff";
      ctx.font = theme.font(text.length > 5 ? 10 : at.cell < 36 ? 11 : 12);
      if (code === NOT_A_NUMBER) ctx.fillText(numbers ? "NaN" : "×", x + at.cell / 2, y + at.cell / 2);
      else if (numbers) ctx.fillText(shortened(ctx, text, at.cell - 3), x + at.cell / 2, y + at.cell / 2);
      if (!d.marks.includes(t * d.S + s)) continue; // a cell to look at: what should be nothing and is not
      ctx.strokeStyle = theme.accent;
      ctx.lineWidth = 3;
      ctx.strokeRect(x + 2, y + 2, at.cell - gap - 4, at.cell - gap - 4);
    }
  }
}

function drawNames(ctx, d, at, theme, titles) {
  const step = Math.ceil(13 / at.cell); // a name is 13 pixels high
  ctx.font = theme.font(12);
  for (let t = 0; t < d.T; t += step) {
    ctx.textAlign = "right";
    ctx.fillStyle = t === d.query ? theme.mark : theme.ink;
    ctx.fillText(shortened(ctx, d.queries[t], 120), at.left - 6, at.top + (t + 0.5) * at.cell);
  }
  ctx.fillStyle = theme.ink;
  const foot = at.top + d.T * at.cell;
  for (let s = 0; s < d.S; s += at.upright ? step : 1) {
    ctx.save();
    ctx.translate(at.left + (s + 0.5) * at.cell, foot + (at.upright ? 6 : 11));
    if (at.upright) ctx.rotate(-Math.PI / 2);
    ctx.textAlign = at.upright ? "right" : "center";
    ctx.fillText(shortened(ctx, d.keys[s], at.upright ? 110 : at.cell), 0, 0);
    ctx.restore();
  }
  ctx.textAlign = "center";
  const half = ctx.measureText(titles[1]).width / 2 + 2; // in the middle of the map, unless that cuts it off
  const middle = Math.min(Math.max(at.left + (d.S * at.cell) / 2, half), at.width - half);
  ctx.fillText(titles[1], middle, at.top + d.T * at.cell + at.below - 9);
  ctx.save();
  const tall = Math.max(...at.lines.map((line) => ctx.measureText(line).width)) / 2 + 2;
  ctx.translate(9, Math.max(tall, Math.min(at.top + (d.T * at.cell) / 2, at.height - tall)));
  ctx.rotate(-Math.PI / 2);
  at.lines.forEach((line, n) => ctx.fillText(line, 0, 14 * n));
  ctx.restore();
}

function drawScale(ctx, d, at, theme) {
  const x = at.width - 48, height = Math.max(60, Math.min(200, d.T * at.cell));
  for (let y = 0; y < height; y++) {
    ctx.fillStyle = `rgb(${d.shade(TOP * (1 - y / (height - 1)))})`;
    ctx.fillRect(x, at.top + y, 10, 1);
  }
  const short = (v) => (Math.abs(v) >= 1e4 ? v.toExponential(0) : String(Number(v.toPrecision(2))));
  ctx.fillStyle = theme.ink;
  ctx.font = theme.font(11);
  ctx.textAlign = "left";
  ctx.fillText(short(d.high), x + 13, at.top + 6);
  ctx.fillText(short(d.low), x + 13, at.top + height - 6);
}

function drawRow(ctx, d, at, theme) {
  if (d.query < 0) return;
  ctx.strokeStyle = theme.mark;
  ctx.lineWidth = 3;
  ctx.strokeRect(at.left - 2, at.top + d.query * at.cell - 2, d.S * at.cell + 3, at.cell + 3);
}

function drawSums(ctx, sums, d, at, theme) {
  ctx.textAlign = "left";
  ctx.font = theme.font(12);
  sums.forEach(([text, wrong], t) => {
    ctx.fillStyle = wrong ? theme.accent : theme.ink;
    ctx.fillText(text, at.left + d.S * at.cell + 8, at.top + (t + 0.5) * at.cell);
  });
}

function render({ model, el }) {
  el.classList.add("attnlab-map");
  const make = (tag, name, parent = el) => {
    const made = document.createElement(tag);
    made.className = name;
    parent.append(made);
    return made;
  };
  const heading = make("div", "attnlab-title");
  const thumbs = make("div", "attnlab-heads");
  const canvas = make("canvas", "attnlab-canvas");
  const hover = make("div", "attnlab-hover");
  const line = make("div", "attnlab-line");
  thumbs.setAttribute("role", "group");
  thumbs.setAttribute("aria-label", "heads");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "attention map; up and down choose a query, left and right a head");
  canvas.setAttribute("data-lm-suppress-shortcuts", "true"); // else Jupyter moves to another cell
  line.setAttribute("role", "status");
  let data, at;

  const choose = (name, value, count) => {
    if (value < 0 || value >= count || value === model.get(name)) return;
    model.set(name, value);
    model.save_changes();
  };

  function drawHeads() {
    const shown = model.get("thumbnails") && data.heads > 1;
    thumbs.hidden = !shown;
    while (thumbs.childElementCount > (shown ? data.heads : 0)) thumbs.lastChild.remove();
    for (let h = 0; shown && h < data.heads; h++) {
      let button = thumbs.children[h];
      if (!button) {
        button = make("button", "attnlab-head", thumbs);
        button.type = "button";
        button.setAttribute("data-lm-suppress-shortcuts", "true");
        button.setAttribute("aria-label", `head ${h}`);
        button.append(document.createElement("canvas"), `head ${h}`);
        button.onclick = () => choose("head", h, data.heads);
      }
      const small = button.firstChild, ctx = small.getContext("2d");
      small.width = data.S;
      small.height = data.T;
      const image = ctx.createImageData(data.S, data.T);
      for (let i = 0; i < data.S * data.T; i++) {
        const code = data.code(h, Math.floor(i / data.S), i % data.S);
        image.data.set(code > TOP ? [128, 128, 128, 90] : [...data.shade(code), 255], 4 * i);
      }
      ctx.putImageData(image, 0, 0);
    }
    drawChoice();
  }

  const drawChoice = () => [...thumbs.children].forEach((b, h) => b.setAttribute("aria-pressed", h === data.head));

  function draw() {
    data = read(model);
    if (!el.isConnected || !data.T || !data.S) return;
    const theme = themed(el), sums = model.get("sums"), titles = model.get("axes");
    const probe = canvas.getContext("2d");
    probe.font = theme.font(12);
    at = layoutOf(probe, data, model.get("size"), sums.length, model.get("scale"), titles);
    const ctx = sized(canvas, at.width, at.height);
    drawCells(ctx, data, at, theme);
    drawNames(ctx, data, at, theme, titles);
    if (model.get("scale")) drawScale(ctx, data, at, theme);
    if (sums.length) drawSums(ctx, sums, data, at, theme);
    drawRow(ctx, data, at, theme);
    canvas.dataset.drawn = Number(canvas.dataset.drawn || 0) + 1;
  }

  function say() {
    heading.textContent = model.get("title");
    line.textContent = model.get("line");
    canvas.setAttribute("aria-label", `${model.get("title")}. ${model.get("line")}`);
  }

  let waiting = 0;
  const redraw = () => { // several traits change at once; one drawing will do
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); if (data.T) drawHeads(); });
  };

  const cellUnder = (event) => {
    const box = canvas.getBoundingClientRect();
    const s = Math.floor((event.clientX - box.left - at.left) / at.cell);
    const t = Math.floor((event.clientY - box.top - at.top) / at.cell);
    return t >= 0 && t < data.T && s < data.S ? [t, s] : null;
  };
  canvas.onclick = (event) => {
    const cell = cellUnder(event);
    if (cell && data.query >= 0) choose("query", cell[0], data.T);
  };
  canvas.onmousemove = (event) => {
    const cell = cellUnder(event);
    if (!cell || cell[1] < 0) return void (hover.textContent = "");
    const code = data.code(data.head, ...cell), i = cell[0] * data.S + cell[1];
    const value = code === HIDDEN ? "hidden" : code === NOT_A_NUMBER ? "NaN" : data.value(...cell).toFixed(3);
    hover.textContent = `${data.queries[cell[0]]} → ${data.keys[cell[1]]}: ${data.texts[i] || value}`;
  };
  canvas.onmouseleave = () => (hover.textContent = "");
  canvas.onkeydown = (event) => {
    const step = { ArrowUp: ["query", -1], ArrowDown: ["query", 1], ArrowLeft: ["head", -1], ArrowRight: ["head", 1] }[event.key];
    if (!step || data.query < 0) return;
    event.preventDefault();
    event.stopPropagation();
    choose(step[0], data[step[0]] + step[1], step[0] === "head" ? data.heads : data.T);
  };

  const drawn = ["values", "shape", "bounds", "root", "palette", "layer", "head", "query", "texts", "marks", "sums",
    "query_words", "key_words", "axes", "size", "scale", "thumbnails"].map((name) => `change:${name}`).join(" ");
  const said = "change:line change:title";
  model.on(drawn, redraw);
  model.on(said, say);
  const theme = new MutationObserver(redraw); // a change of theme changes an attribute of the page's body
  theme.observe(document.body, { attributes: true });
  say();
  redraw();
  return () => {
    theme.disconnect();
    model.off(drawn, redraw);
    model.off(said, say);
  };
}

export default { render };
