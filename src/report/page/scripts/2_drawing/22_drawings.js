// Canvases are drawn when they come into view: a page with many would otherwise be slow
// to open. `draw` is called with the canvas, and returns a function that undoes it.

const drawings = new Map(); // canvas -> {draw, undo}

const drawingWatcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
  },
  { rootMargin: "300px" },
);

function drawLazily(canvas, draw) {
  drawings.set(canvas, { draw, undo: null });
  drawingWatcher.observe(canvas);
}

function drawNow(canvas) {
  const drawing = drawings.get(canvas);
  if (!drawing || drawing.undo) return;
  drawing.undo = drawing.draw(canvas);
  canvas.dataset.drawn = "yes";
}

// Those that are drawn already, once more: after the colours or the data have changed.
function redraw(root = document) {
  for (const [canvas, drawing] of drawings) {
    if (!drawing.undo || !root.contains(canvas)) continue;
    drawing.undo();
    drawing.undo = drawing.draw(canvas);
  }
}

// Before the content of an element is replaced.
function forgetDrawings(root) {
  for (const [canvas, drawing] of drawings) {
    if (!root.contains(canvas)) continue;
    drawing.undo?.();
    drawingWatcher.unobserve(canvas);
    drawings.delete(canvas);
  }
}

// On paper there is no coming into view, and no dark theme. Canvases need the light colours
// before the browser has turned to its print styles, hence the theme is set here too.
function setOnPaper(paper) {
  if (onPaper === paper) return;
  onPaper = paper;
  hideTooltip();
  applyTheme(paper ? "light" : choice("theme", "auto"));
  redraw();
  if (paper) for (const canvas of drawings.keys()) drawNow(canvas);
}

function watchPrint() {
  // Media also change where a browser only pretends to print, as its developer tools do.
  const media = window.matchMedia("print");
  window.addEventListener("beforeprint", () => setOnPaper(true));
  window.addEventListener("afterprint", () => setOnPaper(media.matches));
  media.addEventListener("change", () => setOnPaper(media.matches));
  if (media.matches) setOnPaper(true);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
}
