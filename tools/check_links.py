#!/usr/bin/env python3
"""Do the links of Markdown and HTML files lead anywhere?

    tools/check_links.py FILE_OR_FOLDER...

Checks every relative link and image: the file must exist, and so must the heading or
element behind a `#`. Links to other hosts are left alone. Headings of Markdown files get
their anchors as on GitHub. Folders are searched for *.md and *.html.

Prints `file:line: what is wrong` for each bad link. Exit status: 0 all well, 1 bad links,
2 bad usage.
"""
import html.parser
import re
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^\s)>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^\s*(```+|~~~+)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def prose_lines(text):
    """(line number, line) outside of code blocks."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def github_anchor(heading):
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Markdown:
    def __init__(self, text):
        self.anchors, self.links = set(), []
        for number, line in prose_lines(text):
            heading = HEADING.match(line)
            if heading:
                self.add_anchor(github_anchor(heading.group(1)))
            self.anchors.update(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", line))
            without_code = re.sub(r"`[^`]*`", "", line)
            self.links += [(number, target) for target in LINK.findall(without_code)]

    def add_anchor(self, anchor):
        # The second heading of the same text is called text-1.
        unique, count = anchor, 0
        while unique in self.anchors:
            count += 1
            unique = f"{anchor}-{count}"
        self.anchors.add(unique)


class Html(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((self.getpos()[0], value))


class Checker:
    def __init__(self):
        self.pages, self.complaints = {}, []

    def page(self, path):
        if path not in self.pages:
            text = path.read_text(encoding="utf-8", errors="replace")
            self.pages[path] = (Html if path.suffix == ".html" else Markdown)(text)
        return self.pages[path]

    def check(self, path):
        for line, target in self.page(path.resolve()).links:
            problem = self.problem(path, target)
            if problem:
                self.complaints.append(f"{path}:{line}: {problem}")

    def problem(self, path, target):
        if re.match(r"^([a-z][a-z0-9+.-]*:|//)", target):
            return None  # another host, mail, data
        name, _, anchor = target.partition("#")
        name = unquote(name.partition("?")[0])
        place = (path.parent / name if name else path).resolve()
        if not place.exists():
            return f"{target}: there is no {name}"
        if not anchor or place.suffix not in (".md", ".html"):
            return None
        if unquote(anchor) not in self.page(place).anchors:
            return f"{target}: {name or 'this page'} has no #{anchor}"
        return None


def pages_of(argument):
    path = Path(argument)
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix in (".md", ".html"))
    return [path]


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    checker = Checker()
    for argument in arguments:
        if not Path(argument).exists():
            print(f"check_links.py: {argument}: no such file or folder", file=sys.stderr)
            return 2
        for path in pages_of(argument):
            checker.check(path)
    print("\n".join(checker.complaints), end="\n" if checker.complaints else "", file=sys.stderr)
    return 1 if checker.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
