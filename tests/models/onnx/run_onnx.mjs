// Runs exported models in ONNX Runtime and compares with what proca said.
//
//   node run_onnx.mjs FOLDER
//
// FOLDER holds what write_sample.cpp wrote, and node_modules/onnxruntime-node.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const folder = resolve(process.argv[2]);
const ort = createRequire(join(folder, "package.json"))("onnxruntime-node");
const tolerance = 1e-4;

function largestDifference(actual, expected) {
  if (actual.length !== expected.length) return Infinity;
  // Written so that a NaN counts as a difference.
  return actual.reduce((most, value, i) => {
    const difference = Math.abs(value - expected[i]);
    return difference <= most ? most : difference;
  }, 0);
}

let failures = 0;
for (const sample of JSON.parse(readFileSync(join(folder, "samples.json"), "utf8"))) {
  const session = await ort.InferenceSession.create(join(folder, sample.model));
  const bytes = readFileSync(join(folder, sample.images));
  const pixels = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  for (const batch of sample.batches) {
    const shape = [batch, 3, sample.size, sample.size];
    const images = new ort.Tensor("float32", pixels.slice(0, shape.reduce((a, b) => a * b)), shape);
    const outputs = await session.run({ images });
    for (const name of ["logits", "probabilities"]) {
      const expected = sample[name].slice(0, batch).flat();
      const difference = largestDifference(Array.from(outputs[name].data), expected);
      const fine = difference <= tolerance && outputs[name].dims[0] === batch;
      console.log(`${fine ? "ok  " : "FAIL"} ${sample.model} batch ${batch} ${name}: ` +
                  `largest difference ${difference.toExponential(1)}`);
      if (!fine) failures += 1;
    }
  }
}
process.exit(failures === 0 ? 0 : 1);
