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
    assert.equal(canvases.length, 11, "3 curves, confusion, features, losses, 2 of source training, 3 costs");
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
      `${data.runs[1].method}: step 3, ${mean.toFixed(2)} ± ${deviation.toFixed(2)} (2 seeds)`,
    );
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

// The range of a chart's vertical axis.
const rangeOf = (canvas) =>
  canvas.evaluate((node) => {
    const { min, max } = Chart.getChart(node).scales.y;
    return [min, max];
  });

test("axes of accuracy have the same scale and stay within what is possible", async () => {
  const data = sampleData({ runs: 2, seeds: 2 });
  const seeds = data.runs[0].seeds;
  // A mean of 4 with a deviation of 5.7, and one of 99 with 1.4.
  seeds.forEach((seed, index) => {
    for (const step of seed.metrics.steps) {
      step.accuracy_percent = [0, 8][index];
      step.s1_accuracy_percent = [98, 100][index];
      step.accuracy_drop_percent = [0, 1][index];
    }
  });
  await visitReport(
    "ranges",
    {},
    async (page) => {
      await drawEverything(page);
      assert.deepEqual(await rangeOf(chartOf(page, "accuracy", 0)), [0, 100]);
      assert.deepEqual(await rangeOf(chartOf(page, "accuracy", 1)), [0, 100]);
    },
    { data },
  );
});

test("a curve that would be hidden by another is drawn beside it", async () => {
  const data = sampleData({ runs: 3, seeds: 1 });
  data.runs[2].seeds[0].metrics = data.runs[0].seeds[0].metrics;
  const placesOf = (page, run) =>
    chartOf(page, "accuracy").evaluate((node, i) => Chart.getChart(node).data.datasets[i].data[0].x, run);
  await visitReport(
    "covered",
    {},
    async (page) => {
      await drawEverything(page);
      assert.notEqual(await placesOf(page, 0), await placesOf(page, 2));
    },
    { data },
  );
});

test("source-only is grey and dashed, the first method has the accent colour", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page) => {
    await drawEverything(page);
    const { curves, colours } = await chartOf(page, "accuracy").evaluate((node) => ({
      curves: Chart.getChart(node).data.datasets.map(({ borderColor, borderDash }) => [
        borderColor,
        borderDash.length > 0,
      ]),
      colours: ["--accent", "--baseline"].map(themeColour),
    }));
    assert.deepEqual(curves, [
      [colours[0], false],
      [colours[1], true],
    ]);
  });
});

test("classes are named at their clusters, once each and without covering one another", async () => {
  await visitReport("charts", { runs: 2, classes: 10, steps: 3, seeds: 2 }, async (page, data) => {
    await drawEverything(page);
    const names = await chartOf(page, "embedding").evaluate((node) => {
      const chart = Chart.getChart(node);
      const drawn = [];
      const { ctx } = chart;
      const fillText = ctx.fillText;
      ctx.fillText = (text, x, y) => {
        if (ctx.textBaseline === "middle" && ctx.textAlign === "center") drawn.push({ text, x, y });
        fillText.call(ctx, text, x, y);
      };
      chart.draw();
      ctx.fillText = fillText;
      return drawn;
    });
    const known = data.runs[0].classes;
    assert.ok(names.length > 3, String(names.length));
    assert.ok(names.every(({ text }) => known.includes(text)));
    assert.equal(new Set(names.map(({ text }) => text)).size, names.length);
    for (const [index, a] of names.entries())
      for (const b of names.slice(index + 1))
        assert.ok(Math.abs(a.x - b.x) > 20 || Math.abs(a.y - b.y) >= 16, `${a.text} and ${b.text}`);
  });
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
