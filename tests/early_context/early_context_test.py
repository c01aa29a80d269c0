#!/usr/bin/env python3
"""When the program asks for a GPU's context before main(), and that it keeps its environment.

    early_context_test.py SAMPLE FOLDER_OF_THE_FAKE_DRIVER
"""

import os
import subprocess
import sys
import tempfile
import time

CONTEXT = ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"]
RANK_VARIABLES = ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"]
LONGEST_S, SHORT_S = 20, 0.2


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().split()


def calls_of(sample, driver, words, variables, expected):
    """What the driver was asked for; where nothing is expected, in a short while."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "calls")
        environment = {"LD_LIBRARY_PATH": driver, "CALLS": path, **variables}
        process = subprocess.Popen([sample, *words], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + (LONGEST_S if expected else SHORT_S)
        while lines_of(path) != expected or not expected:
            if time.monotonic() > end:
                break
            time.sleep(0.01)
        out, _ = process.communicate("")
        assert process.returncode == 0, f"{words}: ended with {process.returncode}"
        assert out == path, f"{words}: the environment is gone: {out}"
        return lines_of(path)


def expect(sample, driver, expected, words, variables=None):
    calls = calls_of(sample, driver, words, variables or {}, expected)
    assert calls == expected, f"{words} {variables}: {calls} instead of {expected}"


def main(sample, driver):
    for command in ["pretrain", "adapt", "run", "evaluate", "predict"]:
        expect(sample, driver, CONTEXT, [command, "--out", "x"])
    for words in [[], ["--version"], ["report", "x"], ["reproduce", "x"], ["run", "--help"],
                  ["run", "--device", "cpu"], ["run", "--device=cuda:1"], ["run", "--config", "x"],
                  ["run", "--print-config"]]:
        expect(sample, driver, [], words)
    for variable in RANK_VARIABLES:
        expect(sample, driver, [], ["run"], {variable: "0"})
    expect(sample, "/nowhere", [], ["run"])  # no driver
    print("early_context: passed")


if __name__ == "__main__":
    main(*sys.argv[1:])
