// The images behind the mistakes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const kOptions = { runs: 1, classes: 10, steps: 3 };
const pathsOf = (page) =>
  page.locator(".mistake-images img").evaluateAll((nodes) => nodes.map((node) => node.alt));
const pathsIn = (groups) => groups.flatMap((group) => group.images.map((image) => image.path));

async function pressCell(page, row, column) {
  await page.selectOption("#confusion-order-0", "label");
  const matrix = page.locator("canvas.confusion");
  await matrix.scrollIntoViewIfNeeded();
  await page.waitForFunction((node) => node.dataset.drawn === "yes", await matrix.elementHandle());
  const box = await matrix.boundingBox();
  const cell = (box.width - 130) / 10;
  await matrix.click({ position: { x: 130 + (column + 0.5) * cell, y: 130 + (row + 0.5) * cell } });
}

test("a cell of the matrix shows the images behind it", async () => {
  await visitReport("mistakes", kOptions, async (page, data) => {
    const step = data.runs[0].seeds[0].steps.at(-1);
    const all = pathsIn(step.mistakes).slice(0, 24);
    assert.deepEqual(await pathsOf(page), all, "the most frequent mistakes at first");
    const group = step.mistakes[1];
    await pressCell(page, group.label, group.predicted);
    assert.deepEqual(await pathsOf(page), pathsIn([group]));
    const [truth, predicted] = [group.label, group.predicted].map((label) => data.runs[0].classes[label]);
    const title = await page.locator(".mistakes h3").innerText();
    assert.ok(title.startsWith(`${truth} taken for ${predicted}: `), title);
    // Scrolling hides the tooltip: the image has to be in sight before.
    const image = page.locator(".mistake-images li div").first();
    await image.scrollIntoViewIfNeeded();
    await image.hover();
    await page.locator("#tooltip").waitFor({ state: "visible" });
    assert.equal(
      await page.locator("#tooltip").innerText(),
      `${group.images[0].path}\nTrue: ${truth}\nPredicted: ${predicted}`,
    );
    await page.getByRole("button", { name: "All mistakes" }).click();
    assert.deepEqual(await pathsOf(page), all);
  });
});

test("the keyboard reaches the images of a cell, too", async () => {
  await visitReport("mistakes", kOptions, async (page, data) => {
    const step = data.runs[0].seeds[0].steps.at(-1);
    const group = step.mistakes.find(({ label }) => label < 3) ?? step.mistakes[0];
    await page.selectOption("#confusion-order-0", "label");
    await page.locator("canvas.confusion").focus();
    await page.waitForFunction(() => document.querySelector("canvas.confusion").dataset.drawn === "yes");
    for (let row = 0; row < group.label; row += 1) await page.keyboard.press("ArrowDown");
    for (let column = 0; column < group.predicted; column += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    assert.deepEqual(await pathsOf(page), pathsIn([group]));
  });
});

test("a class shows all its images that are taken for others", async () => {
  await visitReport("mistakes", kOptions, async (page, data) => {
    const { mistakes } = data.runs[0].seeds[0].steps.at(-1);
    const { label } = mistakes[0];
    await page.getByRole("button", { name: data.runs[0].classes[label], exact: true }).last().click();
    assert.deepEqual(await pathsOf(page), pathsIn(mistakes.filter((group) => group.label === label)));
    assert.ok((await page.locator(".mistakes h3").innerText()).includes("taken for other classes"));
  });
});

test("a right answer is no mistake, and a cell without images says none", async () => {
  await visitReport("mistakes", kOptions, async (page) => {
    await pressCell(page, 3, 3);
    assert.equal(await page.locator(".mistake-images li").count(), 0);
    assert.ok((await page.locator(".mistakes h3").innerText()).includes("is no mistake"));
  });
});

test("images that have gone are shown by their names, other steps refer to the last", async () => {
  const data = sampleData(kOptions);
  for (const group of data.runs[0].seeds[0].steps.at(-1).mistakes) {
    for (const image of group.images) delete image.src;
  }
  await visitReport(
    "mistakes-gone",
    {},
    async (page) => {
      assert.equal(await page.locator(".mistake-images img").count(), 0);
      assert.ok((await page.locator(".mistake-images .no-picture").count()) > 0);
      await page.selectOption("#pick-step", "2");
      assert.equal(
        await page.locator(".mistakes").innerText(),
        "The images of mistakes are recorded of the last step only.",
      );
    },
    { data },
  );
});
