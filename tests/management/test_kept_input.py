"""The operators' site: what was typed into a form after the session had ended is there after the sign-in."""

import html
import re
import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.forms import BooleanField, ChoiceField
from django.utils import timezone

from identity.operator_kit import kept_input
from identity.submissions import shown_once
from identity.submissions.models import ShownOnce
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.forms import AnyConfigForm
from management.site import idle_sessions
from management.site.sessions import SessionStore
from tests.support import operators
from tests.support.admin_pages import is_sign_in
from tests.support.cards import CONNECTOR, EXPERIENCE, GOOGLE, USER, Card, card_of
from tests.support.cast import PASSWORD, World
from tests.support.operators import Operator, administrator, text_of
from tests.support.two_step_page import set_up

CREATE = "/admin/users/user/do/create/"
NOT_SAVED = "Not saved yet"
NAMED_LIKE_SECRETS = re.compile(r"password|secret|code|token|key|config|private", re.IGNORECASE)
# Texts and numbers that no form hides.
HARMLESS = {
    "access_key_id", "access_token_ttl", "configuration_set", "key_id", "postal_code",
    "refresh_token_absolute_seconds", "refresh_token_idle_seconds", "site_key", "template_code",
    "token_endpoint",
}  # fmt: skip
GONE = "What you typed is no longer stored."


def hidden_in(page: Any) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text_of(page))
    return {name: html.unescape(value) for name, value in found}


def end_session(operator: Operator, seconds: int = settings.ADMIN_IDLE_SECONDS + 1) -> None:
    """Let nobody use the session for so long."""
    store = SessionStore(session_key=operator.http.cookies[settings.SESSION_COOKIE_NAME])
    store[idle_sessions._KEY] = int(time.time()) - seconds
    store.save()


def send_late(operator: Operator, opened: str, target: str, **typed: Any) -> Any:
    """Open a form, send it after the session has ended, and return the sign-in page."""
    form = hidden_in(operator.get(opened)) | typed
    end_session(operator)
    sent = operator.http.post(target, data=form)
    assert sent.status_code == 303
    assert is_sign_in(sent), sent.headers
    return sent.headers["Location"]


def sign_in(operator: Operator, page: str, who: Any = None) -> Any:
    """Sign in with the form of a sign-in page; return the page that follows."""
    typed = {"username": (who or operator.who).username, "password": PASSWORD}
    done = operator.submit(page, **typed)
    assert done.status_code == 303, done.text
    return operator.get(done.headers["Location"])


def value_of(page: Any, name: str) -> str | None:
    found = re.search(rf'<input [^>]*name="{name}"[^>]*>', text_of(page))
    value = found and re.search(r'value="([^"]*)"', found[0])
    return html.unescape(value[1]) if value else None


def users(acme: World) -> list[str | None]:
    with acme.active():
        return list(User.objects.values_list("username", flat=True))


class TestAfterTheSignIn:
    def test_the_form_has_what_was_typed_and_nothing_was_run(self, acme: World, operator: Operator):
        page = send_late(
            operator, CREATE, CREATE, username="ada", name="Ada & Co", password="quite long enough"
        )
        asked = operator.get(page)
        shown = sign_in(operator, page)

        assert "What you typed is stored for 15 minutes. Nothing was saved." in asked.text
        assert NOT_SAVED in shown.text
        assert (value_of(shown, "username"), value_of(shown, "name")) == ("ada", "Ada & Co")
        assert not value_of(shown, "password")
        assert "errorlist" not in shown.text
        assert "no-store" in shown.headers["Cache-Control"]
        assert users(acme) == []

        saved = operator.http.post(
            CREATE, data=hidden_in(shown) | {"username": "ada", "password": "quite long enough"}
        )
        assert saved.status_code == 303
        assert users(acme) == ["ada"]
        assert not ShownOnce.objects.filter(administrator=str(operator.who.pk)).exists()

    def test_a_card_is_open_and_a_change_of_somebody_else_is_noticed(self, acme: World, operator: Operator):
        card = card_of(acme, USER, "change")
        page = send_late(operator, card.url, card.target, name="Countess", email="a@acme.example")
        other = operators.at(acme)
        other.http.post(card.target, data=hidden_in(other.get(card.url)) | {"name": "First"})

        shown = sign_in(operator, page)
        refused = operator.http.post(card.target, data=hidden_in(shown) | {"name": "Countess"})

        assert shown.url.path == f"{card.page}change/"
        assert NOT_SAVED in shown.text
        assert value_of(shown, "name") == "Countess"
        assert refused.status_code == 412

    def test_secrets_and_fields_that_a_form_does_not_name_are_not_kept(self, acme: World, operator: Operator):
        with acme.active():
            connector = connectors.create(connector_id="google", type="Social", config=GOOGLE, is_proven=True)
        card = Card(f"/admin/{CONNECTOR}/{connector.pk}/", "change")
        page = send_late(
            operator, card.url, card.target, client_id="shop-2", client_secret="GOCSPX-new", more="x"
        )

        (row,) = ShownOnce.objects.filter(administrator=str(operator.who.pk))
        found = shown_once.find(  # as the page finds it
            shown_once.Viewer(row.administrator, ended_of(operator)["browser"]), row.page, row.pk
        )
        shown = sign_in(operator, page)

        assert "GOCSPX-new" not in row.sealed_content
        assert found["fields"].keys() == {"client_id", "version", "in_place"}
        assert value_of(shown, "client_id") == "shop-2"
        assert "GOCSPX" not in shown.text

    def test_it_is_there_after_a_second_step(self, acme: World, operator: Operator):
        _, codes = set_up(operator)
        again = Operator(operator.who)
        again.sign_in()
        again.submit("/admin/login/code/", code=codes[0])
        again.choose(acme)
        page = send_late(again, CREATE, CREATE, username="ada")

        asked = again.submit(page, username=again.who.username, password=PASSWORD)
        done = again.submit(asked.headers["Location"], code=codes[1])

        assert value_of(again.get(done.headers["Location"]), "username") == "ada"

    def test_the_tenant_is_the_one_of_the_ended_session(self, acme: World, rival: World, operator: Operator):
        page = send_late(operator, CREATE, CREATE, username="ada")

        back = sign_in(operator, page)
        operator.choose(rival)
        in_rival = operator.get(form_of(page))

        assert value_of(back, "username") == "ada"
        assert GONE in in_rival.text
        assert not value_of(in_rival, "username")


