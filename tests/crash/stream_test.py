#!/usr/bin/env python3
"""A stream of many steps: memory and disk must not grow with it.

    stream_test.py PROGRAM FAULT_LIBRARY FOLDER [STEPS]

`proca adapt` takes a state through STEPS steps, a process each, on images that are new at every step.
The state without the records of the steps must be as large after the last step as after the
first few; the records of a step must be no larger at the end than at the beginning; the memory of
the process must be the same. tests/engine/long_stream_test.cpp does it with one Adapter in one process.
"""

import json
import os
import shutil
import sys

import sandbox

SETTLED = 5  # steps until every class has been seen


def size_of(folder, names):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in names)


class Stream:
    """What a state takes, step by step."""

    def __init__(self, state):
        self.state = state
        self.core, self.records, self.events, self.memory, self.seconds = [], [], [], [], []

    def measure(self):
        names = list(sandbox.files_below(self.state))
        last = f"steps/{len(self.core) + 1:02}/"
        self.core.append(
            size_of(self.state, [n for n in names if not n.startswith("steps/") and n not in ("events.jsonl", "state.json")])
        )
        self.records.append(size_of(self.state, [n for n in names if n.startswith(last)]))
        self.events.append(os.path.getsize(os.path.join(self.state, "events.jsonl")))
        for line in sandbox.read(self.state, "events.jsonl").splitlines():
            event = json.loads(line)
            if event["event"] == "step":
                memory, seconds = event["peak_memory_bytes"], event["seconds"]
        self.memory.append(memory)
        self.seconds.append(seconds)

    def check(self, name):
        def growth(values):
            return max(values[SETTLED:]) / max(values[: SETTLED + 1])

        manifest = os.path.getsize(os.path.join(self.state, "state.json"))
        steps = len(self.core)
        per_step = (self.events[-1] - self.events[SETTLED]) / (steps - 1 - SETTLED)
        middle = sorted(self.seconds[SETTLED : steps // 2]), sorted(self.seconds[steps // 2 :])
        print(
            f"{name}: {steps} steps\n"
            f"  state without records: {self.core[SETTLED]} bytes after step {SETTLED + 1}, {self.core[-1]} after the last\n"
            f"  records of a step: {self.records[SETTLED]} bytes, of the last {self.records[-1]}\n"
            f"  events: {per_step:.0f} bytes per step; state.json: {manifest / steps:.0f} bytes per step\n"
            f"  peak memory: {self.memory[SETTLED] / 1e6:.1f} MB after step {SETTLED + 1}, {self.memory[-1] / 1e6:.1f} MB after the last\n"
            f"  median seconds per step: {middle[0][len(middle[0]) // 2]:.3f} in the first half, "
            f"{middle[1][len(middle[1]) // 2]:.3f} in the second",
            flush=True,
        )
        # Paths and numbers have a few more digits in later steps.
        assert growth(self.core) < 1.01, f"{name}: the state grows: {self.core}"
        assert growth(self.records) < 1.1, f"{name}: the records grow: {self.records}"
        assert growth(self.memory) < 1.1, f"{name}: memory grows: {self.memory}"
        assert per_step < 5000, f"{name}: {per_step} bytes of events per step"
        # Two files are named of every step, five at most.
        assert manifest / steps < 1000, f"{name}: {manifest} bytes of manifest"


def images_of_step(box, step):
    """All classes in turn, two at a time."""
    folder = box / "stream"
    shutil.rmtree(folder, ignore_errors=True)
    labels = [step % 3, (step + 1) % 3]
    sandbox.write_images(folder, labels, 4, "target", first=4 * step, flat=True)


def main(program, library, folder, steps="12"):
    steps = int(steps)
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    box.call_well(box.pretrain(box / "trained"))
    sandbox.copy(box / "trained", box / "state")
    stream = Stream(box / "state")
    for step in range(steps):
        images_of_step(box, step)
        box.call_well(box.adapt(box / "state", "stream"))
        stream.measure()
    stream.check("proca adapt")


if __name__ == "__main__":
    main(*sys.argv[1:])
