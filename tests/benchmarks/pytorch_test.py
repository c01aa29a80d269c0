"""The PyTorch program and the comparison with it, on stand-in pictures.

    python3 pytorch_test.py PROCA_PROGRAM BENCHMARKS_FOLDER

Skips itself (exit code 77) where torch, numpy or Pillow is missing.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import torch
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, BENCHMARKS = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(BENCHMARKS))

import pytorch_proca  # noqa: E402
import pytorch_task  # noqa: E402
from pytorch_resnet import ResNet  # noqa: E402

PRESET = """
classes-per-step = 2
steps = 2
class-order = ["c", "a", "b", "d"]
[pretrain]
backbone = "resnet-small"
image-size = 16
epochs = 8
batch-size = 8
[adapt]
epochs = 5
batch-size = 8
"""


def write_images(folder, tint):
    """Five classes of twelve pictures, each in a colour of its own, with noise."""
    random = numpy.random.default_rng(0)
    for label, name in enumerate("abcde"):
        (folder / name).mkdir(parents=True)
        for i in range(12):
            colour = numpy.array([label * 50, 200 - label * 50, (label * 90) % 200])
            pixels = colour + tint + random.integers(0, 50, (16, 16, 3))
            Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8)).save(folder / name / f"{i}.png")


class WholeRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        write_images(cls.folder / "day", 0)
        write_images(cls.folder / "night", 10)
        (cls.folder / "preset.toml").write_text(PRESET)
        cls.task = ["--preset", cls.folder / "preset.toml", "--data-root", cls.folder, "--source",
                    "day", "--target", "night", "--threads", "1"]
        cls.proca("run", *cls.task, "--method", "source-only", "--out", cls.folder / "source")
        cls.state = cls.folder / "source" / "source-0"

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @staticmethod
    def run_words(*words):
        result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if result.returncode != 0:
            raise AssertionError(f"{words} ended with {result.returncode}: {result.stderr}")
        return result.stdout

    @classmethod
    def proca(cls, *words):
        return cls.run_words(PROGRAM, *words, "--quiet")

    def test_both_programs_take_the_same_model_for_the_same(self):
        model, weights = pytorch_task.read_model(self.state)
        network = ResNet(model["backbone"], 5, model["stride_in"])
        network.load_state_dict(weights)
        network.eval()
        paths, labels = pytorch_task.list_images(self.folder / "night", self.folder,
                                                 model["class_names"])
        self.assertEqual(labels, [label for label in range(5) for _ in range(12)])
        pixels = pytorch_task.decode(paths[:6], model["preprocessing"], 2)
        scale = [torch.tensor(model["preprocessing"][name]) for name in ("mean", "std")]
        with torch.no_grad():
            images = ((pixels / 255.0 - scale[0]) / scale[1]).permute(0, 3, 1, 2)
            ours = network(images)[1].softmax(1)
        self.proca("predict", *paths[:6], "--state", self.state, "--top", 5, "--format", "json",
                   "--out", self.folder / "p.json")
        for row, answer in zip(ours, json.loads((self.folder / "p.json").read_text())):
            for entry in answer["top"]:
                self.assertAlmostEqual(row[entry["label"]].item(), entry["confidence"], places=3)

    def test_a_whole_run_reports_accuracy_and_phases(self):
        output = self.run_words(sys.executable, BENCHMARKS / "pytorch_proca.py", *self.task,
                                "--source-state", self.state)
        result = json.loads(output)
        self.assertEqual(len(result["steps"]), 2)
        self.assertEqual([step["images"] for step in result["steps"]], [24, 24])
        self.assertGreaterEqual(result["final_accuracy_percent"], 60)  # chance: 20
        for phase in ("start", "decode", "frozen", "training", "evaluation"):
            self.assertGreater(result["seconds"][phase], 0)

    def test_the_comparison_of_whole_runs_writes_table_and_json(self):
        self.compare("run", *self.task, "--source-state", self.state)
        result = json.loads((self.folder / "run" / "comparison.json").read_text())
        for who in ("ours", "theirs"):
            self.assertGreater(result[who]["median"], 0)
            self.assertGreaterEqual(result["accuracy"][who], 60)
        self.assertIn("| PyTorch |", (self.folder / "run" / "comparison.md").read_text())

    def test_the_comparison_of_iterations_writes_table_and_json(self):
        self.compare("iteration", "--backbone", "resnet-small", "--image-size", "16",
                     "--batch-size", "4", "--iterations", "2", "--inner-repeats", "2",
                     "--threads", "1")
        result = json.loads((self.folder / "iteration" / "comparison.json").read_text())
        for turn in result["rounds"]:
            self.assertEqual(turn["ours"]["batch_size"], turn["theirs"]["batch_size"])
        self.assertAlmostEqual(result["ratio"],
                               result["ours"]["median"] / result["theirs"]["median"])

    def compare(self, what, *words):
        self.run_words(sys.executable, BENCHMARKS / "compare_pytorch.py", what, PROGRAM, *words,
                       "--repeats", "1", "--warmup", "0", "--out", self.folder / what)


class PartsTest(unittest.TestCase):
    def test_herding_takes_the_image_nearest_to_the_mean_first(self):
        # The mean is 3; of 0, 2, 7 the nearest is 2; then (2 + 7) / 2 = 4.5 and (2 + 0) / 2 = 1
        # lie 1.5 and 2 away, so 7 comes next, 0 last, and 2 again when all were used.
        features = torch.tensor([[0.0], [2.0], [7.0]])
        self.assertEqual(pytorch_proca.herd(features, 4).tolist(), [1, 2, 0, 1])

    def test_detection_keeps_classes_with_enough_probability(self):
        # Sums 1.5, 0.4, 0.1 are 1, 3/14, 0 once normalised; the threshold is 0.15.
        probabilities = torch.tensor([[0.8, 0.15, 0.05], [0.7, 0.25, 0.05]])
        found = pytorch_proca.detect(probabilities, torch.full((3,), 1 / 3), "scd")
        self.assertEqual(found.tolist(), [0, 1])

    def test_an_image_alone_joins_the_batch_before(self):
        device = torch.device("cpu")
        self.assertEqual([len(b) for b in pytorch_proca.batches(9, 4, device)], [4, 5])
        self.assertEqual([len(b) for b in pytorch_proca.batches(10, 4, device)], [4, 4, 2])
        self.assertEqual([len(b) for b in pytorch_proca.batches(1, 4, device)], [2])

    def test_replay_goes_through_all_prototypes_before_it_draws(self):
        parts = pytorch_proca.replay_batches(5, 2, 5, torch.device("cpu"))
        self.assertEqual([len(part) for part in parts], [2, 2, 2, 2, 2])
        self.assertEqual(sorted(torch.cat(parts[:3]).unique().tolist()), [0, 1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
