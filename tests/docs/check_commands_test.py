#!/usr/bin/env python3
"""Does check_commands.py find the command lines of a page, and say which are refused?"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("check_commands.py")

# Stands for the program: knows --good, and files of keys that say good.
PROGRAM = """#!/bin/sh
for word; do
  case $word in
    --bad) echo "error: unknown flag --bad" >&2; exit 2 ;;
    *.toml) grep -q bad "$word" && { echo "error: unknown key" >&2; exit 2; } ;;
  esac
done
exit 0
"""

# The page, and how many commands it has.
GOOD = {
    "one command": ("```sh\nproca adapt --good\n```\n", 1),
    "comment behind it": ("```\nproca adapt --good   # not --bad\n```\n", 1),
    "two lines": ("```sh\nproca adapt \\\n  --good\n```\n", 1),
    "up to the pipe": ("```sh\nproca adapt --good | grep --bad\n```\n", 1),
    "another program": ("```sh\nmake --bad\n```\n", 0),
    "outside of a block": ("proca adapt --bad\n", 0),
    "sketch": ("```sh\nproca adapt --bad …\n```\n", 0),
    "keys": ("```toml\n# proca adapt --config a.toml\ngood = 1\n```\n", 1),
    "keys of something else": ("```toml\nbad = 1\n```\n", 0),
}

BAD = {
    "flag": ("```sh\nproca adapt --bad\n```\n", "page.md:2: proca adapt --bad: "),
    "flag in the second line": ("```sh\nproca adapt \\\n  --bad\n```\n", "page.md:2: "),
    "second command": ("```\nproca a\nproca b --bad\n```\n", "page.md:3: proca b --bad: "),
    "second block": ("```\nproca a\n```\n\n```\nproca --bad\n```\n", "page.md:6: "),
    "key": ("```toml\n# proca adapt --config a.toml\nbad = 1\n```\n", "unknown key"),
}


class CheckCommandsTest(unittest.TestCase):
    def run_on(self, page):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text(PROGRAM)
            program.chmod(0o755)
            docs = Path(folder) / "docs"
            docs.mkdir()
            (docs / "page.md").write_text(page)
            return subprocess.run([sys.executable, SCRIPT, program, docs], text=True,
                                  capture_output=True)

    def test_good_pages(self):
        for what, (page, count) in GOOD.items():
            with self.subTest(what):
                result = self.run_on(page)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"{count} commands, 0 refused", result.stdout)

    def test_bad_pages(self):
        for what, (page, message) in BAD.items():
            with self.subTest(what):
                result = self.run_on(page)
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
