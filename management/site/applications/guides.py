"""The how-tos of ``docs/how-to`` as data: what to install, what to configure, and which files to save.

A page is a guide if it has the sections *Register*, whose request names the type of the application,
*Configure*, whose commands set ``ISSUER`` and ``CLIENT_ID``, and *Save as `NAME`*. Other pages are left out.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.conf import settings

_FOLDER: Final = settings.BASE_DIR / "docs" / "how-to"
_SECTION: Final = re.compile(r"^#{2,3} (?:\d+\. )?(.+?)\n(.*?)(?=^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)
_FENCE: Final = re.compile(r"^```[\w-]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r"(?:Save )?as `(.+)`", re.IGNORECASE)
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_TYPE: Final = re.compile(r'"type": "(\w+)"')
_URIS: Final = re.compile(r'"redirect_uris": \[(.*?)\]', re.DOTALL)
_NEEDED: Final = re.compile(r"\bISSUER=.*?\bCLIENT_ID=", re.DOTALL)
_LISTED: Final = re.compile(r"^\|.*", re.MULTILINE)  # the table of the page ``index.md``
_LINK: Final = re.compile(r"\]\(([\w-]+)\.md\)")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a guide."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A how-to for one framework. ``name`` is that of the page."""

    name: str
    title: str
    application_type: str
    redirect_uris: tuple[str, ...]
    install: str
    configure: str
    files: tuple[File, ...]
    run: str


@cache
def get_all() -> tuple[Guide, ...]:
    """Return the guides in the order of ``index.md``, which begins with those that fit most applications."""
    table = "".join(_LISTED.findall((_FOLDER / "index.md").read_text(encoding="utf-8")))
    pages = ((name, _FOLDER / f"{name}.md") for name in dict.fromkeys(_LINK.findall(table)))
    found = (parse(name, page.read_text(encoding="utf-8")) for name, page in pages)
    return tuple(guide for guide in found if guide)


def parse(name: str, text: str) -> Guide | None:
    """Return the guide that a page contains, or None if the page lacks a required section."""
    sections: dict[str, str] = dict(_SECTION.findall(text))
    files = tuple(
        File(named[1], code[0])
        for title, section in sections.items()
        if (named := _FILE.fullmatch(title)) and (code := _FENCE.findall(section))
    )
    title, kind = _TITLE.search(text), _TYPE.search(sections.get("Register", ""))
    configure = _join(sections.get("Configure", ""))
    if not (files and title and kind and _NEEDED.search(configure)):
        return None
    uris = _URIS.search(sections["Register"])
    return Guide(
        name=name,
        title=title[1].partition(",")[0],
        application_type=kind[1],
        redirect_uris=tuple(re.findall(r'"(.+?)"', uris[1])) if uris else (),
        install=_join(sections.get("Install", "")),
        configure=configure,
        files=files,
        run=_join(sections.get("Run", "")),
    )


def _join(section: str) -> str:
    return "".join(_FENCE.findall(section)).strip()
