# Configuration of Sphinx. tools/docs.sh lays out the pages and calls it.
import re
from pathlib import Path

root = Path(__file__).resolve().parents[2]
project = "proca"
copyright = "the proca authors"
release = re.search(r"project\(proca VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)

extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "index"
include_patterns = ["index.md", "docs/**.md", "commands/**.md", "api.md", "CONTRIBUTING.md",
                    "CHANGELOG.md", "SECURITY.md", "src/README.md", "benchmarks/log/*.md"]
exclude_patterns = ["docs/site"]

html_theme = "furo"
html_title = f"proca {release}"
html_copy_source = False
html_show_sphinx = False
smartquotes = False  # "auto" is a word to be typed
highlight_language = "none"  # of blocks that name none: output of the program


def keep_text_of_folder_links(app, environment, node, text):
    """A link to a folder leads somewhere in the repository only; here its text stays."""
    page = Path(environment.doc2path(node["refdoc"]))
    return text if (page.parent / node["reftarget"]).is_dir() else None


def setup(app):
    app.connect("missing-reference", keep_text_of_folder_links)
