"""Follows the links of a built site: each leads somewhere, and nothing is loaded from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_ELSEWHERE: Final = re.compile(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", re.IGNORECASE)


class _Page(HTMLParser):
    """The anchors of a page, where it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "__top"}
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and given.get("rel") not in {"canonical", "next", "prev"}:
            self.loads.add(given.get("href", ""))
        elif "src" in given:
            self.loads.add(given["src"])


def broken(site: Path) -> list[str]:
    """Return what is wrong with the site, a sentence each."""
    pages = {path: _Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}
    problems = [
        f"{path.relative_to(site)} loads from elsewhere"
        for path in site.rglob("*.css")
        if _ELSEWHERE.search(path.read_text())
    ]
    for path, page in pages.items():
        name = path.relative_to(site)
        problems += [f"{name} loads {url}" for url in page.loads if urlsplit(url).netloc]
        for url in page.links | page.loads:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                problems.append(f"{name} links to {url}, which is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{name} links to {url}, and that page has no such place")
    return sorted(problems)
