#!/usr/bin/env python3
"""Lets calls that change files fail, one after the other.

    faults_test.py PROGRAM FAULT_LIBRARY FOLDER [CALLS]

`pretrain`, `adapt`, `run`, `data pack` and `export` are given with the N-th call that changes a
file failing (I/O error), or the disk full from there on, or half a write done. Each must end with one
sentence that names a file, or well; what was there before must still be whole; and the same
command without the fault must end as if there had been none. CALLS of each command are tried, or `all`, where
of calls that write one file piece by piece a random one stands for the others.
"""

import os
import random
import sys

import sandbox

KINDS = ["eio", "enospc", "short"]


def expect_one_sentence(result, box, what):
    lines = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert result.code in (1, 2), f"{what}: {result}"
    assert len(lines) == 1, f"{what}: {len(lines)} sentences: {result}"
    assert box.folder in lines[0], f"{what}: names no file: {result}"
    assert "filesystem error" not in result.err, f"{what}: {result}"
    assert "Success" not in lines[0], f"{what}: {result}"


class Case:
    def __init__(self, name, place, begin, words, content_of):
        self.name, self.place, self.begin, self.words = name, place, begin, words
        self.content_of = content_of

    def try_all(self, box, num_calls):
        before = self.content_of(self.begin) if os.path.exists(self.begin) else {}
        sandbox.copy(self.begin, self.place)
        moments = box.list_calls(self.words, self.place)
        calls = moments[-1][-1]
        reference = self.content_of(self.place)
        tried = failed = 0
        for kind in KINDS:
            choice = random.Random(f"{self.name} {kind}")
            numbers = [choice.choice(moment) for moment in moments]
            if num_calls != "all":
                numbers = sorted(choice.sample(numbers, min(int(num_calls), len(numbers))))
            for number in numbers:
                what = f"{self.name}, {kind} at call {number} of {calls}"
                sandbox.copy(self.begin, self.place)
                result = box.call(self.words, box.faults(self.place, kind, number))
                tried += 1
                if result.code != 0:
                    failed += 1
                    expect_one_sentence(result, box, what)
                    self.expect_whole(before, reference, what)
                    box.call_well(self.words)
                different = sandbox.differences(self.content_of(self.place), reference)
                assert not different, f"{what}: not as without the fault: {different}"
        print(f"{self.name}: {calls} calls, {len(moments)} moments, {tried} faults, {failed} ended it", flush=True)

    def expect_whole(self, before, reference, what):
        """What counts for readers is that of the beginning, or of the end."""
        if not os.path.exists(self.place) or not self.is_complete():
            assert not before, f"{what}: what was there is gone"
            return
        content = self.content_of(self.place)
        for name in ["model.safetensors", "memory.safetensors", "source.safetensors", "content"]:
            known = [before.get(name), reference.get(name)]
            under_way = content.get("manifest", {}).get("phase") == "pretraining"
            assert content.get(name) in known or under_way, f"{what}: {name} is neither old nor new"

    def is_complete(self):
        if not os.path.isdir(self.place) or self.name == "run":
            return True
        return os.path.exists(os.path.join(self.place, "state.json"))


def try_faults(box, num_calls):
    none = box / "none"
    state, run = box / "state", box / "run"
    packed, exported = box / "packed.procapack", box / "model.safetensors"
    cases = [
        Case("pretrain", state, none, box.pretrain(state), sandbox.content_of_state),
        Case("adapt", state, box / "trained", box.adapt(state), sandbox.content_of_state),
        Case("run", run, none, box.run_protocol(run), sandbox.content_of_run),
        Case("data pack", packed, none, box.pack(packed), sandbox.content_of_file),
        Case("export", exported, none, box.export(exported), sandbox.content_of_file),
    ]
    for case in cases:
        case.try_all(box, num_calls)


def main(program, library, folder, num_calls="4"):
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    box.call_well(box.pretrain(box / "trained"))
    try_faults(box, num_calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
