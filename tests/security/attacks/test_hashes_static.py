"""V22: scripts of installed apps below /static/ that no page loads: ready to be leant on by injected HTML."""

import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from config.static_files import StaticFilesMiddleware, is_served
from tests.support import operators
from tests.support.cast import default_world

GADGETS = [
    "rest_framework/js/jquery-3.7.1.min.js",
    "rest_framework/js/bootstrap.min.js",
    "oauth2_provider/js/application_form.js",
    "admin/js/vendor/jquery/jquery.js",
    "admin/js/vendor/jquery/jquery.min.js",
    "admin/js/vendor/select2/select2.full.min.js",
    "admin/js/vendor/xregexp/xregexp.min.js",
    "admin/js/jquery.init.js",
    "admin/js/prepopulate.js",
    "admin/js/SelectFilter2.js",
    "admin/js/admin/RelatedObjectLookups.js",
    "admin/css/vendor/select2/select2.css",
    "staticfiles.json",
]


@pytest.mark.parametrize("path", GADGETS)
def test_attack_AV22_no_gadget_is_served(address, path):
    assert httpx.get(f"{address}/static/{path}").status_code == 404


def test_attack_AV22_collectstatic_copies_what_is_served_and_no_more(address):
    root = Path(settings.STATIC_ROOT)
    copied = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}

    assert {path for path in copied if not is_served(path)} <= {"staticfiles.json"}
    assert {"admin", "gatehouse"} == {path.partition("/")[0] for path in copied} - {"staticfiles.json"}


def test_attack_AV22_what_an_earlier_release_left_behind_is_not_served(address, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "STATIC_ROOT", tmp_path)
    for path in (*GADGETS, "admin/css/base.css"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")

    served = StaticFilesMiddleware(lambda _: None).files

    assert set(served) == {"/static/admin/css/base.css"}


@pytest.mark.parametrize("path", GADGETS)
def test_attack_AV22_no_finder_finds_one(path):
    assert not finders.find(path)


def test_what_the_operators_site_and_the_reference_load_is_there(acme):
    """Each page's style sheets and scripts; tests/browser looks at the pages themselves."""
    operator, root = operators.at(acme), default_world()
    answers = [operator.get(operators.address_of(kind)) for kind in operators.pages()]
    lists = "".join(answer.text for answer in answers)
    row = re.search(r'href="(/admin/administrators/administrator/[0-9]+/change/)', lists)
    assert row is not None
    answers += [operator.get(row[1]), operator.get("/admin/users/user/do/create/")]
    answers += [operator.get("/admin/"), root.get("/api/docs"), root.get("/sign-in"), root.get("/register")]

    assert {str(answer.url): answer.status_code for answer in answers if answer.status_code >= 400} == {}
    shown = "".join(answer.text for answer in answers)
    loaded = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', shown))

    assert any("gatehouse/console" in path for path in loaded)
    assert {path for path in loaded if "/admin/" in path} == set()
    loaded |= {path.partition("#")[0] for path in re.findall(r'<use href="(/static/[^"]+)"', shown)}
    assert {path for path in loaded if root.get(path).status_code != 200} == set()
