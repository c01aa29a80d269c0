// Pages that lack something say so.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { screenshot, tableTexts, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const textOf = (page, section) => page.locator(`#${section}`).innerText();

test("without the chart library there are tables in place of charts", async () => {
  await visitReport(
    "no-charts",
    { runs: 2, classes: 10, steps: 3, seeds: 2 },
    async (page, data) => {
      await page.getByText("built without a chart library").waitFor();
      assert.equal(await page.locator("figure canvas").count(), 0);
      assert.equal(await page.locator("#accuracy tbody tr").count(), 18, "3 curves, 2 runs, 3 steps");
      assert.equal(await page.locator("#detection tbody tr").count(), 10);
      assert.equal(
        await page.locator("#losses tbody tr").count(),
        data.runs[0].seeds[0].losses.points.length,
      );
      assert.equal(await page.locator("canvas.confusion").count(), 1, "which needs no library");
      await screenshot(page, "no-charts");
    },
    { charts: false },
  );
});

test("an unfinished run says how far it is", async () => {
  await visitReport("unfinished", { runs: 2, classes: 10, steps: 3, unfinished: 1 }, async (page, data) => {
    const text = `${data.runs[1].name}: running, 2 of 3 steps done`;
    assert.ok((await page.locator("#unfinished").innerText()).includes(text));
    assert.equal(await page.locator("#summary .badge").innerText(), "running, 2 of 3 steps done");
    await page.selectOption("#pick-run", "run-1");
    assert.equal(await page.inputValue("#pick-step"), "2");
  });
});

test("a run that has just begun has empty states", async () => {
  const data = sampleData({ runs: 1 });
  Object.assign(data.runs[0], { status: "running", seeds: [{ seed: 0 }] });
  await visitReport(
    "begun",
    {},
    async (page) => {
      for (const section of ["groups", "detection", "prototypes", "confusion", "embedding"]) {
        assert.ok((await textOf(page, section)).includes("No step is done yet."), section);
      }
      assert.ok((await textOf(page, "losses")).includes("no epoch is done yet"));
      assert.ok((await page.locator("#unfinished").innerText()).includes("0 of 3 steps done"));
    },
    { data },
  );
});

test("a state directory has no labels, and the page says what that means", async () => {
  await visitReport("unlabelled", { runs: 1, classes: 10, steps: 3, labelled: false }, async (page) => {
    assert.ok((await textOf(page, "summary")).includes("without labels"));
    assert.ok((await textOf(page, "accuracy")).includes("no labels"));
    assert.ok((await textOf(page, "groups")).includes("no labels"));
    assert.ok((await textOf(page, "confusion")).includes("no labels"));
    const detection = await textOf(page, "detection");
    assert.ok(detection.includes("Which are truly there is not known"));
    assert.ok(!detection.includes("missed"), "without labels there are two outcomes only");
    assert.ok(!(await page.locator("main").innerText()).includes("seed null"));
    await screenshot(page, "unlabelled");
  });
});

test("a method that detects and keeps nothing says so", async () => {
  await visitReport("plain-method", { runs: 2, classes: 10, steps: 3 }, async (page) => {
    await page.selectOption("#pick-run", "run-1");
    assert.ok((await textOf(page, "detection")).includes("source-only does not detect them"));
    assert.ok((await textOf(page, "prototypes")).includes("keeps no images"));
    assert.ok((await textOf(page, "losses")).includes("source-only does not train"));
  });
});

test("what was not recorded leaves the rest alone", async () => {
  const without = [
    "embedding",
    "confusion",
    "classes",
    "machine",
    "losses",
    "seconds",
    "peak_memory_bytes",
    "peak_gpu_memory_bytes",
    "images",
  ];
  await visitReport("little", { runs: 1, without }, async (page) => {
    assert.ok((await textOf(page, "embedding")).includes("No features of step 3 were recorded"));
    assert.ok((await textOf(page, "cost")).includes("No times were recorded"));
    assert.equal(await page.locator("#groups tbody tr").count(), 7, "4 rows of groups, 3 steps");
  });
});

test("prototypes without images are a table", async () => {
  const data = sampleData({ runs: 1 });
  const classes = data.runs[0].seeds[0].steps.at(-1).prototypes;
  for (const entry of classes) delete entry.images;
  await visitReport(
    "no-images",
    {},
    async (page) => {
      assert.ok((await textOf(page, "prototypes")).includes("leaves out the images themselves"));
      const steps = (await tableTexts(page, "Prototypes")).map((row) => Number(row[2]));
      assert.deepEqual(
        steps,
        classes.map((entry) => entry.step),
      );
    },
    { data },
  );
});

test("a page that was cut off says so", async () => {
  await visitReport("cut-off", { runs: 1 }, async (page) => {
    assert.equal(await page.locator("#reading").count(), 0);
    const whole = fileURLToPath(page.url());
    writeFileSync(`${whole}-half.html`, readFileSync(whole).subarray(0, 60_000));
    await page.goto(`${page.url()}-half.html`);
    await page.getByText("the file is damaged or cut off").waitFor();
  });
});

test("an empty document and one of another version are explained", async () => {
  const empty = { format_version: 1, title: "Nothing", runs: [] };
  await visitReport(
    "empty",
    {},
    async (page) => {
      await page.getByText("This report has no runs and no tables.").waitFor();
    },
    { data: empty },
  );
  if (process.env.PROCA_PROGRAM) return; // The program refuses the version itself.
  await visitReport(
    "version",
    {},
    async (page) => {
      await page.getByText("its data has version 2").waitFor();
    },
    { data: { ...empty, format_version: 2 } },
  );
});
