#!/usr/bin/env python3
"""Kills `proca watch` again and again while batches arrive.

    watch_test.py PROGRAM FAULT_LIBRARY FOLDER [BATCHES [KILLS [MOMENTS [SEED]]]]

Each life of the watcher ends with SIGKILL in a random call that changes a file of state, inbox or
the folder for what is done, or well. In the end each batch must have been adapted to once, in the
order in which they came, have one line in the log, and be where it belongs; the state must be, bit
for bit, as without kills. Some batches are broken, and must be put aside once. Then a single batch
is watched with a kill at MOMENTS of all moments (or `all`), for --done, --delete and --keep.
"""

import json
import os
import random
import shutil
import signal
import sys

import sandbox

BROKEN = 7  # every so many batches


class Stream:
    def __init__(self, box, name, batches):
        self.box, self.batches = box, batches
        self.place = box / name  # what calls are counted below
        self.state, self.inbox, self.done = (os.path.join(self.place, part) for part in ["state", "inbox", "done"])
        sandbox.copy(box / "none", self.place)
        os.makedirs(self.inbox)
        shutil.copytree(box / "trained", self.state)

    def words(self, after):
        words = self.box.adapt(self.state, epochs=1)
        at = words.index("--target")
        return ["watch"] + words[1:at] + words[at + 2 :] + ["--inbox", self.inbox, "--once"] + after

    def after(self):
        return ["--done", self.done]

    def arrive(self, number):
        """As a careful sender does it: the marker last."""
        folder = os.path.join(self.inbox, self.name(number))
        sandbox.write_images(folder, [number % 3], 2, "target", first=2 * number, flat=True)
        if self.is_broken(number):
            with open(os.path.join(folder, "0-broken.png"), "wb") as file:
                file.write(b"no picture")
        open(os.path.join(folder, ".complete"), "w").close()

    def name(self, number):
        return f"batch-{number:03}"

    def is_broken(self, number):
        return number % BROKEN == BROKEN - 1

    def good(self):
        return [self.name(number) for number in range(self.batches) if not self.is_broken(number)]

    def broken(self):
        return [self.name(number) for number in range(self.batches) if self.is_broken(number)]

    def check(self, what):
        manifest = json.loads(sandbox.read(self.state, "state.json"))
        assert manifest["step"] == len(self.good()), f"{what}: {manifest['step']} steps for {len(self.good())} batches"
        lines = [json.loads(line) for line in sandbox.read(self.state, "watch.jsonl").splitlines()]
        adapted = [line["batch"] for line in lines if line["outcome"] == "adapted"]
        failed = [line["batch"] for line in lines if line["outcome"] == "failed"]
        assert adapted == self.good(), f"{what}: {adapted}"
        assert failed == self.broken(), f"{what}: {failed}"
        assert len(lines) == self.batches, f"{what}: {lines}"
        assert [line["step"] for line in lines if line["outcome"] == "adapted"] == list(range(1, len(adapted) + 1))
        for number in range(self.batches):
            if self.is_broken(number):
                continue
            step = self.good().index(self.name(number)) + 1
            labels = sandbox.read(self.state, "steps", f"{step:02}", "pseudo_labels.csv")
            assert self.name(number).encode() in labels, f"{what}: {self.name(number)} is not in its step"
        assert sorted(os.listdir(self.done)) == self.good(), f"{what}: {os.listdir(self.done)}"
        for name in self.good():
            assert len(os.listdir(os.path.join(self.done, name))) == 3, f"{what}: {name}"
        left = [name for name in os.listdir(self.inbox) if name != ".proca-watch.lock"]
        assert left == (["failed"] if failed else []), f"{what}: {left}"
        if failed:
            assert sorted(os.listdir(os.path.join(self.inbox, "failed"))) == failed, what
        assert not os.path.exists(os.path.join(self.state, "watch.json")), what
        sandbox.expect_nothing_left(self.place)


def live_well(stream):
    stream.box.call_well(stream.words(stream.after()))


def content_of(stream):
    """What must not depend on kills. Names of images have the folder of the stream in them, of the same length."""
    content = sandbox.content_of_state(stream.state)
    return {
        name: value.replace(stream.place.encode(), b"") if isinstance(value, bytes) else value
        for name, value in content.items()
    }


def random_kills(box, batches, kills, choice):
    reference = Stream(box, "whole", batches)
    calls = 0
    for number in range(batches):
        reference.arrive(number)
        if number == 1:
            calls = box.list_calls(reference.words(reference.after()), reference.place)[-1][-1]
        else:
            live_well(reference)
    reference.check("without kills")
    wanted = content_of(reference)
    stream = Stream(box, "kills", batches)
    arrived = killed = lives = 0
    while True:
        # One at a time, or several at once.
        while arrived < batches and (choice.random() < 0.5 or arrived * kills <= killed * batches):
            stream.arrive(arrived)
            arrived += 1
            if choice.random() < 0.5:
                break
        lives += 1
        faults = box.faults(stream.place, "kill", choice.randrange(1, calls + 1)) if killed < kills else {}
        result = box.call(stream.words(stream.after()), faults)
        assert result.code in (0, -signal.SIGKILL), result
        killed += result.code != 0
        if arrived == batches and result.code == 0:
            break
    stream.check("with kills")
    different = sandbox.differences(content_of(stream), wanted)
    assert not different, f"not as without kills: {different}"
    print(f"{batches} batches, {killed} kills in {lives} lives: each done once, none lost", flush=True)


def one_batch(box, wanted, after, check):
    """A batch, and a kill in calls that the watcher makes for it."""
    begin = Stream(box, "begin", 1)
    begin.arrive(0)
    place = box / "each"
    stream = Stream(box, "each", 1)

    def again():
        sandbox.copy(begin.place, place)

    again()
    moments = box.list_calls(stream.words(after(stream)), place)
    check(stream, "without a kill")
    choice = random.Random(1)
    if wanted != "all":
        moments = choice.sample(moments, min(int(wanted), len(moments)))
    for moment in moments:
        number = choice.choice(moment)
        again()
        result = box.call(stream.words(after(stream)), box.faults(place, "kill", number))
        assert result.code == -signal.SIGKILL, f"call {number}: {result}"
        box.call_well(stream.words(after(stream)))
        check(stream, f"killed at call {number}")
    print(f"{' '.join(after(stream)[:1])}: a kill at {len(moments)} moments", flush=True)


def check_left(expected):
    def check(stream, what):
        manifest = json.loads(sandbox.read(stream.state, "state.json"))
        lines = sandbox.read(stream.state, "watch.jsonl").splitlines()
        left = sorted(name for name in os.listdir(stream.inbox) if name != ".proca-watch.lock")
        assert manifest["step"] == 1 and len(lines) == 1, f"{what}: step {manifest['step']}, {lines}"
        assert left == expected, f"{what}: {left}"

    return check


def main(program, library, folder, batches="8", kills="6", moments="10", seed="0"):
    print(f"seed {seed}")
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    box.call_well(box.pretrain(box / "trained"))
    random_kills(box, int(batches), int(kills), random.Random(int(seed)))
    one_batch(box, moments, lambda stream: stream.after(), lambda stream, what: stream.check(what))
    one_batch(box, moments, lambda stream: ["--delete"], check_left([]))
    one_batch(box, moments, lambda stream: ["--keep"], check_left(["batch-000"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
