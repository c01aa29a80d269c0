// Report data as runs would leave it, drawn from a seed: N runs of K classes in T steps.
//
//   node sample_data.mjs '{"runs": 7, "classes": 31, "steps": 3}' > data.json
//
// | option     |                                                                    |
// |------------|--------------------------------------------------------------------|
// | runs, classes, steps, seeds | numbers of each                                   |
// | health     | true: a verdict on every step, and why each class was kept         |
// | labelled   | false: state directories, which have nothing that takes labels     |
// | unfinished | number of runs, the last ones, that have not got to their last step |
// | hostile    | true: names that look like markup, formulas and placeholders       |
// | tables     | true: two tables of an experiment                                  |
// | without    | keys to leave out of every step and seed, such as ["embedding"]    |
// | perClass, prototypes | images of a class; images kept of each                   |
// | refresh_s  | as in the document                                                 |

import { fileURLToPath } from "node:url";

import { samplePictures } from "./sample_images.mjs";
import { randomNumbers } from "./sample_random.mjs";
import { sampleSeed } from "./sample_seed.mjs";

const kDefaults = {
  runs: 2,
  classes: 10,
  steps: 3,
  seeds: 1,
  labelled: true,
  health: false,
  unfinished: 0,
  hostile: false,
  tables: false,
  without: [],
  perClass: 20,
  prototypes: 5,
  seed: 1,
};
const kMethods = [
  "proca",
  "source-only",
  "dann",
  "pada",
  "etn",
  "ba3us",
  "cida",
  "pada-prototypes",
  "etn-prototypes",
  "ba3us-prototypes",
];
const kTasks = [
  ["art", "clipart"],
  ["art", "product"],
  ["real-world", "art"],
  ["clipart", "real-world"],
];
const kNames = [
  "bicycle",
  "calculator",
  "desk lamp",
  "file cabinet",
  "headphones",
  "keyboard",
  "laptop computer",
  "mobile phone",
  "mug",
  "notebook",
  "paper clips",
  "projector",
  "punchers",
  "ring binder",
  "ruler",
  "scissors",
  "speaker",
  "stapler",
  "tape dispenser",
  "trash can",
];
const kHostile = [
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(2)</script>",
  '=1+1,"quoted"',
  "{{script}}",
  "a\nline",
  "&lt;b&gt;",
  "מלך‮gnp",
  "x".repeat(120),
  "__proto__",
  "${alert(3)}",
];

export function sampleData(options = {}) {
  const settings = { ...kDefaults, ...options };
  const document = {
    format_version: 1,
    title: settings.hostile ? "<b>Report</b> & {{data}}" : "Office-Home-CI",
    created: "2026-02-03T04:05:06Z",
    version: "0.1.0",
    runs: Array.from({ length: settings.runs }, (_, index) => sampleRun(settings, index)),
  };
  if (settings.refresh_s) document.refresh_s = settings.refresh_s;
  if (settings.tables) document.tables = sampleTables();
  return document;
}

function classNames(settings) {
  return Array.from({ length: settings.classes }, (_, label) => {
    if (settings.hostile)
      return kHostile[label % kHostile.length] + (label < kHostile.length ? "" : ` ${label}`);
    return label < kNames.length
      ? kNames[label]
      : `${kNames[label % kNames.length]} ${Math.floor(label / kNames.length) + 1}`;
  });
}

// Classes in equal parts, in an order that is not that of the labels.
function classSchedule(settings) {
  const random = randomNumbers(settings.seed);
  const order = random.shuffled(Array.from({ length: settings.classes }, (_, label) => label));
  const size = Math.ceil(settings.classes / settings.steps);
  return Array.from({ length: settings.steps }, (_, step) =>
    order.slice(step * size, (step + 1) * size).sort((a, b) => a - b),
  );
}

function sampleRun(settings, index) {
  const method = kMethods[index % kMethods.length];
  const [source, target] = kTasks[Math.floor(index / kMethods.length) % kTasks.length];
  const unfinished = index >= settings.runs - settings.unfinished;
  const done = unfinished ? Math.max(1, settings.steps - 1) : settings.steps;
  const schedule = classSchedule(settings);
  const run = {
    id: `run-${index}`,
    name: settings.hostile
      ? `${kHostile[index % kHostile.length]} run ${index}`
      : `${source} → ${target}, ${method}`,
    folder: settings.hostile
      ? `runs/${kHostile[0]}`
      : `results/runs/office-home-ci/${source}/${target}/${method}`,
    method,
    classes: classNames(settings),
    steps_planned: settings.steps,
    status: unfinished ? (index % 2 === 0 ? "unfinished" : "running") : "finished",
    options: sampleOptions(method, index),
    seeds: Array.from({ length: settings.labelled ? settings.seeds : 1 }, (_, seed) =>
      sampleSeed(settings, { method, schedule, done, index, seed, unfinished }),
    ),
  };
  if (index === 0) run.pictures = samplePictures(settings, schedule);
  if (settings.labelled) Object.assign(run, { preset: "office-home-ci", source, target, schedule });
  return run;
}

function sampleOptions(method, index) {
  const common = [
    ["", "method", method],
    ["", "epochs", "15"],
    ["", "batch-size", "32"],
    ["", "backbone", "resnet50"],
    ["", "image-size", "224"],
    ["optimiser", "lr", index % 3 === 0 ? "0.001" : "0.0005"],
    ["optimiser", "momentum", "0.9"],
    ["optimiser", "weight-decay", "1e-06"],
    ["", "precision", "bf16"],
    ["", "crop", "none"],
  ];
  const own =
    method === "proca"
      ? [
          ["method", "alpha", "0.15"],
          ["method", "prototypes-per-class", "10"],
          ["method", "lambda", "0.1"],
          ["method", "eta", "1"],
        ]
      : [["method", "adversarial-weight", "1"]];
  return [...common, ...own].map(([section, key, value]) => ({ section, key, value }));
}

function sampleTables() {
  const row = (label, texts, best) => ({
    label,
    cells: texts.map((text) => ({ text, best: best && text !== "-" })),
  });
  return [
    {
      title: "Final accuracy on Office-31-CI",
      columns: ["Method", "A→D", "A→W", "D→A", "Avg.", "paper", "difference"],
      rows: [
        row("Source only", ["74.1", "74.4 ± 0.2", "59.0", "69.2", "77.5", "−8.3"]),
        row("ProCA", ["82.7", "83.9 ± 0.6", "64.2", "76.9", "82.1", "−5.2"], true),
        row("DANN", ["72.1", "-", "-", "-", "74.8", "-"]),
      ],
      notes: ["3 seeds; - is a run that has not been done.", "The paper's ProCA row has a misprint in A→W."],
    },
    {
      title: "Pseudo-labels",
      columns: ["Rule", "A→W"],
      rows: [row("scd", ["81.0"], true), row("hbw", ["77.3"])],
      notes: [],
    },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(JSON.stringify(sampleData(JSON.parse(process.argv[2] ?? "{}"))));
}
