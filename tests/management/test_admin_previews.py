"""Previews of the sign-in experience: the pages that people get, made of a form that nobody saved."""

import html
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from audit.models import Entry
from identity.sessions.models import Session
from interaction.experience import services as experiences
from interaction.verification.models import OutgoingMessage, VerificationCode
from tests.support import cast, codes, operators
from tests.support.operators import Operator, administrator

LOOK = {"primary_color": "#ff0066", "logo_url": "https://acme.example/logo.svg"}


@pytest.fixture
def mail(acme):
    """Codes can be sent."""
    codes.reachable(acme)


def row_of(world):
    with world.active():
        return experiences.current()


def form_of(world, operation):
    return f"/admin/experience/signinexperience/{row_of(world).pk}/do/{operation}/"


def draw(operator, world, operation, page, **typed):
    form = form_of(world, operation)
    return operator.http.post(
        f"{form}preview/{page}/",
        data={"csrfmiddlewaretoken": token(operator, form), "drawn_for": operator.tenant, **typed},
    )


def token(operator, form):
    return re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', operator.get(form).text)[0]


def main_of(answer):
    """What the page says and is made of, without what differs from one request to the next."""
    (found,) = re.findall(r"<main>.*</main>", answer.text, re.DOTALL)
    return re.sub(r'(name="csrfmiddlewaretoken" value=")[^"]+', r"\1", found)


