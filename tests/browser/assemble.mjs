// Puts a report page together from its parts, as `proca report FILE.json` does.
//
//   node assemble.mjs DATA.json PAGE.html [CHART-LIBRARY.js]
//
// Without a chart library the page has tables only.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const parts = join(dirname(fileURLToPath(import.meta.url)), "../../src/report/page");
const part = (name) => readFileSync(join(parts, name), "utf8");

const kEntities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (letter) => kEntities[letter]);
}

export function assemble(data, chartLibrary) {
  const scripts = readdirSync(join(parts, "scripts"), { recursive: true })
    .filter((name) => name.endsWith(".js"))
    .sort();
  const values = {
    title: escapeHtml(data.title),
    style: part("style.css"),
    "chart-library": chartLibrary,
    script: scripts.map((name) => part(`scripts/${name}`)).join("\n"),
    // "</script>" in a name must not end the element.
    data: JSON.stringify(data).replaceAll("<", "\\u003c"),
  };
  // In one pass, because values may contain what looks like a placeholder.
  return part("page.html").replace(/\{\{([a-z-]+)\}\}/g, (_, name) => values[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dataFile, pageFile, libraryFile] = process.argv.slice(2);
  const library = libraryFile ? readFileSync(libraryFile, "utf8") : "";
  writeFileSync(pageFile, assemble(JSON.parse(readFileSync(dataFile, "utf8")), library));
}