class TestLimits:
    def test_another_administrator_sees_nothing(self, acme: World, operator: Operator):
        page = send_late(operator, CREATE, CREATE, username="countess")

        shown = sign_in(operator, page, administrator(tenants=[acme.tenant.slug]))

        assert shown.status_code == 200
        assert GONE in shown.text
        assert "countess" not in shown.text

    def test_another_browser_of_the_same_administrator_sees_nothing(self, acme: World, operator: Operator):
        page = send_late(operator, CREATE, CREATE, username="ada")
        other = operators.at(acme, operator.who)

        shown = other.get(form_of(page))

        assert GONE in shown.text
        assert not value_of(shown, "username")

    def test_another_form_shows_nothing(self, acme: World, operator: Operator):
        page = send_late(operator, CREATE, CREATE, username="ada")
        sign_in(operator, page)

        shown = operator.get(form_of(page).replace("users/user", "roles/role"))

        assert GONE in shown.text

    def test_it_expires(self, acme: World, operator: Operator):
        page = send_late(operator, CREATE, CREATE, username="ada")
        ShownOnce.objects.filter(administrator=str(operator.who.pk)).update(
            expires_at=timezone.now() - timedelta(seconds=1)
        )

        shown = sign_in(operator, page)

        assert GONE in shown.text
        assert not value_of(shown, "username")

    def test_one_form_is_kept_for_a_session(self, acme: World, operator: Operator):
        form = hidden_in(operator.get(CREATE))
        send_late(operator, CREATE, CREATE, username="ada")
        for name in ("bob", "eve"):
            last = operator.http.post(CREATE, data=form | {"username": name}).headers["Location"]

        assert ShownOnce.objects.filter(administrator=str(operator.who.pk)).count() == 1
        assert value_of(sign_in(operator, last), "username") == "eve"

    @pytest.mark.parametrize(
        "how", ["signed out", "no session", "no list of fields", "too large", "preview", "bulk"]
    )
    def test_keeps_nothing(self, acme: World, operator: Operator, how: str):
        form = hidden_in(operator.get(CREATE)) | {"username": "ada"}
        target = CREATE
        if how == "signed out":
            operator.submit("/admin/logout/", page="/admin/")
        elif how == "no session":
            operator.http.cookies.delete(settings.SESSION_COOKIE_NAME)
        else:
            end_session(operator)
        if how == "no list of fields":
            del form["keeps"]
        elif how == "too large":
            form["username"] = "a" * 65_536
        elif how == "preview":
            target = f"/admin/{EXPERIENCE}/01890a5d-ac96-774b-bcce-b302099a8057/do/look/preview/x/"
        elif how == "bulk":
            target = "/admin/users/user/"

        sent = operator.http.post(target, data=form)

        assert sent.status_code == 303
        assert sent.headers["Location"] == f"/admin/login/?next={target}"
        assert not ShownOnce.objects.filter(administrator=str(operator.who.pk)).exists()

    @pytest.mark.parametrize("target", ["/admin/users/user/do/%F0%9F%92%A9/", "/admin/x/y/do/create/"])
    def test_of_an_unknown_form_it_is_no_failure(self, acme: World, operator: Operator, target: str):
        form = hidden_in(operator.get(CREATE)) | {"username": "ada", "in_place": "1"}
        end_session(operator)

        assert operator.http.post(target, data=form).status_code in {303, 404}

    def test_a_form_from_elsewhere_is_refused(self, acme: World, operator: Operator):
        form = hidden_in(operator.get(CREATE)) | {"username": "ada", "csrfmiddlewaretoken": "x" * 64}
        end_session(operator)

        assert operator.http.post(CREATE, data=form).status_code == 403
        assert not ShownOnce.objects.filter(administrator=str(operator.who.pk)).exists()


def test_no_form_keeps_a_secret(acme: World):
    kept = set()
    for kind in operators.pages():
        for operation in kind.catalogue.all():
            row = None
            with acme.active():
                if operation.needs_row:
                    row = kind.model._default_manager.first()
                if operation.needs_row and row is None and operation.form_for is not None:
                    continue
                form = operation.get_form_class(row)()
                kept |= {
                    name
                    for name in kept_input.get_names(form).split()
                    if not isinstance(form.fields[name], BooleanField | ChoiceField)
                }

    named_like_secrets = {name for name in kept if NAMED_LIKE_SECRETS.search(name)}
    assert named_like_secrets == HARMLESS
    assert "username" in kept
    assert kept_input.get_names(AnyConfigForm()) == ""


def ended_of(operator: Operator) -> Any:
    store = SessionStore(session_key=operator.http.cookies[settings.SESSION_COOKIE_NAME])
    return store[kept_input.SESSION_KEY]


def form_of(page: str) -> str:
    """The URL of the filled-in form to which a sign-in page leads."""
    return html.unescape(
        re.sub(r"%([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), page.partition("next=")[2])
    )
