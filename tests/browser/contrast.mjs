// Contrast as WCAG 2 defines it. The function runs in the page.

// Texts that are seen and have less than 4.5 : 1 on their ground (3 : 1 if they are large).
export function textsOfLowContrast() {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  // Any CSS colour to red, green, blue, alpha: the canvas knows them all.
  const components = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = components(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (
      !text.textContent.trim() ||
      !node.checkVisibility() ||
      node.closest("script, style, option, :disabled, .hidden")
    )
      continue;
    const style = getComputedStyle(node);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const [a, b] = [luminance(components(style.color)), luminance(groundOf(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < (large ? 3 : 4.5))
      low.push(
        `${contrast.toFixed(2)}: ${text.textContent.trim().slice(0, 40)} in <${node.tagName.toLowerCase()} class="${node.className}">`,
      );
  }
  return low;
}
