// Names are text, whatever they look like.

import assert from "node:assert/strict";
import { test } from "node:test";

import { downloadCsv, drawEverything, screenshot, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

test("names that look like markup are shown as they are", async () => {
  // Dialogs, errors and requests are problems, which visitReport refuses.
  await visitReport(
    "hostile",
    { runs: 3, classes: 12, steps: 3, seeds: 2, hostile: true, unfinished: 1 },
    async (page, data) => {
      await drawEverything(page);
      assert.equal(await page.locator("h1").innerText(), "<b>Report</b> & {{data}}");
      assert.equal(await page.title(), "<b>Report</b> & {{data}}");
      await page.locator("#confusion details summary").click();
      const names = await page.locator("#confusion details tbody th").allTextContents();
      assert.deepEqual(names, data.runs[0].classes);
      assert.equal(await page.locator("main img[src=x], main script, main b").count(), 0);
      await screenshot(page, "hostile");
    },
  );
});

test("names come out of the CSV as they went in", async () => {
  await visitReport(
    "hostile",
    { runs: 3, classes: 12, steps: 3, seeds: 2, hostile: true },
    async (page, data) => {
      const { rows } = await downloadCsv(page, page.locator("#detection button[aria-label^=Download]"));
      assert.deepEqual(
        rows.slice(1).map((row) => row[1]),
        data.runs[0].classes,
      );
    },
  );
});

test("a picture that is an address is not asked for", async () => {
  const data = sampleData({ runs: 1 });
  const images = data.runs[0].seeds[0].steps.at(-1).prototypes[0].images;
  images[0].src = "https://example.org/spy.png";
  images[1].src = "javascript:alert(1)";
  await visitReport(
    "address",
    {},
    async (page) => {
      assert.equal(await page.locator("#prototypes img").count(), 48, "10 classes of 5, without these two");
    },
    { data },
  );
});

test("long names do not make the page wider than a phone", async () => {
  await visitReport(
    "hostile",
    { runs: 3, classes: 12, steps: 3, seeds: 2, hostile: true, unfinished: 1 },
    async (page) => {
      await drawEverything(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    },
    { viewport: { width: 360, height: 740 } },
  );
});
