// One seed of a run: predictions are drawn, everything that is counted follows from them.

import { sampleEmbedding, sampleMistakes, samplePrototypes } from "./sample_images.mjs";
import { metricsOf } from "./sample_metrics.mjs";
import { randomNumbers } from "./sample_random.mjs";

export function sampleSeed(settings, { method, schedule, done, index, seed, unfinished }) {
  const random = randomNumbers(1000 * settings.seed + 17 * index + seed);
  const context = {
    settings,
    method,
    schedule,
    random,
    skill: method === "source-only" ? 0 : 0.06 + 0.015 * (index % 9),
    difficulty: schedule.flat().map(() => 0.15 * random.normal()),
  };
  const predictions = Array.from({ length: done + 1 }, (_, step) => confusionAfter(context, step));
  const steps = predictions.map((confusion, step) => sampleStep(context, step, confusion, step === done));
  const record = {
    seed: settings.labelled ? seed : null,
    metrics: settings.labelled ? metricsOf(schedule, predictions, steps) : null,
    steps: settings.labelled ? steps : steps.slice(1),
    losses: sampleLosses(context, done),
    training: sampleTraining(context),
    machine: {
      device: "NVIDIA H200",
      threads: 16,
      libtorch: "2.11.0",
      precision: "bf16",
      started: "2026-02-03T03:00:00Z",
      ended: unfinished ? null : "2026-02-03T03:20:00Z",
      seconds: steps.reduce((sum, step) => sum + (step.seconds ?? 0), 0),
      peak_memory_bytes: 2_147_483_648,
      peak_gpu_memory_bytes: 12_884_901_888,
    },
  };
  for (const key of settings.without) for (const holder of [record, ...record.steps]) delete holder[key];
  return record;
}

// [true, predicted, images]: a class is better known once it has arrived, and fades after.
function confusionAfter({ settings, schedule, random, skill, difficulty }, step) {
  const classes = schedule.flat().length;
  const triples = new Map();
  schedule.forEach((labels, group) => {
    for (const label of labels) {
      const arrived = step > group ? 1.6 * skill - 0.02 * (step - group - 1) * (1.5 - 5 * skill) : 0;
      const chance = Math.min(0.99, Math.max(0.05, 0.62 + difficulty[label] + arrived));
      for (let image = 0; image < settings.perClass; image += 1) {
        // Mistakes prefer a few neighbours, as they do between real classes.
        const predicted =
          random.uniform() < chance
            ? label
            : (label + 1 + Math.floor(random.uniform() ** 3 * (classes - 1))) % classes;
        const key = `${label} ${predicted}`;
        triples.set(key, (triples.get(key) ?? 0) + 1);
      }
    }
  });
  return [...triples].map(([key, images]) => [...key.split(" ").map(Number), images]);
}

function sampleStep(context, step, confusion, last) {
  const { settings, schedule, random, method } = context;
  const classes = schedule
    .flat()
    .sort((a, b) => a - b)
    .map((label) => ({
      label,
      images: settings.perClass,
      correct: confusion.find(([truth, predicted]) => truth === label && predicted === label)?.[2] ?? 0,
    }));
  const evaluation = settings.labelled ? { classes, confusion } : {};
  if (step === 0) return { step, ...evaluation, embedding: sampleEmbedding(context, 1) };
  const present = schedule[step - 1];
  const record = {
    step,
    ...evaluation,
    images: present.length * settings.perClass,
    seconds: 40 + 10 * random.uniform(),
    peak_memory_bytes: Math.round(2 ** 30 * (1.6 + 0.1 * step)),
    peak_gpu_memory_bytes: Math.round(2 ** 30 * 12),
    embedding: sampleEmbedding(context, step),
  };
  if (!method.startsWith("proca") && !method.endsWith("prototypes")) return record;
  const counts = classes.map(({ label }) =>
    present.includes(label) ? settings.perClass + random.below(5) - 2 : 0,
  );
  return {
    ...record,
    ...(settings.labelled && last ? { mistakes: sampleMistakes(context, confusion) } : {}),
    ...(settings.health ? { health: sampleHealth(context, step) } : {}),
    detection: sampleDetection(context, step),
    pseudo_labels: {
      images: record.images,
      correct: settings.labelled ? Math.round(record.images * (0.7 + 0.2 * random.uniform())) : null,
      counts,
    },
    prototypes: schedule
      .slice(0, step)
      .flatMap((labels, group) => labels.map((label) => samplePrototypes(context, label, group + 1, last))),
  };
}

function sampleDetection({ settings, schedule, random }, step) {
  const present = new Set(schedule[step - 1]);
  const scores = schedule
    .flat()
    .map((_, label) =>
      Math.min(
        1,
        Math.max(0, present.has(label) ? 0.55 + 0.25 * random.normal() : 0.06 + 0.06 * random.normal()),
      ),
    );
  return {
    rule: "scd",
    threshold: 0.15,
    classes: scores.map((score, label) => ({
      label,
      score,
      cumulative_probability: score,
      source_share: 1 / scores.length,
      detected: score >= 0.15,
      ...(settings.health ? { why: whyOf(score, label) } : {}),
      ...(settings.labelled ? { present: present.has(label) } : {}),
    })),
  };
}

function whyOf(score, label) {
  return score >= 0.15
    ? `kept: ${Math.round(100 * score)} % of the images`
    : `dropped in round ${1 + (label % 4)}: ${score.toFixed(2)} of the mean mass is below 0.3`;
}

// The first step is good, the second doubtful, the third refused, and so on.
function sampleHealth({ settings, schedule, random }, step) {
  const verdict = ["good", "doubtful", "refused"][(step - 1) % 3];
  const reasons = {
    good: "Classifier and clusters agree on 91 % of the images.",
    doubtful: "Classifier and clusters agree on only 62 % of the images.",
    refused: "All images fall into one class: the source model has nothing to say about them.",
  };
  return {
    verdict,
    reason: reasons[verdict],
    trust: verdict === "refused" ? null : 0.6 + 0.3 * random.uniform(),
    images: schedule[step - 1].length * settings.perClass,
    classes_found: schedule[step - 1].length,
    agreement: 0.91,
    confidence_before: 0.71,
    confidence_after: 0.93,
    changed: 0.12,
    unfitting: 3,
    kept_model: verdict === "refused" ? "previous" : "adapted",
  };
}

function sampleTraining({ random }) {
  return {
    points: Array.from({ length: 20 }, (_, epoch) => ({
      epoch: epoch + 1,
      loss: 2.7 * Math.exp(-epoch / 5) + 0.3 + 0.05 * random.uniform(),
      holdout_accuracy_percent: 92 - 60 * Math.exp(-epoch / 4),
      seconds: 2,
    })),
  };
}

function sampleLosses({ method, random }, done) {
  if (method === "source-only") return { terms: [], points: [] };
  const terms =
    method === "proca" ? ["classification", "contrastive", "distillation"] : ["classification", "domain"];
  const points = [];
  for (let step = 1; step <= done; step += 1) {
    for (let epoch = 0; epoch < 15; epoch += 1) {
      points.push({
        step,
        epoch,
        values: terms.map((_, term) =>
          term === 2 && step === 1 && epoch < 4
            ? null
            : (2.4 / (term + 1)) * Math.exp(-epoch / 5) + 0.1 + 0.04 * random.uniform(),
        ),
        images_per_s: 5800,
        seconds: 2.6,
        data_s: 0.1,
      });
    }
  }
  return { terms, points };
}
