#!/usr/bin/env python3
"""What the surroundings can do to a run: a full disk, a folder that may only be read, images that
vanish, a clock that jumps, and a second process on the same state.

    environment_test.py PROGRAM FAULT_LIBRARY FOLDER
"""

import os
import shutil
import signal
import subprocess
import sys

import sandbox
from faults_test import expect_one_sentence


def full_disk(box):
    """A small file system in memory, filled up to a few kilobytes."""
    disk = box / "disk"
    os.makedirs(disk)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]
    if os.geteuid() != 0 or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        print("full disk: skipped, as only root can mount a small one")
        return
    try:
        state, filler = os.path.join(disk, "state"), os.path.join(disk, "filler")
        sandbox.copy(box / "trained", state)
        before = sandbox.content_of_state(state)
        room = shutil.disk_usage(disk).free
        for left in [0, 40_000, 500_000]:
            with open(filler, "wb") as file:
                file.write(b"\0" * max(0, room - left))
            result = box.call(box.adapt(state))
            expect_one_sentence(result, box, f"{left} bytes left")
            assert "No space left on device" in result.err, result
            assert not sandbox.differences(sandbox.content_of_state(state), before) or left > 0
            assert sandbox.content_of_state(state)["model.safetensors"] == before["model.safetensors"]
            box.call_well(["inspect", "--state", state])
        os.remove(filler)
        box.call_well(box.adapt(state))
        assert not sandbox.differences(sandbox.content_of_state(state), box.adapted)
    finally:
        subprocess.run(["umount", disk], check=True)
    print("full disk: one sentence, nothing lost")


def read_only(box):
    """Root may write everywhere, but not to a file system that is mounted read-only."""
    state = box / "read-only"
    sandbox.copy(box / "trained", state)
    mounted = False
    if os.geteuid() == 0:
        bind = ["mount", "--bind", state, state]
        if subprocess.run(bind, stderr=subprocess.DEVNULL).returncode != 0:
            print("read-only folder: skipped, as root may write to it and cannot mount it otherwise")
            return
        subprocess.run(["mount", "-o", "remount,ro,bind", state], check=True)
        mounted = True
    else:
        os.chmod(state, 0o555)
    try:
        result = box.call(box.adapt(state))
        expect_one_sentence(result, box, "read-only")
        assert result.code == 2, result
        box.call_well(["inspect", "--state", state])
    finally:
        if mounted:
            subprocess.run(["umount", state], check=True)
        else:
            os.chmod(state, 0o755)
    print("read-only folder: one sentence")


def vanished_source(box):
    source, state = box / "lost", box / "of-lost"
    shutil.copytree(box / "source", source)
    words = box.pretrain(state)
    words[words.index("--source") + 1] = source
    box.call_well(words)
    before = sandbox.content_of_state(state)
    shutil.rmtree(source)
    result = box.call(box.adapt(state))
    expect_one_sentence(result, box, "vanished source")
    assert result.code == 2 and source in result.err, result
    assert not sandbox.differences(sandbox.content_of_state(state), before)
    print("vanished source images: one sentence, exit 2")


def vanished_target(box):
    """Images that go while the step is under way, and are read from disk each time."""
    target, state = box / "going", box / "of-going"
    shutil.copytree(box / "day0", target)
    sandbox.copy(box / "trained", state)
    # More epochs than the loaders read ahead.
    words = box.adapt(state, "going", epochs=100) + ["--cache-ram", "0"]
    before = sandbox.content_of_state(state)
    process = box.start_and_stop(words, state, "rename", "/state.json", number=2)
    shutil.rmtree(target)
    os.kill(process.pid, signal.SIGCONT)
    result = box.finish(process)
    expect_one_sentence(result, box, "vanished target")
    assert result.code == 2 and target in result.err, result
    after = sandbox.content_of_state(state)
    assert after["model.safetensors"] == before["model.safetensors"]
    # With the images back, it goes on.
    shutil.copytree(box / "day0", target)
    kill_at_state(box, words, state, number=3)
    last, now = after["manifest"]["adapting"], sandbox.content_of_state(state)["manifest"]["adapting"]
    assert (now["epoch"], now["iteration"]) > (last["epoch"], last["iteration"]), f"{now} after {last}"
    print("vanished target images: one sentence, exit 2, and on when they are back")


def jumping_clock(box):
    state = box / "of-jumps"
    sandbox.copy(box / "trained", state)
    box.call_well(box.adapt(state), {"PROCA_CLOCK_JUMPS": "1"})
    events = sandbox.read(state, "events.jsonl").decode()
    years = {line[9:13] for line in events.splitlines()}
    assert len(years) > 1, "the clock did not jump"
    assert not sandbox.differences(sandbox.content_of_state(state), box.adapted)
    print("jumping clock: the same result")


def second_process(box):
    """Refused with the id of the first, which is not disturbed; a killed process blocks no other."""
    run = box / "of-two-runs"
    trained = ["--source-state", box / "trained"]
    works = {
        "pretrain": (box / "of-two", box / "none", box.pretrain(box / "of-two", epochs=4), "/optimizer.safetensors"),
        "adapt": (box / "adapted-by-two", box / "trained", box.adapt(box / "adapted-by-two"), "/training.safetensors"),
        "run": (os.path.join(run, "seed-0"), box / "none", box.run_protocol(run) + trained, "/training.safetensors"),
    }
    for name, (state, begin, words, checkpoint) in works.items():
        sandbox.copy(begin, state)
        first = box.start_and_stop(words, state, "rename", checkpoint)
        before = {file: sandbox.read(state, file) for file in sandbox.files_below(state)}
        second = box.call(words)
        after = {file: sandbox.read(state, file) for file in sandbox.files_below(state)}
        assert before == after, f"{name}: the second process changed {sandbox.differences(before, after)}"
        expect_one_sentence(second, box, name)
        assert second.code == 2, second
        assert f"process {first.pid};" in second.err, second
        first.kill()
        box.finish(first)
        # The lock of the killed one is stale: a writer gets past it.
        kill_at_state(box, words, state)
    print("a second process: refused with the first one's id; a killed one blocks no other")


def kill_at_state(box, words, state, number=1):
    """Ends it where a checkpoint would become valid; fails if it never comes there."""
    faults = box.faults(state, "kill", number, call="rename", file="/state.json")
    result = box.call(words, faults)
    assert result.code == -signal.SIGKILL, result


def main(program, library, folder):
    box = sandbox.Sandbox(program, os.path.abspath(folder), library)
    box.call_well(box.pretrain(box / "trained"))
    sandbox.copy(box / "trained", box / "adapted")
    box.call_well(box.adapt(box / "adapted"))
    box.adapted = sandbox.content_of_state(box / "adapted")
    for check in [full_disk, read_only, vanished_source, vanished_target, jumping_clock, second_process]:
        check(box)


if __name__ == "__main__":
    main(*sys.argv[1:])
