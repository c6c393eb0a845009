"""Forms of a page, read as a browser without scripts reads them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.support.cast import Browser


@dataclass
class Form:
    """The form of a page: where it goes, what it holds, and the buttons that send it."""

    action: str = ""
    method: str = "get"
    fields: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    def submit(self, browser: Browser, **typed: Any) -> httpx.Response:
        """Send it with what a person typed or pressed; a field set to None is left out."""
        sent = {name: value for name, value in (self.fields | typed).items() if value is not None}
        return browser.post(self.action, data=sent)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(found.get("action", ""), found.get("method", "get")))
        elif tag == "input" and self.forms and "name" in found:
            self.forms[-1].fields[found["name"]] = found.get("value", "")
            self.forms[-1].types[found["name"]] = found.get("type", "text")
        elif tag == "button" and self.forms and found.get("type") != "button":
            self.forms[-1].buttons.append((found.get("name", ""), found.get("value", "")))


def forms(page: httpx.Response) -> list[Form]:
    """Return the forms of a page, in order."""
    reader = _Reader()
    reader.feed(page.text)
    return reader.forms


def form(page: httpx.Response) -> Form:
    """Return the one form of a page."""
    found = forms(page)
    assert len(found) == 1, f"{len(found)} forms: {page.text}"
    assert found[0].method == "post"
    return found[0]
