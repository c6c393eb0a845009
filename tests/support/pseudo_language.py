"""A language in which every marked message stands in brackets, and what a page says outside of them."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

from django.conf import settings
from django.utils import translation
from django.utils.safestring import SafeData, mark_safe
from django.utils.translation import trans_real

PACKAGES = ("audit", "config", "database", "identity", "interaction", "management", "oidc", "templates")
_OPEN, _CLOSE = "⟦", "⟧"
_CONTEXT = "\x04"  # between a message and its context, as gettext joins them
# What these elements have is data, code, or in another language.
_NOT_READ = frozenset({"script", "style", "code", "pre", "kbd", "bdi", "time", "textarea"})
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "use", "wbr", "col", "line", "rect", "path"})
_WITHIN_SENTENCES = frozenset(
    {"a", "abbr", "b", "bdi", "br", "code", "em", "i", "kbd", "small", "strong", "time"}
)
_READ_ATTRIBUTES = ("title", "placeholder", "aria-label", "aria-description", "alt", "label")
_BUTTONS = frozenset({"submit", "button", "reset"})


@cache
def marked_messages() -> frozenset[str]:
    """The messages that ``make messages`` finds, and those that Django and its packages translate."""
    django = {key if isinstance(key, str) else key[0] for key in _catalogue("de")}
    return frozenset(_gather()) | django


def _catalogue(language: str) -> Iterator[Any]:
    for catalogue in trans_real.translation(language)._catalog._catalogs:  # type: ignore[attr-defined]
        yield from catalogue


def _gather() -> Iterator[str]:
    target = settings.VAR / "pseudo-language"
    shutil.rmtree(target, ignore_errors=True)
    (target / "locale").mkdir(parents=True)
    for folder in PACKAGES:
        shutil.copytree(settings.BASE_DIR / folder, target / folder)
    shutil.copy(settings.BASE_DIR / "manage.py", target)
    subprocess.run(
        [
            *(sys.executable, "manage.py", "makemessages", "--settings", "config.settings_test"),
            *("--locale", "de", "--no-wrap"),
        ],
        cwd=target,
        check=True,
        capture_output=True,
    )
    yield from _read(target / "locale" / "de" / "LC_MESSAGES" / "django.po")


def _read(catalogue: Path) -> Iterator[str]:
    for block in catalogue.read_text().split("\n\n")[1:]:
        found = dict(re.findall(r'^(msgctxt|msgid|msgid_plural) ((?:".*"\n)+)', block, re.MULTILINE))
        texts = {
            name: "".join(map(ast.literal_eval, quoted.split("\n")[:-1])) for name, quoted in found.items()
        }
        context = texts.pop("msgctxt", None)
        for text in texts.values():
            yield text if context is None else f"{context}{_CONTEXT}{text}"


@contextmanager
def spoken() -> Iterator[None]:
    """Put each message that is shown in brackets, if it is marked."""
    marked = marked_messages()

    def put(text: str, key: str) -> str:
        if key not in marked:
            return text
        shown = f"{_OPEN}{text}{_CLOSE}"
        return mark_safe(shown) if isinstance(text, SafeData) else shown  # noqa: S308 - as Django does

    def gettext(message: str) -> str:
        return put(message, message)

    def pgettext(context: str, message: str) -> str:
        return put(message, f"{context}{_CONTEXT}{message}")

    def ngettext(singular: str, plural: str, number: float) -> str:
        text = singular if number == 1 else plural
        return put(text, text)

    def npgettext(context: str, singular: str, plural: str, number: float) -> str:
        return pgettext(context, singular if number == 1 else plural)

    with mock.patch.multiple(
        translation._trans,  # type: ignore[attr-defined]
        create=True,
        gettext=gettext, pgettext=pgettext, ngettext=ngettext, npgettext=npgettext,
    ):  # fmt: skip
        yield


@dataclass
class _Page(HTMLParser):
    """Collects the texts of a page that are outside of brackets."""

    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, bool]] = []
        self._depth = 0
        self._sentence: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag not in _WITHIN_SENTENCES:
            self._end_sentence()
        is_foreign = tag != "html" and (values.get("lang") == "en" or values.get("dir") == "ltr")
        is_foreign = is_foreign or values.get("class") == "initials"
        if not self._is_hidden and not is_foreign:
            self._read_attributes(tag, values)
        if tag not in _VOID:
            self._open.append((tag, is_foreign or tag in _NOT_READ))

    def _read_attributes(self, tag: str, values: dict[str, str]) -> None:
        names = [*_READ_ATTRIBUTES, *(name for name in values if name.startswith("data-say-"))]
        if tag == "input" and values.get("type") in _BUTTONS:
            names.append("value")
        for name in names:
            if text := _outside(values.get(name, "")):
                self.texts.append(text)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _WITHIN_SENTENCES:
            self._end_sentence()
        while self._open:
            if self._open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._is_hidden:
            self._sentence.append(data)

    @property
    def _is_hidden(self) -> bool:
        return any(is_hidden for _, is_hidden in self._open)

    def _end_sentence(self) -> None:
        if text := _outside("".join(self._sentence)):
            self.texts.append(text)
        self._sentence.clear()


def _outside(text: str) -> str:
    """Return what a text has outside of brackets."""
    depth, found = 0, []
    for letter in text:
        depth += (letter == _OPEN) - (letter == _CLOSE)
        found.append("" if depth or letter == _CLOSE else letter)
    return " ".join("".join(found).split())


def unmarked(html: str) -> list[str]:
    """The texts of a page that no message has."""
    page = _Page()
    page.feed(html)
    page._end_sentence()
    return [text for text in page.texts if re.search(r"[^\W\d_]{2}", text)]