def policy(answer):
    rules = (rule.split() for rule in answer.headers["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in rules}


class TestThePage:
    def test_has_what_the_form_has_and_nobody_saved(self, acme, operator):
        drawn = draw(operator, acme, "look", "sign-in", **LOOK)

        assert drawn.status_code == 200
        assert 'src="https://acme.example/logo.svg"' in drawn.text
        (stylesheet,) = re.findall(r'href="([^"]+brand\.css[^"]*)"', drawn.text)
        path = html.unescape(stylesheet).removeprefix(f"/t/{acme.tenant.slug}")
        assert path.startswith("/brand.css?")
        assert "--brand:#ff0066" in acme.get(path).text
        assert "#ff0066" not in acme.get("/brand.css").text

    @pytest.mark.parametrize(
        "case",
        [
            ("look", "sign-in", LOOK, "/sign-in"),
            ("look", "registration", {"terms_of_use_url": "https://acme.example/terms"}, "/register"),
            ("ways", "sign-in", {"username_password": "on"}, "/sign-in"),
            ("ways", "sign-in", {"email_password": "on", "email_code": "on"}, "/sign-in"),
            ("ways", "sign-in", {"email_code": "on"}, "/sign-in/code"),
            ("ways", "sign-in", {}, "/sign-in"),
            ("registration", "registration", {"identifiers": ["email"], "verify": "on"}, "/register"),
            ("registration", "registration", {"identifiers": ["username"], "password": "on"}, "/register"),
            ("passwords", "registration", {"min_length": "12", "strength_meter": "on"}, "/register"),
        ],
    )
    @pytest.mark.usefixtures("mail")
    def test_is_the_one_that_people_get_once_it_is_saved(self, acme, operator, case):
        operation, page, typed, path = case
        drawn = draw(operator, acme, operation, page, **typed)
        before = main_of(acme.get(path)) if operation != "look" else None
        saved = operator.submit(form_of(acme, operation), **typed)

        assert saved.status_code == 303, saved.text
        real = acme.get(path)
        assert main_of(drawn) == main_of(real)
        assert before != main_of(real) or typed.keys() == {"identifiers", "password"}
        if "brand.css" in real.text:
            assert f"/t/{acme.tenant.slug}/brand.css?primary_color=" in drawn.text
        assert 'action="/sign-in' not in drawn.text

    def test_of_what_is_saved_comes_without_a_form(self, acme, operator):
        row = operator.get(f"/admin/experience/signinexperience/{row_of(acme).pk}/change/")
        (source,) = re.findall(r'<iframe [^>]*sandbox="" src="([^"]+)"', row.text)

        assert main_of(operator.get(source)) == main_of(acme.get("/sign-in"))

    @pytest.mark.parametrize("colour", ["red", "%23ff0066;}body{display:none", "%00", "%23ff00"])
    def test_takes_its_colours_from_no_address_that_has_none(self, acme, colour):
        answer = acme.get(f"/brand.css?primary_color={colour}&dark_primary_color=")

        assert (answer.status_code, answer.text) == (200, "")

    def test_of_registration_that_is_off_says_so_in_the_draft_s_look(self, acme, operator):
        operator.submit(form_of(acme, "registration"))

        drawn = draw(operator, acme, "look", "registration", **LOOK)

        assert "t create an account here" in drawn.text
        assert "https://acme.example/logo.svg" in drawn.text

    def test_for_the_code_is_that_of_the_first_step_that_asks_for_one(self, acme, operator, mail):
        signing_in = draw(operator, acme, "ways", "code", email_code="on")
        forgotten = draw(operator, acme, "ways", "code", email_password="on")

        assert "a•••@example.com" in main_of(signing_in)
        assert f'action="/t/{acme.tenant.slug}/sign-in/code"' in signing_in.text
        assert f'action="/t/{acme.tenant.slug}/forgot-password"' in forgotten.text

    def test_where_no_code_can_be_sent_is_none(self, acme, operator):
        drawn = draw(operator, acme, "ways", "code", email_code="on")

        assert drawn.status_code == 400
        assert "no page asks for a code" in drawn.text

    def test_of_values_that_break_a_rule_says_which(self, acme, operator):
        drawn = draw(operator, acme, "look", "sign-in", primary_color='"/><x', logo_url="http://a.example")

        assert drawn.status_code == 400
        assert "Colour: " in drawn.text
        assert "Logo: " in drawn.text
        assert "<x" not in drawn.text
        assert policy(drawn)["frame-ancestors"] == ["'self'"]


class TestAMessage:
    def test_is_the_one_that_is_sent(self, acme, operator):
        ours = operator.get(f"{form_of(acme, 'message-sign_in-email-de')}preview/html/").text
        typed = {"subject": "For {name}", "text": "Type {code}", "html": "<p style='color:red'>{code}</p>"}
        own = draw(operator, acme, "message-sign_in-email-de", "html", **typed)
        text = draw(operator, acme, "message-sign_in-email-de", "text", **typed)

        assert '<html lang="de"' in ours
        assert "123456" in ours
        assert own.text == '<style>[data-style="1"]{color:red}</style><p data-style="1">123456</p>'
        sheet = b64encode(sha256(b'[data-style="1"]{color:red}').digest()).decode()
        assert policy(own)["style-src"] == [f"'sha256-{sheet}'"]
        assert policy(text)["style-src"] == ["'self'"]
        assert f"For {acme.tenant.name}" in text.text
        assert "Type 123456" in text.text
        assert row_of(acme).message_templates == []

    def test_for_every_other_language_is_not_that_of_one(self, acme, operator):
        operator.submit(form_of(acme, "message-register-sms-en"), text="English {code}")

        drawn = draw(operator, acme, "message-register-sms-any", "text", text="Any {code}")

        assert "Any 123456" in drawn.text
        assert draw(operator, acme, "message-register-sms-any", "html").status_code == 404

    @pytest.mark.parametrize(
        ("message", "placeholders"),
        [
            ("sign_in-email-de", {"code", "name"}),
            ("register-sms-any", {"code", "name"}),
            ("notice_backup_code_used-email-ar", {"left", "time", "browser", "address", "name"}),
        ],
    )
    def test_starts_from_the_built_in_text(self, acme, operator, message, placeholders):
        form = form_of(acme, f"message-{message}")
        page = operator.get(f"{form}?start=built-in").text
        typed = {
            name: html.unescape(text).lstrip("\n") if name == "html" else html.unescape(text)
            for name, text in re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
        }
        if subject := re.findall(r'name="subject" value="([^"]*)"', page):
            typed["subject"] = html.unescape(subject[0])

        assert 'href="?start=built-in"' in operator.get(form).text
        assert set(re.findall(r"\{(\w+)\}", typed["text"])) == placeholders
        assert operator.submit(form, **typed).status_code == 303
        preview = operator.get(f"{form}preview/text/").text
        assert acme.tenant.name in preview
        assert "{" not in preview

    def test_without_its_code_is_none(self, acme, operator):
        drawn = draw(operator, acme, "message-register-sms-en", "text", text="no place for it")

        assert drawn.status_code == 400
        assert "must contain {code}" in drawn.text


class TestHeaders:
    def test_of_a_preview_let_our_own_pages_frame_it_and_nothing_run(self, acme, operator):
        drawn = draw(operator, acme, "look", "sign-in")

        assert policy(drawn)["frame-ancestors"] == ["'self'"]
        assert policy(drawn)["sandbox"] == []
        assert drawn.headers["X-Frame-Options"] == "SAMEORIGIN"
        assert "no-store" in drawn.headers["Cache-Control"]
        assert "Set-Cookie" not in drawn.headers

    def test_of_the_editor_let_it_frame_pages_of_ours_alone(self, acme, operator):
        editor = operator.get(form_of(acme, "look"))
        other = operator.get(form_of(acme, "accounts"))

        assert policy(editor)["frame-src"] == ["'self'"]
        assert "frame-src" not in policy(other)
        for page in (editor, other):
            assert policy(page)["frame-ancestors"] == ["'none'"]
            assert page.headers["X-Frame-Options"] == "DENY"
        assert "style=" not in editor.text


class TestWho:
    def test_previews_is_whoever_may_edit(self, acme, operator):
        path = f"{form_of(acme, 'look')}preview/sign-in/"
        auditor = operators.at(acme, administrator(role="auditor", is_superuser=True))
        support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))

        assert operator.get(path).status_code == 200
        assert auditor.get(path).status_code == support.get(path).status_code == 403
        assert "<iframe" not in auditor.get(f"{path.partition('do/')[0]}change/").text
        assert "/admin/login/" in Operator(operator.who).get(path).headers["Location"]

    def test_works_elsewhere_finds_nothing(self, acme):
        beta = cast.new_world("Beta")
        elsewhere = operators.at(beta, administrator(tenants=[beta.tenant.slug]))
        path = f"{form_of(acme, 'look')}preview/sign-in/"
        sent = {"csrfmiddlewaretoken": token(elsewhere, form_of(beta, "look")), "drawn_for": beta.tenant.pk}

        assert elsewhere.get(path).status_code == 404
        assert elsewhere.http.post(path, data=sent).status_code == 404

    def test_asks_for_what_there_is_not_finds_nothing(self, acme, operator):
        look = form_of(acme, "look")

        assert operator.get(f"{look}preview/consent/").status_code == 404
        assert operator.get(f"{form_of(acme, 'accounts')}preview/sign-in/").status_code == 404
        assert operator.get(f"{form_of(acme, 'nothing')}preview/sign-in/").status_code == 404
        assert operator.http.post(f"{look}preview/sign-in/").status_code == 403  # no token of the form


