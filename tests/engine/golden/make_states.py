#!/usr/bin/env python3
"""Makes a state of a format version, and what the program of its time said.

    make_states.py PROGRAM VERSION

Run in an empty folder with Debian's Python, which has torch. Version 2 is of the program of commit
cf0db48. Version 1 had no adaptation: it is a source state of that program without the keys that
came later. Version 3 is of the first program that wrote it. What was written once must be
readable for ever: a new version gets a new state, the old ones stay.
"""

import json
import os
import subprocess
import sys
import zlib

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../crash"))
import sandbox  # noqa: E402


class Backbone(torch.nn.Module):
    """A network of a few hundred bytes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(3, 4, 3, stride=2)

    def forward(self, x):
        return torch.relu(self.conv(x))


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def change(path, edit):
    with open(path) as file:
        manifest = json.load(file)
    edit(manifest)
    sealed = manifest.pop("crc32", None) is not None
    text = json.dumps(manifest, indent=2)
    if sealed:
        content = text[: -len("\n}")]
        text = f'{content},\n  "crc32": "{zlib.crc32(content.encode()):08x}"\n}}'
    with open(path, "w") as file:
        file.write(text + "\n")


def without_adaptation(manifest):
    manifest["format_version"] = 1
    for key in ["method", "adapted_classes", "step_digest", "adapting"]:
        del manifest[key]
    del manifest["model"]["neck"]


def main(program, version):
    state = f"state_v{version}"
    torch.jit.script(Backbone()).save("tiny.pt")
    sandbox.write_images("source", range(3), 2, "source")
    sandbox.write_images("images", range(2), 2, "target", flat=True)
    common = ["--threads", "1", "--device", "cpu", "--quiet"]
    training = ["--backbone", "script:tiny.pt", "--image-size", "16", "--epochs", "2"]
    run(program, "pretrain", "--source", "source", "--out", state, "--batch-size", "6", *training, *common)
    if version == "1":
        change(f"{state}/state.json", without_adaptation)
    else:
        method = ["--epochs", "1", "--batch-size", "4", "--prototypes", "2", "--capture-first", "0"]
        run(program, "adapt", "--state", state, "--target", "images", *method, *common)
    # No path of the machine it was made on.
    change(f"{state}/state.json", lambda manifest: manifest.update(source="source"))
    os.remove(f"{state}/lock")
    said = run(program, "predict", "images", "--state", state, "--top", "3", "--format", "json")
    with open(f"{state}.json", "w") as file:
        file.write(said)


if __name__ == "__main__":
    main(*sys.argv[1:])
