#!/usr/bin/env python3
"""Types at a real zsh and presses Tab: does `proca completion zsh` complete?

    zsh_completion_test.py PROGRAM

Exit status 77, which CTest takes as "skipped", where there is no zsh.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""

# What is typed before Tab, and what then stands there.
CASES = [
    ("proca ada", "proca adapt "),
    ("proca data ve", "proca data verify "),
    ("proca bench lo", "proca bench load "),
    ("proca bench --js", "proca bench --json "),
    ("proca adapt --meth", "proca adapt --method "),
    ("proca adapt --method source", "proca adapt --method source-only "),
    ("proca run --preset office31", "proca run --preset office31-ci "),
    ("proca run --preset mi", "proca run --preset mine.toml "),
    ("proca adapt --state st", "proca adapt --state state/"),
    ("proca export --format onn", "proca export --format onnx "),
    ("proca completion ba", "proca completion bash "),
]


class Terminal:
    """A zsh without anybody's settings, on a terminal of its own."""

    def __init__(self, folder):
        pid, self.end = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "dumb"
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.pid = pid

    def type(self, keys):
        os.write(self.end, keys.encode())

    def read_until(self, expected, timeout_s=60):
        """All that is shown until `expected` is; fails where it never is."""
        shown, limit = "", time.monotonic() + timeout_s
        while expected not in shown:
            if not select.select([self.end], [], [], max(0, limit - time.monotonic()))[0]:
                raise AssertionError(f"{expected!r} is not in what zsh shows: {shown!r}")
            shown += re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]|[\x07\r]", "",
                            os.read(self.end, 65536).decode(errors="replace"))
        return shown

    def close(self):
        os.close(self.end)
        os.waitpid(self.pid, 0)


class ZshCompletionTest(unittest.TestCase):
    def test_completes(self):
        script = subprocess.run([PROGRAM, "completion", "zsh"], check=True, text=True,
                                capture_output=True).stdout
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "_proca"), "w") as file:
                file.write(script)
            os.mkdir(os.path.join(folder, "state"))
            open(os.path.join(folder, "mine.toml"), "w").close()
            terminal = Terminal(folder)
            try:
                terminal.type("PS1='rea''dy> '; autoload -Uz compinit; compinit -D -u; source ./_proca\n")
                terminal.read_until("ready> ")
                for typed, expected in CASES:
                    with self.subTest(typed):
                        terminal.type(typed + "\t")
                        shown = terminal.read_until(expected)
                        self.assertNotIn("not found", shown)
                        terminal.type("\x15\n")  # clears the line
                        terminal.read_until("ready> ")
            finally:
                terminal.close()


if __name__ == "__main__":
    if shutil.which("zsh") is None:
        print("zsh is not installed")
        sys.exit(77)
    PROGRAM = os.path.abspath(sys.argv.pop())
    unittest.main()
