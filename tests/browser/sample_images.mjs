// What a sample has of single images: prototypes and features.

import { randomNumbers } from "./sample_random.mjs";

// Tensors hold floats; more digits would only make the document larger.
const asFloat = (value) => Number(value.toPrecision(7));

export function samplePrototypes({ settings, random, schedule }, label, step, last) {
  const classes = schedule.flat().length;
  return {
    label,
    step,
    score: 0.3 + 0.6 * random.uniform(),
    images: Array.from({ length: settings.prototypes }, (_, number) => {
      const wrong = random.uniform() < 0.15;
      const other = (label + 1) % classes;
      const probability = asFloat(wrong ? 0.4 * random.uniform() : 0.6 + 0.4 * random.uniform());
      return {
        ...(last ? { src: samplePicture(random, label) } : {}),
        path: `clipart/${label}/${String(number).padStart(5, "0")}.jpg`,
        ...(settings.labelled ? { true_label: random.uniform() < 0.1 ? other : label } : {}),
        probability,
        predicted: wrong ? other : label,
        soft_label: [
          [wrong ? other : label, asFloat(wrong ? 1 - probability : probability)],
          [wrong ? label : other, asFloat(0.6 * Math.min(probability, 1 - probability))],
          [(label + 2) % classes, 0.01],
        ],
      };
    }),
  };
}

// The images behind the mistakes of a step: of a pair three at most, and 400 in the document.
export function sampleMistakes({ settings, random }, confusion) {
  const pairs = Math.floor(400 / 3 / settings.runs / settings.seeds);
  return confusion
    .filter(([truth, predicted]) => truth !== predicted)
    .sort(([, , a], [, , b]) => b - a)
    .slice(0, pairs)
    .map(([label, predicted, images]) => ({
      label,
      predicted,
      images: Array.from({ length: Math.min(3, images) }, (_, number) => ({
        path: `clipart/${label}/as-${predicted}-${number}.jpg`,
        src: samplePicture(random, label),
      })),
    }));
}

// Eight images of source and target: of a class each, or with what the step took them for.
export function samplePictures({ labelled, seed }, schedule) {
  const random = randomNumbers(seed + 7);
  const classes = schedule.flat().slice(0, 8);
  const image = (domain, label, key) => ({
    src: samplePicture(random, label),
    path: `${domain}/${label}/00000.jpg`,
    [key]: label,
  });
  return {
    source: classes.map((label) => image("art", label, "label")),
    target: classes.map((label) => image("clipart", label, labelled ? "label" : "pseudo")),
  };
}

// A small BMP, the one format that takes no compressor: a disc on a ground, by class.
function samplePicture(random, label) {
  const size = 24;
  const bytes = Buffer.alloc(54 + size * size * 3);
  bytes.write("BM");
  [
    [bytes.length, 2],
    [54, 10],
    [40, 14],
    [size, 18],
    [size, 22],
  ].forEach(([value, at]) => bytes.writeUInt32LE(value, at));
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  const [radius, tone] = [6 + 4 * random.uniform(), 40 + random.below(60)];
  for (let i = 0; i < size * size; i += 1) {
    const inside = Math.hypot((i % size) - 12, Math.floor(i / size) - 12) < radius;
    const colour = inside
      ? [(label * 67) % 256, (label * 151) % 256, (label * 29) % 256]
      : [tone + 110, tone + 120, tone + 130];
    bytes.set(
      colour.map((value) => Math.min(255, value + random.below(20))),
      54 + 3 * i,
    );
  }
  return `data:image/bmp;base64,${bytes.toString("base64")}`;
}

export function sampleEmbedding({ settings, schedule, random }, step) {
  const points = { x: [], y: [], kind: [], label: [], pseudo: [], predicted: [] };
  const classes = schedule.flat().length;
  const add = (label, kind, spread) => {
    const angle = (2 * Math.PI * label) / classes;
    const ring = label % 2 === 0 ? 10 : 6;
    points.x.push(asFloat(ring * Math.cos(angle) + spread * random.normal()));
    points.y.push(asFloat(ring * Math.sin(angle) + spread * random.normal()));
    points.kind.push(kind);
    points.label.push(settings.labelled || kind > 0 ? label : -1);
    points.pseudo.push(kind === 0 ? (random.uniform() < 0.85 ? label : (label + 1) % classes) : -1);
    points.predicted.push(kind === 2 ? -1 : random.uniform() < 0.8 ? label : (label + 2) % classes);
  };
  for (const label of schedule[step - 1]) for (let i = 0; i < settings.perClass; i += 1) add(label, 0, 0.7);
  for (const label of schedule.slice(0, step).flat())
    for (let i = 0; i < settings.prototypes; i += 1) add(label, 1, 0.5);
  for (let label = 0; label < classes; label += 1) add(label, 2, 0.2);
  return { method: "t-SNE", kinds: ["target", "prototype", "source centre"], points };
}
