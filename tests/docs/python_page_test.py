#!/usr/bin/env python3
"""Runs the code of docs/guide/python.md, as it stands there, against a tiny state.

    python_page_test.py PROGRAM PAGE

Exit status 77, which CTest takes as "skipped", where torch, torchvision, numpy or Pillow
is missing.
"""
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy
    import torch  # noqa: F401
    import torchvision  # noqa: F401
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, PAGE = "", ""


def proca(*words):
    subprocess.run([PROGRAM, *words, "--quiet", "--threads", "2"], check=True,
                   stdout=subprocess.DEVNULL)


def draw_images(folder, count, seed):
    """Noise: a network that takes other steps than ours gives other probabilities."""
    random = numpy.random.default_rng(seed)
    for name in ("dark", "light"):
        (folder / name).mkdir(parents=True)
        low = 0 if name == "dark" else 100
        for i in range(count):
            pixels = random.integers(low, low + 155, (40, 48, 3), dtype=numpy.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")


class PythonPageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        draw_images(Path("source"), 8, seed=0)
        draw_images(Path("target"), 8, seed=1)
        draw_images(Path("new-classes"), 2, seed=2)
        os.mkdir("new")
        for i, file in enumerate(sorted(Path("new-classes").rglob("*.png"))):
            file.rename(f"new/{i}.png")
        proca("pretrain", "--source", "source", "--out", "state", "--backbone", "resnet18",
              "--image-size", "32", "--epochs", "1", "--batch-size", "8")
        proca("adapt", "--state", "state", "--target", "target", "--epochs", "1",
              "--batch-size", "8", "--prototypes", "2")

    def run_page(self):
        """All blocks in order; returns what they print."""
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            for language, code in re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.M | re.S):
                if language == "sh":
                    proca(*shlex.split(code)[1:])
                else:
                    exec(compile(code, "python.md", "exec"), names)
        return printed.getvalue()

    def test_the_page_does_what_it_says(self):
        printed = self.run_page()
        self.assertEqual(printed.count("new/"), 4, printed)
        self.assertIn("16 images labelled", printed)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    PAGE = Path(sys.argv[2]).read_text()
    unittest.main(argv=sys.argv[:1])
