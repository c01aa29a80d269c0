// One tooltip for the whole page. It is an element, not part of a canvas, so that it can be wider
// than its chart and is there for screen readers.

function showTooltip(clientX, clientY, lines) {
  const box = document.getElementById("tooltip");
  box.replaceChildren(...lines.map((line) => element("div", {}, line)));
  box.hidden = false;
  // Beside the pointer, on the side that has room.
  const { width, height } = box.getBoundingClientRect();
  const gap = 14;
  const left = clientX + gap + width > window.innerWidth ? clientX - gap - width : clientX + gap;
  const top_ = clientY + gap + height > window.innerHeight ? clientY - gap - height : clientY + gap;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top_)}px`;
}

function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}

// Shows a tooltip when the element is pointed at or focused.
function explain(node, lines) {
  node.addEventListener("pointerenter", (event) => showTooltip(event.clientX, event.clientY, lines()));
  node.addEventListener("pointerleave", hideTooltip);
  node.addEventListener("focus", () => {
    const box = node.getBoundingClientRect();
    showTooltip(box.right, box.bottom, lines());
  });
  node.addEventListener("blur", hideTooltip);
  return node;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTooltip();
});
window.addEventListener("scroll", hideTooltip, { passive: true });
