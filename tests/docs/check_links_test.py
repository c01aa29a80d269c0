#!/usr/bin/env python3
"""Does check_links.py find what is wrong, and leave alone what is right?"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_links.py"

OTHER = "# Other page\n\n## A `code` heading, with commas\n\n## Twice\n\n## Twice\n"

GOOD = {
    "file": "[other](other.md)",
    "image": "![picture](picture.png)",
    "file in a folder": "[deep](folder/deep.md)",
    "folder": "[folder](folder)",
    "heading": "[heading](other.md#a-code-heading-with-commas)",
    "second of two equal headings": "[twice](other.md#twice-1)",
    "heading of this page": "# Here\n[here](#here)",
    "another host": "[elsewhere](https://example.org/nothing)",
    "title": '[other](other.md "a title")',
    "blank in the name": "[blank](with%20blank.md)",
    "code block": "```\n[nowhere](nowhere.md)\n```",
    "inline code": "`[nowhere](nowhere.md)`",
}

# The page, and what is said about it.
BAD = {
    "no such file": ("[nowhere](nowhere.md)", "page.md:1: nowhere.md: there is no nowhere.md"),
    "no such image": ("\n![p](nowhere.png)", "page.md:2: nowhere.png: there is no nowhere.png"),
    "no such heading": ("[x](other.md#nothing)", "other.md has no #nothing"),
    "no such heading here": ("[x](#nothing)", "this page has no #nothing"),
    "one heading too many": ("[x](other.md#twice-2)", "other.md has no #twice-2"),
    "second link of a line": ("[a](other.md) [b](b.md)", "there is no b.md"),
    "heading only in a code block": ("```\n# Code\n```\n[x](#code)", "page.md:4: "),
    "out of the folder": ("[x](../other.md)", "there is no ../other.md"),
}


class CheckLinksTest(unittest.TestCase):
    def run_on(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "docs"
            (root / "folder").mkdir(parents=True)
            for page in ("other.md", "with blank.md", "folder/deep.md"):
                (root / page).write_text(OTHER)
            (root / "picture.png").write_text("")
            (root / name).write_text(text)
            return subprocess.run([sys.executable, SCRIPT, root], text=True, capture_output=True)

    def test_good_links(self):
        for what, text in GOOD.items():
            with self.subTest(what):
                result = self.run_on("page.md", text)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_bad_links(self):
        for what, (text, message) in BAD.items():
            with self.subTest(what):
                result = self.run_on("page.md", text)
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_html(self):
        good = '<h1 id="top">x</h1><a href="#top"></a><img src="picture.png"><a href="//h/x"></a>'
        self.assertEqual(self.run_on("page.html", good).returncode, 0)
        for bad in ('<a href="nowhere.html">', '<a href="#nothing">', '<script src="no.js">'):
            with self.subTest(bad):
                self.assertEqual(self.run_on("page.html", bad).returncode, 1)

    def test_bad_usage(self):
        for arguments in ([], ["no-such-folder"]):
            result = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True)
            self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
