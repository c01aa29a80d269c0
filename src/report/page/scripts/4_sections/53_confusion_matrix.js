// The matrix itself, on a canvas: 65 classes are 4225 cells.

// In the order shown: labels, names, counts by row and column, where groups begin.
function confusionCells(run, triples, byGroup) {
  const predictions = triples.flatMap(([truth, predicted]) => [truth, predicted]);
  const seen = [...new Set([...(run.classes ?? []).keys(), ...predictions])];
  // Classes of the source that never arrive come last.
  const groupOf = (label) => arrivalStep(run, label) ?? Infinity;
  const labels = seen.sort((a, b) =>
    byGroup && groupOf(a) !== groupOf(b) ? groupOf(a) - groupOf(b) : a - b,
  );
  const place = new Map(labels.map((label, index) => [label, index]));
  const counts = labels.map(() => new Map());
  for (const [truth, predicted, images] of triples)
    counts[place.get(truth)].set(place.get(predicted), images);
  const isBorder = (label, index) => index > 0 && groupOf(label) !== groupOf(labels[index - 1]);
  return {
    labels,
    names: labels.map((label) => className(run, label)),
    counts,
    totals: counts.map((row) => [...row.values()].reduce((sum, images) => sum + images, 0)),
    borders: byGroup ? labels.flatMap((label, index) => (isBorder(label, index) ? [index] : [])) : [],
  };
}

// `show({label, predicted})` is called when a cell is chosen.
function confusionMatrix(cells, name, show) {
  const canvas = element("canvas", {
    class: "confusion",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "matrix",
    "aria-label": `${name}; move with the arrow keys, Enter shows the images of a cell`,
  });
  const spoken = element("p", { class: "hidden", "aria-live": "polite" });
  const box = scrollBox(name, canvas);
  box.removeAttribute("tabindex"); // The canvas is what gets the focus.
  let layout = null;
  let cursor = { row: 0, column: 0 };
  drawLazily(canvas, () => {
    layout = drawConfusion(canvas, cells, box.closest(".column").clientWidth);
    return () => {};
  });

  const lines = ({ row, column }) => {
    const images = cells.counts[row].get(column) ?? 0;
    const share =
      cells.totals[row] > 0
        ? `, ${decimals((100 * images) / cells.totals[row])} % of ${countText(cells.totals[row])}`
        : "";
    return [
      `True: ${cells.names[row]}`,
      `Predicted: ${cells.names[column]}`,
      `${plural(images, "image")}${share}`,
    ];
  };
  canvas.addEventListener("pointermove", (event) => {
    const cell = layout?.cellAt(event.offsetX, event.offsetY);
    if (cell) showTooltip(event.clientX, event.clientY, lines(cell));
    else hideTooltip();
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  canvas.addEventListener("blur", hideTooltip);
  const choose_ = ({ row, column }) => show({ label: cells.labels[row], predicted: cells.labels[column] });
  canvas.addEventListener("click", (event) => {
    const cell = layout?.cellAt(event.offsetX, event.offsetY);
    if (!cell) return;
    cursor = cell;
    choose_(cell);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose_(cursor);
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move || !layout) return;
    event.preventDefault();
    const clamp = (value) => Math.min(cells.names.length - 1, Math.max(0, value));
    cursor = { row: clamp(cursor.row + move[0]), column: clamp(cursor.column + move[1]) };
    const place = canvas.getBoundingClientRect();
    const [x, y] = layout.centreOf(cursor);
    showTooltip(place.left + x, place.top + y, lines(cursor));
    spoken.textContent = lines(cursor).join(". ");
  });
  return element("div", { class: "confusion-box" }, box, spoken);
}

const kMostBesideTable = 40;

// As large as the box allows, with names if a cell is as high as a line of small text.
function drawConfusion(canvas, cells, width) {
  const count = cells.names.length;
  // Beside a matrix of few classes there is room for the most frequent mistakes.
  if (count <= kMostBesideTable) width = Math.min(width, 700);
  const cellBeside = (space) => Math.min(30, Math.floor((width - space) / count));
  const named = cellBeside(130) >= 10;
  const margin = named ? 130 : 20;
  const cell = Math.max(8, cellBeside(margin));
  const size = cell * count;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = (size + margin) * ratio;
  canvas.height = (size + margin) * ratio;
  canvas.style.width = `${size + margin}px`;
  canvas.style.height = `${size + margin}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  ctx.translate(margin, margin);
  ctx.fillStyle = themeColour("--heat-low");
  ctx.fillRect(0, 0, size, size);
  const [high, light, dark, line] = ["--heat-high", "--heat-strong-text", "--heat-text", "--muted"].map(
    themeColour,
  );
  const font = (pixels) => `${pixels}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = "middle";
  cells.counts.forEach((row, r) => {
    for (const [c, images] of row) {
      const share = images / cells.totals[r];
      // A single image in a large class should still be seen.
      ctx.globalAlpha = Math.max(0.12, share);
      ctx.fillStyle = high;
      ctx.fillRect(c * cell, r * cell, cell, cell);
      ctx.globalAlpha = 1;
      if (cell < 18) continue;
      ctx.fillStyle = share >= kStrongShare ? light : dark;
      ctx.textAlign = "center";
      ctx.font = font(images > 999 || cell < 22 ? 9 : 11);
      ctx.fillText(String(images), (c + 0.5) * cell, (r + 0.5) * cell + 0.5);
    }
  });
  drawConfusionFrame(ctx, cells, cell, line);
  if (named) drawConfusionNames(ctx, cells, cell, margin, font(Math.min(12, cell - 1)));
  return {
    cellAt(x, y) {
      const [column, row] = [x, y].map((value) => Math.floor((value - margin) / cell));
      return row >= 0 && column >= 0 && row < count && column < count ? { row, column } : null;
    },
    centreOf: ({ row, column }) => [margin + (column + 0.5) * cell, margin + (row + 0.5) * cell],
  };
}

function drawConfusionFrame(ctx, cells, cell, colour) {
  const size = cell * cells.names.length;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.strokeRect(0.5, 0.5, size - 1, size - 1);
  for (const border of cells.borders) {
    const at = border * cell + 0.5;
    drawLine(ctx, at, 0, at, size);
    drawLine(ctx, 0, at, size, at);
  }
}

function drawConfusionNames(ctx, cells, cell, margin, font) {
  ctx.fillStyle = themeColour("--muted");
  ctx.font = font.replace(/^\d+/, "12");
  ctx.textAlign = "right";
  ctx.fillText("true ↓  predicted →", -8, -12, margin - 8);
  ctx.fillStyle = themeColour("--ink");
  ctx.font = font;
  cells.names.forEach((name, index) => {
    const text = shortened(name, 20);
    ctx.textAlign = "right";
    ctx.fillText(text, -5, (index + 0.5) * cell, margin - 8);
    ctx.save();
    ctx.translate((index + 0.5) * cell, -5);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "left";
    ctx.fillText(text, 0, 0, margin - 8);
    ctx.restore();
  });
}
