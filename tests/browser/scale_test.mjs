// Twenty runs of 65 classes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { screenshot, visitReport } from "./browser.mjs";

// Time depends on the machine and its load: it is reported, not judged.
test(
  "a large report opens: 20 runs of 65 classes, 3 seeds of each",
  { timeout: 300_000 },
  async (context) => {
    await visitReport(
      "large",
      { runs: 20, classes: 65, steps: 10, seeds: 3, prototypes: 10 },
      async (page) => {
        const { ready, script } = await page.evaluate(() => ({
          ready: performance.getEntriesByType("navigation")[0].loadEventEnd,
          script: document.getElementById("report-data").textContent.length,
        }));
        context.diagnostic(
          `${(script / 1e6).toFixed(1)} MB of data, loaded after ${(ready / 1000).toFixed(2)} s`,
        );
        assert.equal(await page.locator("#summary tbody tr").count(), 20);
        assert.equal(await page.locator("#prototypes img").count(), 650);
        await page.selectOption("#pick-run", "run-7");
        assert.ok((await page.locator("#detection tbody tr").count()) > 1);
        const drawn = await page.locator("canvas[data-drawn]").count();
        assert.ok(drawn < 8, `what is out of view is not drawn, but ${drawn} are`);
        await screenshot(page, "large");
      },
    );
  },
);
