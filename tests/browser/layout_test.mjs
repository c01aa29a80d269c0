// Narrow, dark, on paper. The screenshots are for people to look at.

import assert from "node:assert/strict";
import { test } from "node:test";

import { artefact, drawEverything, screenshot, visitReport } from "./browser.mjs";
import { textsOfLowContrast } from "./contrast.mjs";

const kOptions = {
  runs: 7,
  classes: 31,
  steps: 6,
  seeds: 3,
  tables: true,
  unfinished: 1,
  refresh_s: 600,
  health: true,
};

test("desktop", () =>
  visitReport("layout", kOptions, async (page) => {
    await screenshot(page, "desktop");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
    // A control belongs to a label, a region to a name.
    const unnamed = await page.evaluate(() =>
      [...document.querySelectorAll("button, select, input, canvas, [role=region]")]
        .filter(
          (node) =>
            !(
              node.getAttribute("aria-label") ||
              node.textContent.trim() ||
              node.closest("label")?.textContent.trim()
            ),
        )
        .map((node) => node.outerHTML),
    );
    assert.deepEqual(unnamed, []);
    const levels = await page
      .locator("h1, h2, h3")
      .evaluateAll((heads) => heads.map((head) => Number(head.tagName[1])));
    assert.equal(levels.filter((level) => level === 1).length, 1);
    assert.ok(
      levels.every((level, index) => index === 0 || level <= levels[index - 1] + 1),
      "no level of headings is left out",
    );
  }));

test("tables fit into 1280 pixels, the matrix of groups beside the steps", () =>
  visitReport("layout", kOptions, async (page) => {
    const tooWide = await page
      .locator("#summary .scroll, #groups .scroll, #trust .scroll, #detection .scroll, #tables .scroll")
      .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).length);
    assert.equal(tooWide, 0);
    const [matrix, steps] = await page
      .locator("#groups .table")
      .evaluateAll((tables) => tables.map((table) => table.getBoundingClientRect()));
    assert.ok(matrix.right <= steps.left && Math.abs(matrix.top - steps.top) < 5);
  }));

test("the list of sections stays in sight and shows the one being read", () =>
  visitReport("layout", kOptions, async (page) => {
    for (const section of ["confusion", "summary"]) {
      await page.locator(`#to-${section}`).click();
      await page.waitForFunction((id) => document.getElementById(`to-${id}`).ariaCurrent === "true", section);
      const { top } = await page.locator("#page-nav").evaluate((node) => node.getBoundingClientRect());
      assert.equal(top, 0);
      // The title is not behind the bars at the top.
      const bar = await page.locator(".picker-bar").evaluate((node) => node.getBoundingClientRect());
      const title = await page.locator(`#${section} h2`).evaluate((node) => node.getBoundingClientRect());
      assert.ok(section === "summary" || title.top >= bar.bottom, `${title.top} below ${bar.bottom}`);
    }
  }));

test("there is one font family", () =>
  visitReport("layout", kOptions, async (page) => {
    const families = await page.evaluate(() => [
      ...new Set(
        [...document.querySelectorAll("body, body *")].map((node) => getComputedStyle(node).fontFamily),
      ),
    ]);
    assert.equal(families.length, 1, families.join("; "));
  }));

for (const beside of ["", "run-1"]) {
  test(`a phone does not scroll sideways${beside ? ", with two runs" : ""}`, () =>
    visitReport(
      "layout",
      kOptions,
      async (page) => {
        if (beside) await page.selectOption("#pick-beside", beside);
        await screenshot(page, beside ? "phone-two-runs" : "phone");
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
      },
      { viewport: { width: 360, height: 740 } },
    ));
}

for (const colorScheme of ["light", "dark"]) {
  test(`text can be read in ${colorScheme} colours`, () =>
    visitReport(
      "layout",
      kOptions,
      async (page) => {
        await page.locator("#classes details summary").click();
        await page.locator("#accuracy button", { hasText: "Table" }).first().click();
        assert.deepEqual(await page.evaluate(textsOfLowContrast), []);
        if (colorScheme === "dark") await screenshot(page, "dark");
      },
      { colorScheme },
    ));
}

test("on paper everything is drawn, light and without controls", () =>
  visitReport(
    "layout",
    kOptions,
    async (page) => {
      const tick = () =>
        page.evaluate(
          () => Chart.getChart(document.querySelector("#accuracy canvas")).options.scales.x.ticks.color,
        );
      await drawEverything(page);
      const darkTick = await tick();
      await page.reload();
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.waitForFunction(() =>
        [...document.querySelectorAll("canvas")].every((canvas) => canvas.dataset.drawn === "yes"),
      );
      assert.equal(
        await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
        "rgb(255, 255, 255)",
      );
      assert.notEqual(await tick(), darkTick);
      assert.equal(
        await page.locator("button:visible:not(table button), select:visible, input:visible").count(),
        0,
      );
      await page.pdf({ path: artefact("print.pdf"), format: "A4" });
      await page.emulateMedia({ media: "screen", colorScheme: "dark" });
      await page.waitForFunction(
        (colour) =>
          Chart.getChart(document.querySelector("#accuracy canvas")).options.scales.x.ticks.color === colour,
        darkTick,
      );
    },
    { colorScheme: "dark" },
  ));
