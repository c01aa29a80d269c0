#!/usr/bin/env python3
"""Kills the program again and again, and sees whether anything was lost.

    kill_test.py PROGRAM FAULT_LIBRARY FOLDER [KILLS [SEED]]

`pretrain`, `adapt` (two steps), `run` and `data pack` are started, ended with SIGKILL, and
started again with the same words until they are done. A kill comes in the middle of a random
call that changes a file, with half of its bytes written; every other one of a random file, however
few calls write it. In the end everything must be, bit for bit, as without kills: model, memory, decisions,
metrics, and every epoch and step exactly once in the events. Then it begins anew, until there
were enough kills.
"""

import os
import random
import signal
import sys

import sandbox


class Work:
    """Commands that are given one after the other, and what they leave."""

    def __init__(self, name, place, begin, commands, content_of):
        self.name, self.place, self.begin = name, place, begin
        self.commands, self.content_of = commands, content_of
        self.kills = self.resumes = self.completions = 0

    def measure(self, box):
        """Without kills: the outcome, and the calls of each command."""
        sandbox.copy(self.begin, self.place)
        self.calls = [box.list_calls(words, self.place) for words in self.commands]
        self.reference = self.content_of(self.place)
        sandbox.expect_nothing_left(self.place)

    def go(self, box, kills, choice):
        """From the beginning to the end, with up to so many kills."""
        sandbox.copy(self.begin, self.place)
        for index, words in enumerate(self.commands):
            lives = 0
            while True:
                result = self.live(box, index, words, kills > 0, choice)
                lives += 1
                if result.code == 0:
                    break
                assert result.code == -signal.SIGKILL, f"{self.name}: {result}"
                kills -= 1
                self.kills += 1
                self.resumes += 1
        self.completions += 1
        different = sandbox.differences(self.content_of(self.place), self.reference)
        assert not different, f"{self.name}: not as without kills: {different}"
        sandbox.expect_nothing_left(self.place)

    def live(self, box, index, words, may_die, choice):
        if not may_die:
            return box.call(words)
        moments = self.calls[index]
        if choice.random() < 0.5:
            at = choice.randrange(1, moments[-1][-1] + 1)
        else:
            at = choice.choice(choice.choice(moments))
        return box.call(words, box.faults(self.place, "kill", at))


def main(program, library, folder, kills="20", seed="0"):
    kills, choice = int(kills), random.Random(int(seed))
    print(f"seed {seed}, {kills} kills")
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    box.call_well(box.pretrain(box / "trained"))
    state, run, file = box / "state", box / "run", box / "packed.procapack"
    works = [
        Work("pretrain", state, box / "none", [box.pretrain(state, epochs=4)], sandbox.content_of_state),
        Work(
            "adapt",
            box / "adapted",
            box / "trained",
            [box.adapt(box / "adapted", day, epochs=3) for day in ["day0", "day1"]],
            sandbox.content_of_state,
        ),
        Work("run", run, box / "none", [box.run_protocol(run)], sandbox.content_of_run),
        Work("data pack", file, box / "none", [box.pack(file)], sandbox.content_of_file),
    ]
    for number, work in enumerate(works):
        work.measure(box)
        # An equal share for each, the first ones get what is over.
        wanted = kills // len(works) + (number < kills % len(works))
        while work.kills < wanted:
            work.go(box, min(wanted - work.kills, 12), choice)
        print(
            f"{work.name}: {work.kills} kills, {work.resumes} resumes, "
            f"{work.completions} times to the end, 0 losses",
            flush=True,
        )
    print(f"{sum(work.kills for work in works)} kills")


if __name__ == "__main__":
    main(*sys.argv[1:])
