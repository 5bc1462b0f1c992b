// Saves what a panel shows, on white, as SVG and as PNG: the drawing of `draw.js` on another canvas.

// As much of CanvasRenderingContext2D as `draw.js` uses, written down as SVG.
class SvgContext {
  constructor() {
    Object.assign(this, {
      fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1, font: FONT,
      textAlign: "left", textBaseline: "alphabetic", lineJoin: "miter",
    });
    this.hidden = { out: [], d: "", matrix: new DOMMatrix(), dash: [], groups: 0, clips: 0, stack: [] };
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  save() {
    const { hidden, ruler, ...style } = this;
    const { matrix, dash, groups } = hidden;
    hidden.stack.push({ style, matrix, dash, groups });
  }

  restore() {
    const { style, matrix, dash, groups } = this.hidden.stack.pop();
    for (; this.hidden.groups > groups; this.hidden.groups--) this.hidden.out.push("</g>");
    Object.assign(this, style);
    Object.assign(this.hidden, { matrix, dash });
  }

  setTransform(a, b, c, d, e, f) { this.hidden.matrix = new DOMMatrix([a, b, c, d, e, f]); }
  translate(x, y) { this.hidden.matrix = this.hidden.matrix.translate(x, y); }
  rotate(angle) { this.hidden.matrix = this.hidden.matrix.rotate((angle * 180) / Math.PI); }
  setLineDash(dash) { this.hidden.dash = dash; }

  beginPath() { this.hidden.d = ""; }
  moveTo(x, y) { this.hidden.d += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.hidden.d += `L${round(x)} ${round(y)}`; }
  rect(x, y, w, h) { this.hidden.d += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`; }
  // Circles only, from their right end, where the caller has moved to.
  arc(x, y, r) { this.hidden.d += `M${round(x + r)} ${round(y)}a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0`; }

  place() {
    const { a, b, c, d, e, f } = this.hidden.matrix;
    return `transform="matrix(${[a, b, c, d, e, f].map(round).join(" ")})" opacity="${this.globalAlpha}"`;
  }

  pen() {
    return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-linejoin="${this.lineJoin}"`
      + ` stroke-dasharray="${this.hidden.dash.join(" ") || "none"}"`;
  }

  clip() {
    const id = `clip${this.hidden.clips++}`;
    this.hidden.out.push(`<clipPath id="${id}"><path d="${this.hidden.d}" ${this.place()}/></clipPath><g clip-path="url(#${id})">`);
    this.hidden.groups++;
  }

  stroke() {
    if (this.hidden.d) this.hidden.out.push(`<path d="${this.hidden.d}" ${this.pen()} ${this.place()}/>`);
  }

  box(x, y, w, h, style) {
    this.hidden.out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" ${style} ${this.place()}/>`);
  }

  fillRect(x, y, w, h) { this.box(x, y, w, h, `fill="${this.fillStyle}"`); }
  strokeRect(x, y, w, h) { this.box(x, y, w, h, this.pen()); }

  text(text, x, y, style) {
    const [, bold, size] = this.font.match(/^(bold )?([\d.]+)px/);
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const down = this.textBaseline === "middle" ? 0.35 * size : 0;
    const escaped = text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
    this.hidden.out.push(`<text x="${round(x)}" y="${round(y + down)}" font-size="${size}" font-weight="${bold ? "bold" : "normal"}"`
      + ` text-anchor="${anchor}" ${style} ${this.place()}>${escaped}</text>`);
  }

  fillText(text, x, y) { this.text(text, x, y, `fill="${this.fillStyle}"`); }
  strokeText(text, x, y) { this.text(text, x, y, this.pen()); }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  svg(width, height) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
      + ` font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">${this.hidden.out.join("\n")}</svg>\n`;
  }
}

function round(v) {
  return Math.round(v * 100) / 100;
}

// The name and the legend of a panel, from the left edge; with what is shown alone. Returns their height.
function drawHead(ctx, p) {
  ctx.font = "bold 14px system-ui, 'DejaVu Sans', sans-serif";
  ctx.fillStyle = theme.ink;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.fillText(p.trace.name, 8, 14);
  let x = 8, y = 36;
  for (const layer of layers.filter((l) => present(l.key, [p.trace]) && shown(l.key))) {
    ctx.font = FONT;
    const width = ctx.measureText(layer.label).width + 42;
    if (x > 8 && x + width > p.width) [x, y] = [8, y + 20];
    ctx.save();
    ctx.translate(x, y - 7);
    drawSign(ctx, layer);
    ctx.restore();
    ctx.font = FONT;
    ctx.fillStyle = theme.ink;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.fillText(layer.label, x + 25, y);
    x += width;
  }
  return y + 14;
}

// Draws the panel as it is, on white, on the context that `make` returns for its size.
function drawSaved(p, ratio, make) {
  readTheme(false);
  const top = drawHead(new SvgContext(), p), [width, height] = [Math.round(p.width), Math.round(p.height) + top];
  const ctx = make(width, height);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, width, height);
  drawHead(ctx, p);
  drawPanel({ ...p, ctx, ratio, top });
  readTheme();
  return [ctx, width, height];
}

function save(p, kind) {
  const name = p.trace.name.replace(/[^\w+.-]+/g, "-").replace(/^-|-$/g, "") || "view";
  const give = (blob) => {
    const link = document.createElement("a");
    link.download = `${name}.${kind}`;
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  if (kind === "svg") {
    const [ctx, width, height] = drawSaved(p, 1, () => new SvgContext());
    give(new Blob([ctx.svg(width, height)], { type: "image/svg+xml" }));
  } else {
    const canvas = document.createElement("canvas"), ratio = 3;
    drawSaved(p, ratio, (width, height) => {
      [canvas.width, canvas.height] = [width * ratio, height * ratio];
      return canvas.getContext("2d");
    });
    const bytes = atob(canvas.toDataURL("image/png").split(",")[1]);
    give(new Blob([Uint8Array.from(bytes, (c) => c.charCodeAt(0))], { type: "image/png" }));
  }
}
