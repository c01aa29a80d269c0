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
      await page.locator("#detection button", { hasText: "more class" }).click();
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
    const text = `${data.runs[1].method}: running, 2 of 3 steps done`;
    assert.ok((await page.locator("#unfinished").innerText()).includes(text));
    assert.equal(await page.locator("#summary .badge").innerText(), "running, 2 of 3 steps done");
    await page.selectOption("#pick-run", "run-1");
    assert.equal(await page.inputValue("#pick-step"), "2");
  });
});

// Sections of the page that are seen, and links in its list of sections; both by id.
async function shownSections(page) {
  const idsOf = (selector) => page.locator(selector).evaluateAll((nodes) => nodes.map((node) => node.id));
  const sections = await idsOf("main section:visible");
  const links = await idsOf("#page-nav a[id]:visible");
  assert.deepEqual(
    links,
    sections.map((id) => `to-${id}`),
  );
  return sections;
}

test("of a run that has just begun there is only what is known", async () => {
  const data = sampleData({ runs: 1 });
  Object.assign(data.runs[0], { status: "running", seeds: [{ seed: 0 }] });
  await visitReport(
    "begun",
    {},
    async (page) => {
      assert.deepEqual(await shownSections(page), ["configuration", "versions"]);
      assert.ok((await page.locator("#unfinished").innerText()).includes("0 of 3 steps done"));
    },
    { data },
  );
});

test("a state directory has no labels, so there are no accuracies and no mistakes", async () => {
  await visitReport("unlabelled", { runs: 1, classes: 10, steps: 3, labelled: false }, async (page) => {
    assert.deepEqual(await shownSections(page), [
      "groups",
      "detection",
      "prototypes",
      "classes",
      "embedding",
      "losses",
      "training",
      "cost",
      "configuration",
      "versions",
    ]);
    assert.ok((await page.locator("#headline").innerText()).includes("have no labels"));
    assert.equal(await page.locator("table.heat").count(), 0);
    const detection = await textOf(page, "detection");
    assert.ok(detection.includes("Which are truly there is not known"));
    assert.ok(!detection.includes("missed"), "without labels there are two outcomes only");
    assert.ok(!(await page.locator("main").innerText()).includes("seed null"));
    await screenshot(page, "unlabelled");
  });
});

test("of a method that detects and keeps nothing the sections for that are left out", async () => {
  await visitReport("plain-method", { runs: 2, classes: 10, steps: 3 }, async (page) => {
    const own = ["detection", "prototypes", "losses"];
    const missing = async () => {
      const shown = await shownSections(page);
      return own.filter((id) => !shown.includes(id));
    };
    assert.deepEqual(await missing(), []);
    await page.selectOption("#pick-run", "run-1");
    assert.deepEqual(await missing(), own);
    // Beside a run that has them they are there, and say what is missing.
    await page.selectOption("#pick-beside", "run-0");
    assert.deepEqual(await missing(), []);
    assert.equal(
      await page.locator("#detection .column").first().locator(".empty").innerText(),
      "This run has nothing of this.",
    );
  });
});

test("a source model shows its training, and nothing of steps", async () => {
  const data = sampleData({ runs: 1, labelled: false });
  data.runs[0].seeds[0].steps = [];
  delete data.runs[0].seeds[0].losses;
  await visitReport(
    "fresh",
    {},
    async (page) => {
      assert.deepEqual(await shownSections(page), ["training", "configuration", "versions"]);
      const text = await page.locator("#headline").innerText();
      assert.ok(text.includes("right on held-out source images"), text);
      assert.ok(text.includes("has not seen images of the target yet"), text);
      const canvases = page.locator("#training figure canvas");
      assert.equal(await canvases.count(), 2, "loss and held-out accuracy");
      const range = await canvases.nth(1).evaluate(async (node) => {
        node.scrollIntoView();
        while (!node.dataset.drawn) await new Promise(requestAnimationFrame);
        const { min, max } = Chart.getChart(node).scales.y;
        return [min, max];
      });
      assert.deepEqual(range, [0, 100]);
    },
    { data },
  );
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
    const shown = await shownSections(page);
    for (const id of ["embedding", "confusion", "losses", "cost"]) assert.ok(!shown.includes(id), id);
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
