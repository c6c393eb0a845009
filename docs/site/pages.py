"""Gathers the pages: docs/, a few files from above it, and a page for every other file that one links to."""

import os
import re
import shutil
from pathlib import Path
from typing import Final

# Files that have a page under another name.
PLACES: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security/policy.md",
    "docs/endpoints.tsv": "endpoints.md",
}
_COPIED: Final = {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
_LINK: Final = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_LANGUAGES: Final = {
    ".py": "python",
    ".mjs": "js",
    ".js": "js",
    ".toml": "toml",
    ".yaml": "yaml",
    ".env": "bash",
    ".service": "ini",
    "Dockerfile": "docker",
    "nginx.conf": "nginx",
    ".conf": "apacheconf",
}
_ENDPOINTS: Final = """# Endpoints

Every route that is served; a test compares this list with the routes. A tenant other than the default has all
of them below `/t/{slug}`, except the operators' site, health, metrics, tenants and administrators, which are
only at the root.

| Method | Path | Name |
|---|---|---|
"""


def gather(root: Path, target: Path) -> list[str]:
    """Write all pages below `target`, and return the links that lead nowhere."""
    docs = root / "docs"
    for page in _own(docs):
        (target / page.relative_to(docs)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target / page.relative_to(docs))
    shutil.copytree(docs / "site/assets", target / "assets")
    copied = {target / place: root / source for source, place in PLACES.items() if source in _COPIED}
    for place, source in copied.items():
        place.parent.mkdir(exist_ok=True)
        shutil.copy(source, place)
    rows = (docs / "endpoints.tsv").read_text().splitlines()[1:]
    table = "\n".join("| {} | `{}` | `{}` |".format(*row.split("\t")) for row in rows)
    (target / "endpoints.md").write_text(_ENDPOINTS + table + "\n")
    problems: list[str] = []
    for page in sorted(target.rglob("*.md")):
        written = copied.get(page, docs / page.relative_to(target))
        if written.is_file():  # else it was made, and its links are the site's already
            problems += _Page(root, target, page, written).rewrite()
    return problems


def _own(docs: Path) -> list[Path]:
    pages = [page for page in docs.rglob("*.md") if "site" not in page.relative_to(docs).parts]
    return pages + [image for image in docs.glob("images/**/*") if image.is_file()]


class _Page:
    """A page whose links are turned from the project's files to the site's."""

    def __init__(self, root: Path, target: Path, page: Path, written: Path) -> None:
        self.root, self.target, self.page, self.written = root, target, page, written
        self.problems: list[str] = []

    def rewrite(self) -> list[str]:
        lines, fence = [], ""
        for line in self.page.read_text().splitlines():
            if found := _FENCE.match(line):
                fence = found[1] if not fence else "" if found[1] == fence else fence
            lines.append(line if fence else _LINK.sub(self._turned, line))
        self.page.write_text("\n".join(lines) + "\n")
        return self.problems

    def _turned(self, link: re.Match[str]) -> str:
        path, hash_, anchor = link[2].partition("#")
        if not path or ":" in path:
            return link[0]
        file = Path(os.path.normpath(self.written.parent / path))
        if not self._is_there(file):
            self.problems.append(f"{self.written.relative_to(self.root)}: {path} is not there")
            return link[0]
        place = os.path.relpath(self._place(file), self.page.parent)
        return f"{link[1]}{place}{hash_}{anchor}{link[3]}"

    def _is_there(self, file: Path) -> bool:
        """Tell whether it is a file of the project, or a page that was made from the API's description."""
        if not file.is_relative_to(self.root):
            return False
        return file.exists() or (self.target / os.path.relpath(file, self.root / "docs")).is_file()

    def _place(self, file: Path) -> Path:
        """Return the page of a file, made where there is none."""
        if file.is_dir() and (file / "README.md").is_file():
            file /= "README.md"
        name = str(file.relative_to(self.root))
        if name in PLACES:
            return self.target / PLACES[name]
        place = self.target / file.relative_to(self.root / "docs") if name.startswith("docs/") else None
        if place and (place.suffix == ".md" or name.startswith("docs/images/")):
            return place
        page = self.target / "source" / (f"{name}/index.md" if file.is_dir() else f"{name}.md")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n{_shown(file)}\n")
        return page


def _shown(file: Path) -> str:
    if file.is_dir():
        inside = sorted(path.name for path in file.iterdir() if not path.name.startswith((".", "__")))
        return "A folder of the project, with\n\n" + "\n".join(f"- `{name}`" for name in inside)
    language = _LANGUAGES.get(file.name) or _LANGUAGES.get(file.suffix, "text")
    return f"~~~~~~{language}\n{file.read_text().rstrip()}\n~~~~~~"
