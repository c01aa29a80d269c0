// Tables: sorted, downloaded, best in bold.

import assert from "node:assert/strict";
import { test } from "node:test";

import { downloadCsv, drawEverything, tableTexts, visitReport } from "./browser.mjs";
import { sampleData } from "./sample_data.mjs";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const finalMean = (run) => mean(run.seeds.map((seed) => seed.metrics.final_accuracy_percent));

test("the summary sorts by a column, down and up, with gaps last", async () => {
  await visitReport("tables", { runs: 7, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    const names = async () => (await tableTexts(page, "Summary")).map((row) => row[0]);
    const expected = [...data.runs].sort((a, b) => finalMean(b) - finalMean(a)).map((run) => run.method);
    const head = (title) => page.locator("#summary thead button", { hasText: title }).first();
    await head("Final").click();
    assert.deepEqual(await names(), expected);
    await head("Final").click();
    assert.deepEqual(await names(), expected.reverse());
    assert.equal(await page.locator("#summary th[aria-sort=ascending]").count(), 1);
    await head("Recall").click();
    assert.equal((await names())[0], data.runs[0].method, "only proca detects classes");
    await head("Recall").click();
    assert.equal((await names())[0], data.runs[0].method, "what is not known stays last");
    await head("Run").click();
    assert.deepEqual(await names(), data.runs.map((run) => run.method).sort());
  });
});

test("the best run of a task is bold, an unfinished one never", async () => {
  await visitReport(
    "tables-best",
    { runs: 7, classes: 10, steps: 3, seeds: 3, unfinished: 3 },
    async (page, data) => {
      const finished = data.runs.filter((run) => run.status === "finished");
      const best = finished.reduce((a, b) => (finalMean(a) > finalMean(b) ? a : b));
      assert.ok(
        data.runs.some((run) => finalMean(run) > finalMean(best)),
        "an unfinished run is better still",
      );
      const bold = page.locator("#summary tbody tr", { has: page.locator("td:nth-child(3) strong") });
      assert.equal(await bold.count(), 1);
      assert.ok((await bold.innerText()).includes(best.method));
    },
  );
});

test("source-only, which never learns, is not the best at not forgetting", async () => {
  const data = sampleData({ runs: 3, seeds: 1 });
  data.runs.forEach((run, index) => {
    run.seeds[0].metrics.forgetting_percent = [4, 0, 6][index];
    run.seeds[0].metrics.backward_transfer_percent = [-4, 0, -6][index];
  });
  await visitReport(
    "tables-forgetting",
    {},
    async (page) => {
      const bold = await page.locator("#summary tbody strong").allInnerTexts();
      assert.ok(bold.includes("4.0") && bold.includes("−4.0"), bold.join(" "));
      assert.ok(!bold.includes("0.0"), bold.join(" "));
    },
    { data },
  );
});

test("what the names of all runs have in common is said once", async () => {
  await visitReport("tables", { runs: 7, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    assert.deepEqual(
      (await tableTexts(page, "Summary")).map((row) => row[0]),
      data.runs.map((run) => run.method),
    );
    assert.ok((await page.locator(".byline").innerText()).startsWith("art → clipart · 7 runs"));
  });
  const data = sampleData({ runs: 2 });
  ["demo sketch → photo, proca", "demo sketch → cartoon, proca"].forEach((name, index) => {
    data.runs[index].name = name;
  });
  await visitReport(
    "tables-names",
    {},
    async (page) => {
      const names = (await tableTexts(page, "Summary")).map((row) => row[0]);
      assert.deepEqual(names, ["sketch → photo, proca", "sketch → cartoon, proca"]);
    },
    { data },
  );
});

