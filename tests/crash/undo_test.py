#!/usr/bin/env python3
"""Kills `proca undo` and `proca adapt --out` in the middle of calls that change files.

    undo_test.py PROGRAM FAULT_LIBRARY FOLDER [CALLS]

`undo` is killed in every call: the state must be whole, the one before or the one after, and the
same command, if it is still needed, must leave every file as it was before the step. CALLS (or
`all`) of a step are killed, which is then finished, and taken back; and of the making of a copy. An
unfinished step is forgotten, and a step is taken back on a file system without hard links.
"""

import os
import random
import signal
import sys

import sandbox


def files_of(state):
    """Every file, byte for byte, but the id in the lock and what is kept of earlier steps."""
    names = [name for name in sandbox.files_below(state) if name != "lock" and not name.startswith("history/")]
    folders = [os.path.relpath(place, state) for place, _, _ in os.walk(state)]
    content = {name: sandbox.read(state, name) for name in names}
    content["folders"] = sorted(folder for folder in folders if not folder.startswith("history"))
    return content


def expect_equal(found, wanted, what):
    different = sandbox.differences(found, wanted)
    assert not different, f"{what}: {different}"


def undo(state):
    return ["undo", "--state", state]


def chosen(moments, calls):
    """One call for each moment, or so many of them."""
    choice = random.Random(0)
    numbers = [choice.choice(moment) for moment in moments]
    return numbers if calls == "all" else sorted(choice.sample(numbers, min(int(calls), len(numbers))))


def kill_undo(box, former, adapted, calls):
    state = box / "state"
    before, after = sandbox.content_of_state(adapted), sandbox.content_of_state(former)
    sandbox.copy(adapted, state)
    numbers = chosen(box.list_calls(undo(state), state), calls)
    expect_equal(files_of(state), files_of(former), "undo")
    taken_back = 0
    for number in numbers:
        what = f"undo killed at call {number}"
        sandbox.copy(adapted, state)
        result = box.call(undo(state), box.faults(state, "kill", number))
        assert result.code == -signal.SIGKILL, f"{what}: {result}"
        box.call_well(["inspect", "--state", state])
        content = sandbox.content_of_state(state)
        is_done = content["manifest"]["step"] == after["manifest"]["step"]
        taken_back += is_done
        expect_equal(content, after if is_done else before, what)
        result = box.call(undo(state))
        # The next writer finishes what is left, whether or not there is a step to take back.
        assert result.code == (2 if is_done else 0), f"{what}: {result}"
        expect_equal(files_of(state), files_of(former), what)
        sandbox.expect_nothing_left(state)
        assert not os.path.exists(os.path.join(state, "history")), what
    assert 0 < taken_back < len(numbers) or calls != "all", taken_back
    print(f"undo: {len(numbers)} kills, {taken_back} of them after it had taken effect", flush=True)


def kill_step(box, former, calls):
    """A step that was killed, and then finished, is taken back as any other."""
    state = box / "state"
    words = box.adapt(state, "day1")
    sandbox.copy(former, state)
    numbers = chosen(box.list_calls(words, state), calls)
    for number in numbers:
        sandbox.copy(former, state)
        result = box.call(words, box.faults(state, "kill", number))
        assert result.code == -signal.SIGKILL, f"call {number}: {result}"
        box.call_well(words)
        box.call_well(undo(state))
        expect_equal(files_of(state), files_of(former), f"a step killed at call {number}")
    print(f"steps: {len(numbers)} killed, finished, and taken back", flush=True)


def forget_step(box, former):
    state = box / "state"
    sandbox.copy(former, state)
    faults = box.faults(state, "kill", 2, call="rename", file="/state.json")
    assert box.call(box.adapt(state, "day1"), faults).code == -signal.SIGKILL
    refused = box.call(undo(state))
    assert refused.code == 2 and "step 2 is under way" in refused.err, refused
    box.call_well(undo(state) + ["--discard-unfinished"])
    expect_equal(files_of(state), files_of(former), "a forgotten step")
    print("an unfinished step: refused, and forgotten where wanted", flush=True)


def without_links(box, former):
    """Where files cannot have two names they are copied."""
    state = box / "state"
    sandbox.copy(former, state)
    none = box.faults(state, "eperm", 1, call="linkat")
    box.call_well(box.adapt(state, "day1"), none)
    kept = os.path.join(state, "history", "01", "model.safetensors")
    assert sandbox.read(kept) == sandbox.read(former, "model.safetensors")
    box.call_well(undo(state), none)
    expect_equal(files_of(state), files_of(former), "without links")
    print("a file system without links: the same", flush=True)


def kill_copy(box, former, adapted, calls):
    """`adapt --out`: the same command comes to the same end, and the old state stays."""
    copy = box / "copy"
    words = box.adapt(former, "day1") + ["--out", copy]
    sandbox.copy(box / "none", copy)
    moments = box.list_calls(words, copy)
    old = files_of(former)
    reference = sandbox.content_of_state(adapted)
    expect_equal(sandbox.content_of_state(copy), reference, "adapt --out")
    numbers = chosen(moments, calls)
    for number in numbers:
        sandbox.copy(box / "none", copy)
        result = box.call(words, box.faults(copy, "kill", number))
        assert result.code == -signal.SIGKILL, f"call {number}: {result}"
        box.call_well(words)
        expect_equal(sandbox.content_of_state(copy), reference, f"adapt --out killed at call {number}")
        sandbox.expect_nothing_left(copy)
        again = box.call_well(words)
        assert "nothing to do" in again.out, again
    expect_equal(files_of(former), old, "--state of adapt --out")
    other = box.call(box.adapt(former, "day2") + ["--out", copy])
    assert other.code == 2 and "use a new folder" in other.err, other
    print(f"adapt --out: {len(numbers)} kills", flush=True)


def main(program, library, folder, calls="12"):
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    former, adapted = box / "former", box / "adapted"
    box.call_well(box.pretrain(former))
    box.call_well(box.adapt(former, "day0"))
    sandbox.copy(former, adapted)
    box.call_well(box.adapt(adapted, "day1"))
    kill_undo(box, former, adapted, "all")
    kill_step(box, former, calls)
    forget_step(box, former)
    without_links(box, former)
    kill_copy(box, former, adapted, calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
