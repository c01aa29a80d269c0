// Run, seed and step; theme; search; what a reload keeps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawEverything, tableTexts, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const groupTexts = (page) => tableTexts(page, "Class groups");
const shown = (value) => value.toFixed(1);

test("run, seed and step decide what the detail sections show", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    await page.uncheck("#group-mean-0");
    const matrixOf = (seed) =>
      [
        seed.metrics.source_group_accuracy_percent,
        ...seed.metrics.steps.map((step) => step.group_accuracy_percent),
      ].map((row) => row.map(shown));
    const matrix = async () => (await groupTexts(page)).map((row) => row.slice(1));
    assert.deepEqual(await matrix(), matrixOf(data.runs[0].seeds[0]));
    await page.selectOption("#pick-seed", "2");
    assert.deepEqual(await matrix(), matrixOf(data.runs[0].seeds[2]));
    await page.selectOption("#pick-run", "run-2");
    assert.deepEqual(await matrix(), matrixOf(data.runs[2].seeds[2]));

    await page.selectOption("#pick-run", "run-0");
    const title = page.locator("#detection thead th").nth(1);
    assert.equal(await title.innerText(), "Cumulative probability, step 3");
    await page.selectOption("#pick-step", "1");
    assert.equal(await title.innerText(), "Cumulative probability, step 1");
    await page.click("#step-after");
    assert.equal(await title.innerText(), "Cumulative probability, step 2");
    assert.ok(
      (await page.locator("#prototypes .finding").innerText()).includes(
        "Pictures are kept of the last step only",
      ),
    );
    assert.equal(await page.locator("#prototypes img").count(), 0);
  });
});

test("step 0 is the source model", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    await page.selectOption("#pick-step", "0");
    assert.ok(
      (await page.locator("#detection").innerText()).includes("The source model has not seen the target"),
    );
    assert.deepEqual(
      (await tableTexts(page, "Classes, ")).map((row) => Number(row[4])),
      data.runs[0].seeds[0].steps[0].classes.map((entry) => entry.correct),
    );
  });
});

test("the mean of the seeds is that of the matrix", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    const values = data.runs[0].seeds.map((seed) => seed.metrics.steps[2].group_accuracy_percent[0]);
    assert.equal((await groupTexts(page))[3][1], shown((values[0] + values[1] + values[2]) / 3));
  });
});

test("two runs stand side by side", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    await page.selectOption("#pick-beside", "run-1");
    assert.deepEqual(await page.locator("#groups .run-name").allInnerTexts(), [
      data.runs[0].method,
      data.runs[1].method,
    ]);
    const boxes = await Promise.all(
      [0, 1].map((index) => page.locator("#groups .column").nth(index).boundingBox()),
    );
    assert.ok(boxes[0].x + boxes[0].width <= boxes[1].x, "beside, not below");
    await page.selectOption("#pick-beside", "");
    assert.equal(await page.locator("#groups .run-name").count(), 0);
  });
});

test("a run's name in the summary leads to its details", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page) => {
    await page.locator("#summary tbody button").nth(1).click();
    assert.equal(await page.inputValue("#pick-run"), "run-1");
  });
});

test("prototypes of another class are marked, and can be shown alone", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    const classes = data.runs[0].seeds[0].steps[3].prototypes;
    const images = classes.flatMap((entry) => entry.images.map((image) => ({ entry, image })));
    const isWrong = ({ entry, image }) => image.true_label !== entry.label;
    const isDoubted = ({ entry, image }) => image.predicted !== entry.label;
    const wrong = images.filter(isWrong);
    const doubted = images.filter((item) => isDoubted(item) && !isWrong(item));
    assert.ok(wrong.length > 0 && doubted.length > 0);
    assert.equal(await page.locator("#prototypes img").count(), 50);
    assert.equal(await page.locator("#prototypes li.wrong").count(), wrong.length);
    assert.equal(await page.locator("#prototypes li.doubted").count(), doubted.length);
    const sentence = await page.locator("#prototypes .finding").innerText();
    assert.ok(sentence.includes(`${wrong.length} of them show another class`), sentence);
    await page.check("#only-wrong-0");
    assert.equal(
      await page.locator(".prototype-class").count(),
      new Set([...wrong, ...doubted].map(({ entry }) => entry)).size,
    );
    await page.locator("#prototypes li.wrong").first().hover();
    const shows = data.runs[0].classes[wrong[0].image.true_label];
    assert.ok((await page.locator("#tooltip").innerText()).includes(`Shows ${shows}`));
  });
});

test("highlighting a class greys out the others", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page) => {
    const colours = () =>
      page
        .locator("#embedding figure canvas")
        .evaluate((node) => new Set(Chart.getChart(node).data.datasets[2].backgroundColor).size);
    await drawEverything(page);
    assert.equal(await colours(), 10);
    await page.selectOption("#highlight-0", "4");
    await drawEverything(page);
    assert.equal(await colours(), 2);
  });
});

test("the configuration can be searched, and shows what differs first", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page) => {
    const options = async () => (await tableTexts(page, "Configuration")).map((row) => row[0]);
    // Options that only one method has do not differ from anything.
    assert.deepEqual(await options(), ["≠ method", "≠ optimiser.lr"]);
    await page.check("#all-options");
    assert.ok((await options()).includes("epochs"));
    await page.fill("#option-search", "momentum");
    assert.deepEqual(await options(), ["optimiser.momentum"]);
    await page.fill("#option-search", "no such option");
    await page.getByText("No option or value has “no such option” in it.").waitFor();
  });
});

test("of a single run the options that are not the usual ones are shown", async () => {
  const data = sampleData({ runs: 1 });
  for (const option of data.runs[0].options) {
    option.usual = option.key === "alpha" ? "0.2" : option.value;
  }
  await visitReport(
    "usual",
    {},
    async (page) => {
      const rows = () => tableTexts(page, "Configuration");
      assert.deepEqual(await rows(), [["method.alpha", "0.15 usually 0.2"]]);
      await page.check("#all-options");
      assert.equal((await rows()).length, data.runs[0].options.length);
    },
    { data },
  );
  for (const option of data.runs[0].options) option.usual = option.value;
  await visitReport(
    "usual-all",
    {},
    async (page) => {
      await page.getByText("All options are those of the preset and the method.").waitFor();
    },
    { data },
  );
});

test("the theme can be chosen", async () => {
  await visitReport("choices", { runs: 3, classes: 10, steps: 3, seeds: 3 }, async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.selectOption("#theme", "dark");
    assert.notEqual(await ground(), light);
    await page.selectOption("#theme", "light");
    assert.equal(await ground(), light);
  });
});

test("a page that renews itself keeps choices and place, until it is paused", async () => {
  await visitReport(
    "refresh",
    { runs: 3, classes: 10, steps: 3, seeds: 3, unfinished: 1, refresh_s: 2 },
    async (page) => {
      await page.selectOption("#pick-run", "run-1");
      await page.selectOption("#pick-step", "2");
      await page.evaluate(() => window.scrollTo(0, 1500));
      await page.evaluate(() => {
        window.before = true;
      });
      await page.waitForFunction(() => !window.before);
      await page.waitForFunction(() => window.scrollY === 1500);
      assert.equal(await page.inputValue("#pick-run"), "run-1");
      assert.equal(await page.inputValue("#pick-step"), "2");
      await page.click("#pause");
      await page.getByText("This page stands still.").waitFor();
      await page.reload();
      assert.equal(await page.locator("#pause").innerText(), "Renew");
    },
  );
});