test("the summary's CSV has means and deviations in full precision", async () => {
  await visitReport("tables", { runs: 7, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    const { name, rows } = await downloadCsv(page, page.locator("#summary .tools button"));
    assert.equal(name, "summary.csv");
    assert.equal(rows.length, 8);
    const column = (title) => rows[0].indexOf(title);
    data.runs.forEach((run, index) => {
      const row = rows[index + 1];
      assert.equal(row[column("run")], run.name);
      assert.equal(Number(row[column("final_accuracy_percent mean")]), finalMean(run));
      const values = run.seeds.map((seed) => seed.metrics.forgetting_percent);
      const squares = values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0);
      assert.equal(Number(row[column("forgetting_percent deviation")]), Math.sqrt(squares / 2));
    });
    assert.equal(rows[2][column("mean_recall_percent mean")], "", "source-only detects nothing");
  });
});

test("every section has a CSV, and the CSV has every number of the document", async () => {
  await visitReport("tables", { runs: 7, classes: 10, steps: 3, seeds: 3 }, async (page, data) => {
    const seed = data.runs[0].seeds[0];
    const step = seed.steps[3];
    const csv = async (section, number = 0) =>
      (
        await downloadCsv(page, page.locator(`#${section} button[aria-label^="Download"]`).nth(number))
      ).rows.slice(1);
    const numbers = (rows, ...columns) => rows.map((row) => columns.map((column) => Number(row[column])));

    assert.deepEqual(
      numbers(await csv("detection"), 0, 2),
      step.detection.classes.map((entry) => [entry.label, entry.score]).sort((a, b) => b[1] - a[1]),
    );
    assert.deepEqual(numbers(await csv("confusion"), 0, 2, 4), step.confusion);
    const { x, y } = step.embedding.points;
    assert.deepEqual(
      numbers(await csv("embedding"), 0, 1),
      x.map((value, index) => [value, y[index]]),
    );
    assert.deepEqual(
      (await csv("losses")).map((row) => row.slice(2, 5).map((text) => (text === "" ? null : Number(text)))),
      seed.losses.points.map((point) => point.values),
    );
    assert.deepEqual(
      numbers(await csv("cost"), 2),
      seed.steps.slice(1).map((record) => [record.seconds]),
    );
    assert.deepEqual(
      (await csv("prototypes")).map((row) => row[4]),
      step.prototypes.flatMap((entry) => entry.images.map((image) => image.path)),
    );
    assert.equal((await csv("accuracy")).length, 21, "7 runs, 3 steps");
    assert.equal((await csv("configuration"))[0].length, 8);
    assert.equal((await csv("versions")).length, 21, "7 runs, 3 seeds");
    await page.uncheck("#group-mean-0");
    assert.deepEqual(
      (await csv("groups")).map((row) => row.slice(1).map(Number)),
      [
        seed.metrics.source_group_accuracy_percent,
        ...seed.metrics.steps.map((record) => record.group_accuracy_percent),
      ],
    );
  });
});

test("the table behind a chart has its numbers", async () => {
  await visitReport("tables", { runs: 2, classes: 10, steps: 3, seeds: 1 }, async (page, data) => {
    await drawEverything(page);
    await page.locator("#accuracy button", { hasText: "Table" }).first().click();
    const rows = await tableTexts(page, "Step-level accuracy");
    assert.equal(rows.length, 6);
    assert.equal(
      Number(rows[0][2]),
      Number(data.runs[0].seeds[0].metrics.steps[0].accuracy_percent.toPrecision(5)),
    );
  });
});

test("tables of an experiment come first, with their notes, and sort by their numbers", async () => {
  await visitReport("tables-reproduce", { runs: 2, tables: true }, async (page) => {
    assert.equal(await page.locator("main section").first().getAttribute("id"), "tables");
    await page.locator("#tables thead button", { hasText: "A→W" }).first().click();
    assert.deepEqual(
      (await tableTexts(page, "Final accuracy")).map((row) => row[0]),
      ["ProCA", "Source only", "DANN"],
    );
    assert.equal(await page.locator("#tables strong", { hasText: "83.9 ± 0.6" }).count(), 1);
    await page.getByText("The paper's ProCA row has a misprint").waitFor();
  });
});
