"""The table of applications leads to a section of each, and says what our tests run."""

import re

import pytest
from django.conf import settings

from tests.support import clients

PAGES = settings.BASE_DIR / "docs/applications"
_ROW = re.compile(r"^\| \[([^]]+)\]\(([^)]+)\) \| (.*) \|$", re.MULTILINE)
ROWS = {
    name: (link, [cell.strip() for cell in cells.split(" | ")])
    for name, link, cells in _ROW.findall((PAGES / "index.md").read_text())
}
# As the page names them.
NAMES = {
    "Apache, mod_auth_openidc": "libapache2-mod-auth-openidc",
    "Directus": "directus",
    "keycloak-js": "keycloak-js",
    "NextAuth 4": "next-auth",
}


def sections(page):
    return {_anchor(title) for title in re.findall(r"^## (.+)$", (PAGES / page).read_text(), re.MULTILINE)}


def _anchor(title):
    kept = (letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")
    return "".join(kept)


def test_every_section_has_a_row():
    linked = {link for link, _ in ROWS.values()}

    for page in ("web.md", "infrastructure.md", "libraries.md"):
        assert {f"{page}#{section}" for section in sections(page)} <= linked


@pytest.mark.parametrize("name", ROWS)
def test_every_row_has_a_section(name):
    page, _, section = ROWS[name][0].partition("#")

    assert section in sections(page)


@pytest.mark.parametrize("name", [name for name, (_, cells) in ROWS.items() if cells[-1] == "tests"])
def test_says_which_version_the_tests_run(name):
    client = clients.named(NAMES[name])

    version, kind = ROWS[name][1][:2]

    assert kind == client.type
    if client.registry != "Debian":
        assert version == client.version