class TestTabs:
    def test_lead_from_the_overview_to_each_form(self, acme, operator):
        overview = operator.get(f"/admin/experience/signinexperience/{row_of(acme).pk}/change/").text
        form = operator.get(form_of(acme, "look")).text

        for page, current in ((overview, "Overview"), (form, "Branding")):
            (nav,) = re.findall(r'<nav class="tabs".*?</nav>', page)
            assert re.findall(r">([^<]+)</a>", nav) == [
                *("Overview", "Branding", "Methods", "Order", "Sign-up", "Passwords", "Second factors"),
                *("Account", "Messages", "Texts"),
            ]
            assert re.findall(r'aria-current="page">([^<]+)<', nav) == [current]
        assert '/change/?edit=passwords#card-passwords">Edit<' in overview

    def test_stay_open_after_saving(self, acme, operator):
        saved = operator.submit(form_of(acme, "look"), **LOOK, dark_primary_color="#ff9")

        assert saved.headers["Location"] == form_of(acme, "look")
        assert "The sign-in experience is changed." in operator.get(form_of(acme, "look")).text
        overview = operator.get(f"/admin/experience/signinexperience/{row_of(acme).pk}/change/").text
        assert 'fill="#ff0066"' in overview
        assert "black text on it, contrast 20.0" in overview
        assert 'src="https://acme.example/logo.svg"' in overview
        assert "style=" not in overview

    def test_are_not_there_for_who_may_only_read(self, acme):
        auditor = operators.at(acme, administrator(role="auditor", is_superuser=True))

        overview = auditor.get(f"/admin/experience/signinexperience/{row_of(acme).pk}/change/").text

        assert "Minimum length" in overview
        assert 'class="tabs"' not in overview
        assert ">Edit<" not in overview


def test_nothing_is_written(acme, operator, mail):
    def there_is():
        with acme.active():
            kinds = (Session, OutgoingMessage, VerificationCode)
            entries = Entry.objects.filter(tenant_id=acme.tenant.pk).count()
            return [*(kind.objects.count() for kind in kinds), entries, experiences.current().version]

    before = there_is()

    for page in ("sign-in", "registration", "code"):
        assert draw(operator, acme, "look", page, **LOOK).status_code == 200

    assert there_is() == before
