// Charts: drawn, and telling their values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawEverything, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

// How many colours a canvas shows; a blank one has one.
function numColours(canvas) {
  return canvas.evaluate((node) => {
    const { data } = node.getContext("2d").getImageData(0, 0, node.width, node.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

// Moves the pointer to a point of a chart and returns the tooltip.
async function pointAt(page, canvas, dataset, index) {
  await canvas.scrollIntoViewIfNeeded();
  await page.waitForFunction((node) => node.dataset.drawn === "yes", await canvas.elementHandle());
  const place = await canvas.evaluate(
    (node, [d, i]) => {
      const point = Chart.getChart(node).getDatasetMeta(d).data[i];
      const box = node.getBoundingClientRect();
      return { x: box.left + point.x, y: box.top + point.y };
    },
    [dataset, index],
  );
  await page.mouse.move(place.x, place.y);
  const tooltip = page.locator("#tooltip");
  await tooltip.waitFor({ state: "visible" });
  return tooltip.innerText();
}

const chartOf = (page, section, number = 0) => page.locator(`#${section} figure canvas`).nth(number);

test("every canvas is drawn, in several colours", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page) => {
    await drawEverything(page);
    const canvases = await page.locator("canvas").all();
    assert.equal(canvases.length, 10, "3 curves, detection, confusion, features, losses, 3 costs");
    for (const canvas of canvases) {
      assert.ok((await numColours(canvas)) > 3, await canvas.getAttribute("aria-label"));
    }
  });
});

test("charts out of view are not drawn yet", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page) => {
    assert.equal(await chartOf(page, "losses").getAttribute("data-drawn"), null);
  });
});

test("a point of a curve says run, step, mean and deviation", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page, data) => {
    const values = data.runs[1].seeds.map((seed) => seed.metrics.steps[2].accuracy_percent);
    const mean = (values[0] + values[1]) / 2;
    const deviation = Math.abs(values[0] - values[1]) / Math.SQRT2;
    assert.equal(
      await pointAt(page, chartOf(page, "accuracy"), 1, 2),
      `${data.runs[1].name}: step 3, ${mean.toFixed(2)} ± ${deviation.toFixed(2)} (2 seeds)`,
    );
  });
});

test("a bar of the detection says class, score and outcome", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page, data) => {
    const { classes } = data.runs[0].seeds[0].steps[3].detection;
    const index = classes.findIndex((entry) => entry.detected && entry.present);
    const text = await pointAt(page, chartOf(page, "detection"), 0, index);
    assert.ok(text.startsWith(data.runs[0].classes[index]), text);
    assert.ok(
      text.includes(`cumulative probability ${Number(classes[index].score.toPrecision(4))}, threshold 0.15`),
      text,
    );
    assert.ok(text.includes("detected, and there"), text);
  });
});

test("a feature says its kind and classes, a loss its epoch, a bar its time", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page, data) => {
    const seed = data.runs[0].seeds[0];
    const centre = seed.steps[3].embedding.points.kind.lastIndexOf(2);
    const text = await pointAt(page, chartOf(page, "embedding"), 2, 9);
    assert.equal(
      text,
      `source centre\nTrue class: ${data.runs[0].classes[seed.steps[3].embedding.points.label[centre]]}`,
    );
    assert.equal(
      await pointAt(page, chartOf(page, "losses"), 0, 16),
      `classification: step 2, epoch 1, ${Number(seed.losses.points[16].values[0].toPrecision(4))}`,
    );
    assert.equal(
      await pointAt(page, chartOf(page, "cost"), 0, 1),
      `Step 2: ${Number(seed.steps[2].seconds.toPrecision(3))} s`,
    );
  });
});

test("a cell of the confusion matrix says true class, predicted class and count", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page, data) => {
    await page.selectOption("#confusion-order-0", "label");
    const matrix = page.locator("canvas.confusion");
    await matrix.scrollIntoViewIfNeeded();
    await page.waitForFunction((node) => node.dataset.drawn === "yes", await matrix.elementHandle());
    const [run, step] = [data.runs[0], data.runs[0].seeds[0].steps[3]];
    const images = (truth, predicted) =>
      step.confusion.find(([t, p]) => t === truth && p === predicted)?.[2] ?? 0;
    const box = await matrix.boundingBox();
    const cell = (box.width - 130) / 10;
    await page.mouse.move(box.x + 130 + 3.5 * cell, box.y + 130 + 3.5 * cell);
    const shown = (truth, predicted) =>
      `True: ${run.classes[truth]}\nPredicted: ${run.classes[predicted]}\n${images(truth, predicted)} image`;
    assert.ok((await page.locator("#tooltip").innerText()).startsWith(shown(3, 3)));
    // By keyboard, from the corner.
    await matrix.focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    assert.ok((await page.locator("#tooltip").innerText()).startsWith(shown(2, 1)));
  });
});

test("the threshold is on the chart, also when no class reaches it", async () => {
  const data = sampleData({ runs: 1 });
  for (const entry of data.runs[0].seeds[0].steps.at(-1).detection.classes) entry.score /= 100;
  await visitReport(
    "threshold",
    {},
    async (page) => {
      await drawEverything(page);
      const most = await chartOf(page, "detection").evaluate((node) => Chart.getChart(node).scales.y.max);
      assert.ok(most >= 0.15, String(most));
    },
    { data },
  );
});

test("of many runs the first eight are drawn, until others are ticked", async () => {
  await visitReport("twelve", { runs: 12, classes: 6, steps: 2, perClass: 5 }, async (page) => {
    await drawEverything(page);
    assert.equal(await page.locator(".legend legend").innerText(), "Runs, 8 of 12 drawn");
    await page.locator(".legend input").last().check();
    assert.equal(await page.locator(".legend legend").innerText(), "Runs, 9 of 12 drawn");
  });
});

test("taking off a run's tick hides its curves", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page) => {
    const visible = () =>
      chartOf(page, "accuracy").evaluate((node) => Chart.getChart(node).getVisibleDatasetCount());
    await drawEverything(page);
    assert.equal(await visible(), 2);
    await page.locator(".legend input").first().uncheck();
    assert.equal(await visible(), 1);
  });
});
