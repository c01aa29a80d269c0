#!/usr/bin/env python3
"""Are the lines of the documentation at most 120 characters long?

    check_lines.py FILE_OR_FOLDER...

Tables, code blocks and the targets of links do not count. Exit status: 0 all well, 1 a line is too long.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from check_links import pages_of, prose_lines  # noqa: E402

LIMIT = 120


def main(places):
    pages = [page for place in places for page in pages_of(place) if page.suffix == ".md"]
    too_long = [f"{page}:{number}: more than {LIMIT} characters"
                for page in pages for number, line in prose_lines(page.read_text(encoding="utf-8"))
                if not line.startswith("|") and len(re.sub(r"\]\([^)]*\)", "]", line)) > LIMIT]
    print("\n".join(too_long), file=sys.stderr)
    return 1 if too_long or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
