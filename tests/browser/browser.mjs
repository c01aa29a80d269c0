// Report pages in a browser, for the tests beside this file (run.sh sets the variables).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";

import { assemble } from "./assemble.mjs";
import { sampleData } from "./sample_data.mjs";

const folder = resolve(process.env.PROCA_BROWSER_FOLDER);
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.PROCA_BROWSER,
  // The sandbox does not work for root, which tests in containers are.
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});
after(() => browser.close());

// Writes the page of a document: assemble.mjs makes it, or the program (`by: "program"`), which
// takes a second to start and makes the same page (hostile_test.mjs compares them).
export function writePage(name, data, { charts = true, by = "assemble" } = {}) {
  mkdirSync(join(folder, "pages"), { recursive: true });
  const pageFile = join(folder, "pages", `${name}.html`);
  if (by === "program") {
    const dataFile = join(folder, "pages", `${name}.json`);
    writeFileSync(dataFile, JSON.stringify(data));
    execFileSync(process.env.PROCA_PROGRAM, ["report", dataFile, "--out", pageFile], { stdio: "inherit" });
  } else {
    writeFileSync(
      pageFile,
      assemble(data, charts ? readFileSync(process.env.PROCA_CHART_LIBRARY, "utf8") : ""),
    );
  }
  return pageFile;
}

// Opens a page of sample data, hands it to `visit(page, data)`, and then says what went wrong
// behind the scenes: errors in the console, and requests for anything but the file itself.
export async function visitReport(name, options, visit, { data, charts, ...context } = {}) {
  const document = data ?? sampleData(options);
  const url = pathToFileURL(writePage(name, document, { charts })).href;
  const page = await browser.newPage({
    viewport: { width: 1280, height: 900 },
    colorScheme: "light",
    ...context,
  });
  page.setDefaultTimeout(120_000); // A watchdog: machines that test are often busy.
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.stack));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on(
    "request",
    (request) =>
      /^(data|blob):/.test(request.url()) ||
      request.url().startsWith(url) ||
      problems.push(`request: ${request.url()}`),
  );
  try {
    await page.goto(url);
    await visit(page, document);
  } finally {
    await page.close();
  }
  assert.deepEqual(problems, []);
}

export async function screenshot(page, name) {
  await drawEverything(page);
  mkdirSync(join(folder, "screenshots"), { recursive: true });
  await page.screenshot({ path: join(folder, "screenshots", `${name}.png`), fullPage: true });
}

// Charts are drawn when they come into view: scroll to each.
export async function drawEverything(page) {
  for (const canvas of await page.locator("canvas").all()) {
    await canvas.scrollIntoViewIfNeeded();
    await page.waitForFunction((node) => node.dataset.drawn === "yes", await canvas.elementHandle());
  }
  await page.evaluate(() => window.scrollTo(0, 0));
}

export function artefact(name) {
  return join(folder, "screenshots", name);
}

// Rows of the table with this caption, as texts.
export function tableTexts(page, caption) {
  return page
    .locator("table", { has: page.locator("caption", { hasText: caption }) })
    .first()
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

// Presses a CSV button and returns the rows of the file, fields as texts.
export async function downloadCsv(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), rows: parseCsv(readFileSync(await download.path(), "utf8")) };
}

// RFC 4180, strictly: lines end in CRLF.
export function parseCsv(text) {
  const rows = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    rows.at(-1).push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
    if (match[3] === "\r\n") rows.push([]);
    if (pattern.lastIndex === text.length) return rows.slice(0, -1);
  }
  throw new Error(`not CSV: ${text.slice(0, 200)}`);
}
