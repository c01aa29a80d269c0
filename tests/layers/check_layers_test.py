"""Does check_layers.py refuse what it should? Each case is a small tree of its own."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_layers.py")

GOOD_TREE = {
    "src/README.md": "# Modules\n\n1. `core`: base\n2. `data`: images\n3. `models`: networks\n4. `losses`: sums\n",
    "src/CMakeLists.txt": "set(proca_modules core data models losses)\n",
    "src/core/error.cpp": '#include "proca/core/error.h"\n',
    "src/data/image.cpp": '#include "proca/data/image.h"\n\n#include "proca/core/error.h"\n#include "codec.h"\n',
    "src/data/codec.h": "#pragma once\n",
    "src/losses/sum.cpp": '#include <torch/torch.h>\n\n#include "proca/models/network.h"\n',
    "include/proca/core/error.h": "#include <string>\n",
    "include/proca/data/image.h": "#include <vector>\n",
    "include/proca/models/network.h": '#include <torch/types.h>\n\n#include "proca/core/error.h"\n',
}

# name -> (files laid over the good tree, what the output must contain)
BAD_TREES = {
    "a module includes one below it": (
        {"src/models/network.cpp": '#include <vector>\n#include "proca/losses/sum.h"\n'},
        "src/models/network.cpp:2: models includes proca/losses/sum.h"),
    "a public header includes a module below it": (
        {"include/proca/core/log.h": "#include <proca/data/image.h>\n"},
        "include/proca/core/log.h:1: core includes proca/data/image.h"),
    "an include with spaces is seen": (
        {"src/core/log.cpp": '\n  #  include  "proca/data/image.h"\n'},
        "src/core/log.cpp:2: core includes proca/data/image.h"),
    "a public header includes all of LibTorch": (
        {"include/proca/losses/sum.h": "#pragma once\n\n#include <torch/torch.h>\n"},
        "include/proca/losses/sum.h:3: a public header includes <torch/torch.h>"),
    "core includes LibTorch": (
        {"src/core/seed.cpp": "#include <torch/types.h>\n"},
        "src/core/seed.cpp:1: core includes <torch/types.h>"),
    "data includes a part of LibTorch": (
        {"include/proca/data/batch.h": "#include <ATen/Tensor.h>\n"},
        "include/proca/data/batch.h:1: data includes <ATen/Tensor.h>"),
    "a source lies in an unlisted folder": (
        {"src/helpers/text.cpp": "int x;\n"}, "src/helpers/text.cpp:1: lies in no module"),
    "a source lies in no folder": ({"src/text.cpp": "int x;\n"}, "src/text.cpp:1: lies in no module"),
    "a header lies in an unlisted folder": (
        {"include/proca/helpers/text.h": "int x;\n"}, "include/proca/helpers/text.h:1: lies in no module"),
    "an unlisted module is included": (
        {"src/core/log.cpp": '#include "proca/helpers/text.h"\n'},
        "src/core/log.cpp:1: proca/helpers/text.h is of no module"),
    "an include climbs": (
        {"src/losses/sum.cpp": '#include "../data/codec.h"\n'}, "src/losses/sum.cpp:1: \"../data/codec.h\" climbs"),
    "a private header of another module is included": (
        {"src/losses/sum.cpp": '#include "data/codec.h"\n'},
        "src/losses/sum.cpp:1: data/codec.h is a private header of data"),
    "a public header includes a private one": (
        {"include/proca/data/image.h": '#include "codec.h"\n'},
        'include/proca/data/image.h:1: a public header includes "codec.h"'),
    "the build has another list": (
        {"src/CMakeLists.txt": "\nset(proca_modules core models data losses)\n"},
        "src/CMakeLists.txt:2: proca_modules is not the list"),
    "the list is empty": ({"src/README.md": "# Modules\n"}, "src/README.md:1: lists no modules"),
}


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)


class CheckLayersTest(unittest.TestCase):
    def test_accepts_a_good_tree(self):
        result = run(GOOD_TREE)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_refuses_every_bad_tree_and_names_the_line(self):
        for name, (files, message) in BAD_TREES.items():
            with self.subTest(name):
                result = run({**GOOD_TREE, **files})
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertTrue(result.stdout.startswith(message), result.stdout)
                self.assertEqual(result.stdout.count("\n"), 1, result.stdout)


if __name__ == "__main__":
    unittest.main()
