"""Which language a person is spoken to in."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from tests.support import cast, codes
from tests.support.cast import query_of
from tests.support.codes import SEND, about, message_to, new_email

LOCALES = settings.BASE_DIR / "locale"
TRANSLATED = [code for code, _ in settings.LANGUAGES if code != "en"]


def language_of(page: object) -> str:
    found = re.search(r'<html lang="([^"]+)" dir="(ltr|rtl)"', page.text)  # type: ignore[attr-defined]
    assert found
    return found[1]


class TestChoice:
    def test_ui_locales_come_before_the_cookie_and_the_browser(self, acme):
        browser = acme.browser()
        browser.get("/sign-in?ui_locales=ja")
        sent = browser.authorize(acme.application(), ui_locales="it-CH de en").headers["Location"]

        page = browser.get(sent, headers={"Accept-Language": "es"})

        assert language_of(page) == "de"
        assert page.headers["Content-Language"] == "de"

    def test_the_cookie_comes_before_the_browser(self, acme):
        browser = acme.browser()
        browser.get("/sign-in?ui_locales=ja")

        assert language_of(browser.get("/sign-in", headers={"Accept-Language": "es"})) == "ja"

    @pytest.mark.parametrize(
        ("path", "spoken"), [("/admin/login/", "es"), ("/adminx", "ja"), ("/admin-help", "ja")]
    )
    def test_the_operators_site_and_no_path_like_it_knows_the_browser_alone(self, acme, path, spoken):
        browser = cast.default_world().browser()
        browser.get("/sign-in?ui_locales=ja")

        page = browser.get(path, headers={"Accept-Language": "es"})

        assert page.headers["Content-Language"] == spoken

    @pytest.mark.parametrize(
        ("accepted", "spoken"),
        [
            ("es-MX,es;q=0.9", "es"),
            ("zh-CN", "zh-Hans"),
            ("fr-CA", "fr"),
            ("pt-BR", "pt-BR"),
            ("pt-PT", "pt-BR"),
            ("ko-KR", "ko"),
            ("zh-Hans-SG", "zh-Hans"),
            ("de;q=0.5, ar", "ar"),
            ("tlh", "en"),
            ("", "en"),
            ("\x00,;;q=x" * 50, "en"),
        ],
    )
    def test_else_what_the_browser_accepts(self, acme, accepted, spoken):
        headers = {"Accept-Language": accepted.replace("\x00", "")}

        assert language_of(acme.browser().get("/sign-in", headers=headers)) == spoken

    def test_what_the_person_chose_goes_on_through_the_journey(self, acme):
        browser, user = acme.browser(), acme.user()
        client = acme.application(is_third_party=True)
        sent = browser.authorize(client, ui_locales="de").headers["Location"]
        interaction = query_of(sent)["interaction"]
        page = browser.get(sent)
        assert language_of(page) == "de"

        chosen = browser.get(f"/sign-in?interaction={interaction}&ui_locales=es")
        resume = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        consent = browser.get(browser.get(resume).headers["Location"])

        assert language_of(chosen) == "es"
        assert language_of(consent) == "es"

    def test_nonsense_is_no_error(self, acme):
        sent = acme.browser().authorize(acme.application(), ui_locales="xx ../etc %00 " + "de-" * 90)

        assert sent.status_code == 303
        assert acme.browser().get("/sign-in?ui_locales=..%2F..%00").status_code == 200

    @pytest.mark.parametrize(
        "query", ["ui_locales=de", "a=b&ui_locales=de", "%75i%5Flocales=d%65", "a&ui_locales=de"]
    )
    def test_the_parameter_is_found_wherever_and_however_it_is_written(self, acme, query):
        page = acme.browser().get(f"/sign-in?{query}")

        assert page.headers["Content-Language"] == "de"

    @pytest.mark.parametrize("query", ["my_ui_locales=de", "a=ui_locales=de", "a=ui_locales%3Dde"])
    def test_another_parameter_is_not_taken_for_it(self, acme, query):
        page = acme.browser().get(f"/sign-in?{query}")

        assert page.headers["Content-Language"] == "en"

    def test_arabic_is_written_from_right_to_left(self, acme):
        page = acme.browser().get("/sign-in?ui_locales=ar")

        assert '<html lang="ar" dir="rtl">' in page.text

    def test_a_cache_can_tell_languages_apart(self, acme):
        assert "Accept-Language" in acme.browser().get("/nothing").headers["Vary"]

    @pytest.mark.parametrize("asked", ["ui_locales", "Accept-Language"])
    def test_a_code_that_a_front_end_asks_for_is_in_the_language_of_the_person(self, acme, asked):
        codes.reachable(acme)
        address, browser = new_email(), acme.browser()
        acme.user(email=address)
        headers = {"Accept-Language": "de" if asked == "Accept-Language" else "ja"}
        if asked == "ui_locales":
            browser.authorize(acme.application(), ui_locales="de")

        answer = browser.post(SEND, json=about(address), headers=headers)

        assert answer.status_code == 200
        with translation.override("de"):
            assert (
                translation.gettext("Your code to sign in to %(name)s") % {"name": "Acme"}
                == message_to(address)["subject"]
            )

    def test_programs_are_answered_in_english(self, acme):
        headers = {"Accept-Language": "ar"}

        token = acme.post("/oidc/token", data={"grant_type": "nonsense"}, headers=headers)
        signed_in = acme.post("/api/interaction/sign-in", json={}, headers=headers)

        assert token.json()["error_description"].isascii()
        assert signed_in.json()["message"].isascii()


class TestCatalogues:
    @pytest.mark.parametrize("language", TRANSLATED)
    def test_every_page_has_its_words(self, acme, language):
        page = acme.browser().get(f"/sign-in?ui_locales={language}")

        assert "Forgot" not in page.text
        assert "Password" not in page.text
        with translation.override(language):
            assert translation.gettext("Sign in") in page.text
            assert translation.gettext("Sign in") != "Sign in"

    @pytest.mark.parametrize("language", TRANSLATED)
    def test_no_sentence_is_missing_and_no_placeholder_is_lost(self, language):
        entries = _entries(LOCALES / translation.to_locale(language) / "LC_MESSAGES" / "django.po")

        assert len(entries) > 100
        for source, target, is_plural in entries:
            assert target, f"{language}: {source}"
            for pattern in (r"%\(\w+\)[sd]", r"</?\w+>"):
                # "One browser" may say it in a word, without the number.
                assert set(re.findall(pattern, target)) <= set(re.findall(pattern, source)), source
                if not is_plural:
                    assert sorted(re.findall(pattern, source)) == sorted(re.findall(pattern, target)), source

    @pytest.mark.skipif(not shutil.which("msgfmt"), reason="needs gettext")
    @pytest.mark.parametrize("language", TRANSLATED)
    def test_what_is_compiled_is_what_is_written(self, language, tmp_path):
        catalogue = LOCALES / translation.to_locale(language) / "LC_MESSAGES" / "django.po"
        compiled = tmp_path / "django.mo"

        subprocess.run(["msgfmt", "--check", "-o", compiled, catalogue], check=True)  # noqa: S607 - of the machine

        assert compiled.read_bytes() == catalogue.with_suffix(".mo").read_bytes()

    @pytest.mark.skipif(not shutil.which("xgettext"), reason="needs gettext")
    def test_every_sentence_of_the_code_is_in_the_catalogues(self, tmp_path):
        for folder in (
            "audit", "config", "database", "identity", "interaction", "locale", "management", "oidc",
            "templates",
        ):  # fmt: skip
            shutil.copytree(settings.BASE_DIR / folder, tmp_path / folder)
        shutil.copy(settings.BASE_DIR / "manage.py", tmp_path)
        subprocess.run(
            [
                *(sys.executable, "manage.py", "makemessages", "--settings", "config.settings_test"),
                *("--locale", "de", "--no-obsolete", "--no-wrap"),
            ],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
        inside = Path("locale") / "de" / "LC_MESSAGES" / "django.po"

        assert {s for s, *_ in _entries(tmp_path / inside)} == {
            s for s, *_ in _entries(settings.BASE_DIR / inside)
        }


def _entries(catalogue: Path) -> list[tuple[str, str, bool]]:
    """Return source and translation of each message, and whether it is one of the forms of a plural."""
    found: list[tuple[str, str, bool]] = []
    for block in catalogue.read_text().split("\n\n")[1:]:
        assert "#, fuzzy" not in block, block
        lines = [line for line in block.split("\n") if not line.startswith("#")]
        source = _text(lines, "msgid")
        plural = _text(lines, "msgid_plural")
        if not plural:
            found.append((source, _text(lines, "msgstr"), False))
        found += [(plural, _text(lines, f"msgstr[{n}]"), True) for n in range(6) if f"msgstr[{n}]" in block]
    return found


def _text(lines: list[str], keyword: str) -> str:
    parts: list[str] = []
    inside = False
    for line in lines:
        name, _, rest = line.partition(" ")
        if name == keyword:
            inside, parts = True, [rest]
        elif inside and line.startswith('"'):
            parts.append(line)
        else:
            inside = False
    return "".join(part.strip()[1:-1] for part in parts)
