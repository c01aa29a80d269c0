// What a step decided, and how far that can be trusted: verdicts, evidence of each class.

import assert from "node:assert/strict";
import { test } from "node:test";

import { downloadCsv, tableTexts, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const kOptions = { runs: 1, classes: 31, steps: 3, health: true };

test("every step has its verdict, with a sentence and in its colour", async () => {
  await visitReport("trust", kOptions, async (page, data) => {
    const steps = data.runs[0].seeds[0].steps.slice(1);
    const rows = await tableTexts(page, "Verdicts");
    assert.deepEqual(
      rows.map((row) => row.slice(0, 3)),
      steps.map(({ step, health }, index) => [
        String(step),
        `${["✓", "?", "✕"][index]} ${health.verdict}`,
        health.reason,
      ]),
    );
    assert.equal(rows[0][3], (100 * steps[0].health.trust).toFixed(0));
    assert.equal(rows[2][3], "–", "the refused step has no trust");
    const colours = await page
      .locator(".verdict-badge")
      .evaluateAll((nodes) => nodes.map((node) => getComputedStyle(node).color));
    assert.deepEqual(
      colours,
      await page.evaluate(() => ["--good", "--doubtful", "--refused"].map(themeColour)),
    );
    const { rows: csv } = await downloadCsv(page, page.locator("#trust button[aria-label^=Download]"));
    const column = csv[0].indexOf("agreement");
    assert.equal(Number(csv[1][column]), steps[0].health.agreement);
  });
});

test("without verdicts there is no such section", async () => {
  await visitReport("no-trust", { ...kOptions, health: false }, async (page) => {
    assert.equal(await page.locator("#trust").isVisible(), false);
    assert.equal(await page.locator("#to-trust").isVisible(), false);
  });
});

const rowsOf = (page) => page.locator("#detection tbody tr");

test("the evidence is sorted, kept above dropped, with the reason of each", async () => {
  await visitReport("evidence", kOptions, async (page, data) => {
    const { classes, threshold } = data.runs[0].seeds[0].steps.at(-1).detection;
    const sorted = [...classes].sort((a, b) => b.score - a.score);
    await page.locator("#detection button", { hasText: "all dropped" }).click();
    const rows = await tableTexts(page, "Evidence of each class");
    assert.equal(rows.length, 31);
    assert.deepEqual(
      rows.map((row) => [row[0], row[4]]),
      sorted.map((entry) => [data.runs[0].classes[entry.label], entry.why]),
    );
    const words = {
      true: ["! kept, but not there", "✓ kept, and there"],
      false: ["rightly dropped", "✕ dropped, but there"],
    };
    assert.deepEqual(
      rows.map((row) => row[3]),
      sorted.map((entry) => words[entry.detected][Number(entry.present)]),
    );
    // The bar reaches the line exactly where the score reaches the threshold.
    const places = await rowsOf(page).evaluateAll((nodes) =>
      nodes.map((node) => {
        const right = (selector) => node.querySelector(selector).getBoundingClientRect().right;
        return { bar: right(".bar"), line: right(".threshold") };
      }),
    );
    sorted.forEach((entry, index) => {
      if (Math.abs(entry.score - threshold) < 0.01) return; // less than the width of the line
      assert.equal(places[index].bar > places[index].line, entry.score > threshold, String(entry.score));
    });
  });
});

test("kept bars have the accent colour, dropped ones are grey", async () => {
  await visitReport("evidence-colours", { ...kOptions, labelled: false }, async (page) => {
    const colourOf = (kind) =>
      page
        .locator(`#detection tr.${kind} .bar`)
        .first()
        .evaluate((node) => getComputedStyle(node).backgroundColor);
    assert.deepEqual(
      [await colourOf("detected"), await colourOf("undetected")],
      await page.evaluate(() => ["--accent", "--baseline"].map(themeColour)),
    );
    const outcomes = new Set(await page.locator("#detection td.outcome").allInnerTexts());
    assert.deepEqual([...outcomes], ["✓ kept", "dropped"]);
  });
});

test("runs side by side have the same scale", async () => {
  const data = sampleData({ ...kOptions, runs: 1 });
  const other = structuredClone(data.runs[0]);
  Object.assign(other, { id: "run-9", name: "other" });
  const last = other.seeds[0].steps.at(-1).detection;
  for (const entry of last.classes) entry.score /= 4;
  data.runs.push(other);
  await visitReport(
    "evidence-scale",
    {},
    async (page) => {
      await page.selectOption("#pick-beside", "run-9");
      const lines = await page.locator("#detection .column").evaluateAll((columns) =>
        columns.map((column) => {
          const [track, line] = [".track", ".threshold"].map((name) =>
            column.querySelector(name).getBoundingClientRect(),
          );
          return (line.left - track.left) / track.width;
        }),
      );
      assert.ok(Math.abs(lines[0] - lines[1]) < 0.01, lines.join(" "));
    },
    { data },
  );
});

test("of the dropped classes only the nearest are shown at first", async () => {
  await visitReport("evidence-tail", kOptions, async (page, data) => {
    const { classes } = data.runs[0].seeds[0].steps.at(-1).detection;
    const mattering = classes.filter((entry) => entry.detected || entry.present).length;
    assert.equal(await rowsOf(page).count(), mattering + 6);
    const toggle = page.locator("#detection button", { hasText: "all dropped" });
    assert.equal(await toggle.innerText(), `${31 - mattering - 6} more classes, all dropped`);
    await toggle.click();
    assert.equal(await rowsOf(page).count(), 31);
    await page.locator("#detection button", { hasText: "Fewer" }).click();
    assert.equal(await rowsOf(page).count(), mattering + 6);
  });
});

test("pointing at a row tells score, threshold, outcome and reason", async () => {
  await visitReport("evidence-tooltip", kOptions, async (page, data) => {
    const run = data.runs[0];
    const { classes } = run.seeds[0].steps.at(-1).detection;
    const best = classes.reduce((a, b) => (b.score > a.score ? b : a));
    await rowsOf(page).first().hover();
    const text = await page.locator("#tooltip").innerText();
    for (const part of [
      run.classes[best.label],
      `${Number(best.score.toPrecision(4))}, threshold 0.15`,
      "kept, and there",
      best.why,
    ]) {
      assert.ok(text.includes(part), text);
    }
  });
});

test("the threshold is seen also when no class reaches it, and reasons may be missing", async () => {
  const data = sampleData({ runs: 1 });
  for (const entry of data.runs[0].seeds[0].steps.at(-1).detection.classes) {
    entry.score /= 100;
    entry.detected = false;
  }
  await visitReport(
    "evidence-threshold",
    {},
    async (page) => {
      const [track, line] = await page
        .locator("#detection tbody tr")
        .first()
        .evaluate((node) =>
          [".track", ".threshold"].map((name) => node.querySelector(name).getBoundingClientRect().right),
        );
      assert.ok(line <= track + 2, `${line} of ${track}`);
      assert.equal(await page.locator("#detection thead th").count(), 4, "no column of reasons");
    },
    { data },
  );
});
