#!/usr/bin/env python3
"""Damages files and gives them to the program.

    damage_test.py PROGRAM FAULT_LIBRARY FOLDER [DAMAGES [SEED]]

Of a finished state, one in the middle of source training, one in the middle of a step, a run and a
packed file, a file is cut off at a boundary or gets a flipped bit. The command that reads it must
end with exit 2 and one sentence that names the file, or with the right answer. C++ tests do the
same within the library to every file and boundary (state_damage_test.cpp, packed_file_test.cpp).
"""

import json
import os
import random
import struct
import sys

import sandbox
from faults_test import expect_one_sentence


def boundaries(path):
    """Where a file can be cut: nothing, a byte, header, each tensor, before the last byte."""
    content = sandbox.read(path)
    cuts = {0, 1, len(content) // 2, len(content) - 1}
    if path.endswith(".safetensors"):
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        cuts |= {8, 8 + length}
        cuts |= {8 + length + entry["data_offsets"][1] for name, entry in header.items() if name[0] != "_"}
    if path.endswith(".procapack"):
        index, text = struct.unpack("<24xQQ", content[:40])
        cuts |= {8, 64, 4096, index, text}
    return sorted(cut for cut in cuts if 0 <= cut < len(content))


def damage(path, choice):
    """Damages a file and returns a description."""
    content = bytearray(sandbox.read(path))
    if choice.random() < 0.5:
        cut = choice.choice(boundaries(path))
        done, content = f"cut to {cut} of {len(content)} bytes", content[:cut]
    else:
        place, bit = choice.randrange(len(content)), choice.randrange(8)
        content[place] ^= 1 << bit
        done = f"bit {bit} of byte {place} flipped"
    with open(path, "wb") as file:
        file.write(content)
    return done


class Case:
    """A place with files, and a command that reads it and prints or leaves an answer."""

    def __init__(self, name, begin, place, words, answer, passed_over=("lock",)):
        self.name, self.begin, self.place, self.words = name, begin, place, words
        self.answer, self.passed_over = answer, passed_over

    def files(self):
        if not os.path.isdir(self.begin):
            return [""]
        names = sandbox.files_below(self.begin)
        return [name for name in names if os.path.basename(name) not in self.passed_over]

    def call(self, box):
        return box.call(self.words)

    def measure(self, box):
        sandbox.copy(self.begin, self.place)
        result = self.call(box)
        assert result.code == 0, f"{self.name}: {result}"
        self.reference = self.answer(result)

    def damage_one(self, box, choice):
        sandbox.copy(self.begin, self.place)
        file = choice.choice(self.files())
        path = os.path.join(self.place, file) if file else self.place
        if os.path.getsize(path) == 0:
            return False
        what = f"{self.name}: {file or self.place}: {damage(path, choice)}"
        result = self.call(box)
        if result.code == 0:
            assert self.answer(result) == self.reference, f"{what}: a wrong answer: {result}"
            return False
        expect_one_sentence(result, box, what)
        assert result.code == 2, f"{what}: {result}"
        # A file that was not renamed yet is called by the name it is to have.
        name = os.path.basename(path).removesuffix(".next")
        assert name in result.err, f"{what}: is not named: {result}"
        return True


def printed(result):
    return result.out


def killed_at(box, place, words, part):
    """A state as a kill in the middle leaves it, with a checkpoint that has `part`."""
    for at in range(20, 400, 7):
        result = box.call(words, box.faults(place, "kill", at))
        if result.code == 0:
            raise AssertionError(f"{place}: never was in the middle")
        state = os.path.join(place, "state.json")
        if os.path.exists(state) and part in json.loads(sandbox.read(state))["files"]:
            return
    raise AssertionError(f"{place}: no {part}")


def main(program, library, folder, damages="24", seed="0"):
    damages, choice = int(damages), random.Random(int(seed))
    print(f"seed {seed}, {damages} damages")
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    trained, state, run, packed = box / "trained", box / "state", box / "run", box / "packed.procapack"
    box.call_well(box.pretrain(trained))
    sandbox.copy(trained, box / "adapted")
    box.call_well(box.adapt(box / "adapted"))
    sandbox.copy(trained, state)
    killed_at(box, state, box.adapt(state, epochs=3), "training_memory.safetensors")
    sandbox.copy(state, box / "in-a-step")
    sandbox.copy(box / "none", state)
    killed_at(box, state, box.pretrain(state, epochs=4), "optimizer.safetensors")
    sandbox.copy(state, box / "in-training")
    box.call_well(box.run_protocol(box / "whole-run"))
    box.call_well(box.pack(box / "whole.procapack"))

    def left_state(_):
        return sandbox.content_of_state(state)

    def left_run(_):
        return sandbox.content_of_run(run)

    def report(_):
        document = json.loads(sandbox.read(box / "report.json"))
        return {key: value for key, value in document.items() if key != "created"}

    # Writers add to the events and do not read them; `report` does.
    written = ("lock", "events.jsonl")
    report_words = ["--json", box / "report.json", "--out", box / "report.html"]
    cases = [
        Case("inspect", box / "adapted", state, ["inspect", "--state", state, "--json"], printed),
        Case("predict", box / "adapted", state, ["predict", box / "day0", "--state", state, "--quiet"], printed),
        Case("adapt on", box / "in-a-step", state, box.adapt(state, epochs=3), left_state, written),
        Case("pretrain on", box / "in-training", state, box.pretrain(state, epochs=4), left_state, written),
        Case("run again", box / "whole-run", run, box.run_protocol(run), left_run, written),
        Case("report", box / "whole-run", run, ["report", run] + report_words, report),
        Case("verify", box / "whole.procapack", packed, ["data", "verify", packed], printed),
    ]
    for number, case in enumerate(cases):
        case.measure(box)
        count = damages // len(cases) + (number < damages % len(cases))
        found = sum(case.damage_one(box, choice) for _ in range(count))
        print(f"{case.name}: {count} damages, {found} refused, {count - found} without effect", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
