// All tests in one process, so that they share one browser (run.sh sets the variable).

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const wanted = process.env.PROCA_BROWSER_TESTS.split(" ").filter(Boolean);
for (const file of readdirSync(dirname(fileURLToPath(import.meta.url))).sort()) {
  const name = file.match(/^(.*)_test\.mjs$/)?.[1];
  if (name && (wanted.length === 0 || wanted.includes(name))) await import(`./${file}`);
}
