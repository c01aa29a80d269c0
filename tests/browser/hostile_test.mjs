// Names are text, whatever they look like.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { downloadCsv, drawEverything, screenshot, visitReport, writePage } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

// All other tests use pages that assemble.mjs puts together.
test(
  "the program makes the same page",
  { skip: process.env.PROCA_PROGRAM ? false : "PROCA_PROGRAM is not set" },
  () => {
    const document = sampleData({ runs: 3, classes: 12, steps: 3, seeds: 2, hostile: true, unfinished: 1 });
    const parts = (options) => {
      const text = readFileSync(writePage("by-both", document, options), "utf8");
      const begin = text.indexOf('id="report-data">') + 'id="report-data">'.length;
      const end = text.indexOf("</script>", begin);
      return { page: text.slice(0, begin) + text.slice(end), data: JSON.parse(text.slice(begin, end)) };
    };
    const [ours, programs] = [parts(), parts({ by: "program" })];
    assert.deepEqual(programs.data, document);
    assert.deepEqual(ours.data, document);
    assert.equal(programs.page.replace(/\s+/g, " "), ours.page.replace(/\s+/g, " "));
  },
);

test("names that look like markup are shown as they are", async () => {
  // Dialogs, errors and requests are problems, which visitReport refuses.
  await visitReport(
    "hostile",
    { runs: 3, classes: 12, steps: 3, seeds: 2, hostile: true, unfinished: 1 },
    async (page, data) => {
      await drawEverything(page);
      assert.equal(await page.locator("h1").innerText(), "<b>Report</b> & {{data}}");
      assert.equal(await page.title(), "<b>Report</b> & {{data}}");
      const names = await page.locator("#classes tbody th").allTextContents();
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
        rows
          .slice(1)
          .map((row) => row[1])
          .sort(),
        [...data.runs[0].classes].sort(),
      );
    },
  );
});

test("a picture that is an address is not asked for", async () => {
  const data = sampleData({ runs: 1 });
  const images = data.runs[0].seeds[0].steps.at(-1).prototypes[0].images;
  images[0].src = "https://example.org/spy.png";
  images[1].src = "javascript:alert(1)";
  data.runs[0].pictures.source[0].src = "https://example.org/spy.png";
  data.runs[0].seeds[0].steps.at(-1).mistakes[0].images[0].src = "https://example.org/spy.png";
  await visitReport(
    "address",
    {},
    async (page) => {
      assert.equal(await page.locator("#prototypes img").count(), 48, "10 classes of 5, without these two");
      assert.equal(await page.locator("#strips img").count(), 15);
      assert.equal(await page.locator(".mistake-images .no-picture").count(), 1);
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
