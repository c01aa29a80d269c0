// The result in short: figures, a verdict in words, images of source and target.

import assert from "node:assert/strict";
import { test } from "node:test";

import { visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const finalMean = (run) => mean(run.seeds.map((seed) => seed.metrics.final_accuracy_percent));
const figures = (page) => page.locator("#headline .figure .value").allInnerTexts();
const verdict = (page) => page.locator("#headline .verdict").innerText();

// A final accuracy of every seed.
function setFinal(run, percent) {
  for (const seed of run.seeds) seed.metrics.final_accuracy_percent = percent;
}

test("method, source only and the points between them, in figures and in words", async () => {
  const data = sampleData({ runs: 2, seeds: 2 });
  setFinal(data.runs[0], 98.02);
  setFinal(data.runs[1], 78.3);
  await visitReport(
    "headline",
    {},
    async (page) => {
      assert.deepEqual((await figures(page)).slice(0, 3), ["98.0 %", "78.3 %", "+19.7"]);
      assert.equal(
        await verdict(page),
        "ProCA 98.0 %, source only 78.3 %, +19.7. Adapting helped. Means of 2 seeds.",
      );
      const colourOf = (kind) =>
        page.locator(`#headline .${kind} .value`).evaluate((node) => getComputedStyle(node).color);
      const colours = await page.evaluate(() => ["--accent", "--baseline"].map(themeColour));
      assert.deepEqual([await colourOf("method"), await colourOf("baseline")], colours);
    },
    { data },
  );
});

test("harm is called harm, and no difference none", async () => {
  for (const [own, words, shown] of [
    [70, "Adapting did harm", "−8.3"],
    [78.4, "Adapting made no difference", "+0.1"],
  ]) {
    const data = sampleData({ runs: 2 });
    setFinal(data.runs[0], own);
    setFinal(data.runs[1], 78.3);
    await visitReport(
      "headline-harm",
      {},
      async (page) => {
        assert.ok((await verdict(page)).includes(words), await verdict(page));
        assert.equal((await figures(page))[2], shown);
      },
      { data },
    );
  }
});

test("without a run of source-only the source model's own record is compared", async () => {
  await visitReport("headline-alone", { runs: 1 }, async (page, data) => {
    const [seed] = data.runs[0].seeds;
    const { classes } = seed.steps[0];
    const sum = (key) => classes.reduce((total, entry) => total + entry[key], 0);
    const source = (100 * sum("correct")) / sum("images");
    assert.deepEqual((await figures(page)).slice(0, 2), [
      `${finalMean(data.runs[0]).toFixed(1)} %`,
      `${source.toFixed(1)} %`,
    ]);
  });
});

test("of several methods the best is named, over the tasks that all have done", async () => {
  // Ten methods on the first task, and proca on a second one alone.
  await visitReport("headline-many", { runs: 11, classes: 6, steps: 2, perClass: 10 }, async (page, data) => {
    const first = data.runs.slice(0, 10).filter((run) => run.method !== "source-only");
    const best = first.reduce((a, b) => (finalMean(b) > finalMean(a) ? b : a));
    assert.equal((await figures(page))[0], `${finalMean(best).toFixed(1)} %`);
    assert.ok((await verdict(page)).includes("is the best of 9 methods."), await verdict(page));
  });
});

test("of one method with several options the best choice is named as such", async () => {
  const data = sampleData({ runs: 3, seeds: 1 });
  [60, 70, 65].forEach((percent, index) => {
    const run = data.runs[index];
    Object.assign(run, { method: "proca", name: `proca, alpha = 0.${index}` });
    run.options = [{ section: "method", key: "alpha", value: `0.${index}` }];
    setFinal(run, percent);
  });
  await visitReport(
    "headline-sweep",
    {},
    async (page) => {
      assert.equal((await figures(page))[0], "70.0 %");
      assert.ok((await verdict(page)).includes("is the best of 3 choices of options."), await verdict(page));
    },
    { data },
  );
});

test("runs of the source model alone say so", async () => {
  const data = sampleData({ runs: 2 });
  data.runs.shift();
  await visitReport(
    "headline-source",
    {},
    async (page) => {
      assert.deepEqual(await figures(page), [`${finalMean(data.runs[0]).toFixed(1)} %`]);
      assert.ok((await verdict(page)).includes("nothing was adapted"));
    },
    { data },
  );
});

test("the verdicts on the steps are counted beside the accuracy", async () => {
  await visitReport("headline-verdicts", { runs: 2, seeds: 2, health: true }, async (page) => {
    const text = await verdict(page);
    assert.ok(text.endsWith("Verdicts on 6 steps: 2 good, 2 doubtful, 2 refused."), text);
  });
});

test("without labels the last step's verdict is the headline", async () => {
  await visitReport(
    "headline-unlabelled",
    { runs: 1, labelled: false, health: true, steps: 2 },
    async (page, data) => {
      const { health } = data.runs[0].seeds[0].steps.at(-1);
      assert.deepEqual((await figures(page)).slice(0, 2), [
        "? doubtful",
        `${Math.round(100 * health.trust)} %`,
      ]);
      assert.equal(await verdict(page), `Step 2 is doubtful. ${health.reason}`);
    },
  );
});

test("source and target stand below each other, the same class in a column", async () => {
  await visitReport("strips", { runs: 2 }, async (page) => {
    const strips = page.locator("#strips .strip");
    assert.equal(await strips.count(), 2);
    const textsOf = (strip) => strip.locator(".caption").allInnerTexts();
    assert.equal((await textsOf(strips.nth(0))).length, 8);
    assert.deepEqual(await textsOf(strips.nth(0)), await textsOf(strips.nth(1)));
    assert.equal(await strips.nth(0).locator(".strip-title").innerText(), "source: art");
    const left = (strip, number) =>
      strip
        .locator("img")
        .nth(number)
        .evaluate((node) => Math.round(node.getBoundingClientRect().left));
    for (const number of [0, 7]) {
      assert.equal(await left(strips.nth(0), number), await left(strips.nth(1), number));
    }
    await strips.nth(1).locator("img").first().hover();
    assert.ok((await page.locator("#tooltip").innerText()).includes("Class: "));
  });
});

test("where the images have gone there is no strip", async () => {
  const data = sampleData({ runs: 1 });
  delete data.runs[0].pictures;
  await visitReport(
    "no-strips",
    {},
    async (page) => {
      assert.equal(await page.locator("#strips").count(), 0);
      assert.equal(await page.locator("#headline .figure").count(), 4);
    },
    { data },
  );
});
