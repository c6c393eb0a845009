"""Refusals of forms of connectors, applications and settings are in the language of the administrator.

The API says the same in English: ``test_admin_language`` and the tests of each refusal hold that.
"""

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from audit import log
from audit.events import Event
from identity.operator_kit import routes
from identity.roles.models import Role
from interaction.connectors import services as connectors
from interaction.connectors.errors import ProviderError, Reason, describe_refusal, describe_status
from interaction.connectors.models import Connector
from interaction.connectors.providers.google import Google
from interaction.experience import services as experiences
from interaction.pages import connector_sign_ins
from oidc.applications import services
from oidc.settings import services as oidc_settings
from tests.support import pseudo_language
from tests.support.cast import World
from tests.support.console_language import data_of, unmarked
from tests.support.operators import Operator, administrator, text_of

pytestmark = pytest.mark.skipif(not shutil.which("xgettext"), reason="needs gettext")

CLIENT = {"client_id": "x", "client_secret": "x"}
APPLICATIONS = "/admin/applications/application/do/create/"


@pytest.fixture
def operator(acme: World) -> Operator:
    somebody = Operator(administrator(), Client())
    somebody.sign_in()
    return somebody.choose(acme)


@pytest.fixture
def send(acme: World, operator: Operator) -> Callable[..., str]:
    """Send a form that is refused, and check that each sentence of the answer is marked."""

    def send(path: str, sentence: str = "", status: int = 400, **typed: Any) -> str:
        with pseudo_language.spoken():
            answer = operator.http.post(path, {"drawn_for": acme.tenant.pk, **typed})
        page = text_of(answer)
        assert answer.status_code == status, page
        assert sentence in page
        names = {str(one) for one in typed.values() if isinstance(one, str)}
        assert not (found := unmarked([answer], data_of(acme) | names)), "\n".join(found)
        return page

    return send


@pytest.mark.parametrize(
    ("kind", "uri", "sentence"),
    [
        ("SPA", "https://*.a.example/", "⟦must not have a wildcard: https://*.a.example/⟧"),
        ("SPA", "https://a.example/<", "⟦has a character that no URI has: "),
        ("SPA", "https://a~b.example/", "⟦must have a host of letters, digits, "),
        ("SPA", "/callback", "⟦must be an absolute URI: /callback⟧"),
        ("SPA", "https://a@a.example/", "⟦must not contain user information: https://a@a.example/⟧"),
        ("SPA", "https://a.example/#x", "⟦must not have a fragment: https://a.example/#x⟧"),
        ("SPA", "https://a.example/?code=x", "⟦must not have the response parameter code in its query: "),
        ("SPA", "localhost:5050/x", "⟦has no scheme: write http://localhost:5050/x⟧"),
        ("SPA", "com.example:/x", "⟦must be https: only Native applications have private schemes ("),
        ("Native", "data:/x", "⟦a private scheme is a reversed domain name, as com.example.app: data:/x⟧"),
        ("SPA", "https://a.example:0/", "⟦must have a host and a port from 1 to 65535: "),
        ("MachineToMachine", "https://a.example/", "⟦a MachineToMachine application has none⟧"),
    ],
)
def test_of_a_redirect_uri(send, kind, uri, sentence):
    send(APPLICATIONS, sentence, name="Shop", type=kind, redirect_uris=uri)


def test_of_other_fields_of_an_application(acme, send):
    application = acme.application("Traditional", name="Shop").application
    machine = acme.application("MachineToMachine", name="Robot").application
    page, of_machine = (f"/admin/applications/application/{row.pk}/do" for row in (application, machine))

    send(f"{page}/grant-types/", "included⟧", grant_types=["refresh_token"])
    send(
        f"{page}/describe/",
        "⟦must not have the parameter iss⟧",
        initiate_login_uri="https://a.example/?iss=x",
    )
    send(f"{page}/describe/", "⟦must be an https URL⟧", client_uri="http://a.example")
    send(f"{page}/describe/", "⟦must be an email address⟧", contacts="nobody")
    send(f"{page}/access/", "⟦unknown or not of the required type: x⟧", allowed_organization_ids="x")
    send(f"{page}/delete-secret/", secret_id=str(application.pk))
    send(f"{of_machine}/change/", name="Robot", require_pkce="on")


@pytest.mark.parametrize(("number", "rest"), [(1, "; first change"), (22, " and 2 more; first change")])
def test_of_a_deletion_after_which_nobody_could_use_applications(acme, send, number, rest):
    applications = [acme.application(name=f"Shop {place:02}").application for place in range(number)]
    with acme.active():
        role = Role.objects.create(name="Staff", type=Role.Type.USER)
        for row in applications:
            services.change(row, {"allowed_role_ids": [str(role.pk)]}, is_proven=True)

    page = send(f"/admin/roles/role/{role.pk}/do/delete/")

    assert f"({applications[min(number, 20) - 1].pk}){rest}" in page


def test_of_settings_and_lifetimes(acme, send):
    with acme.active():
        row = oidc_settings.current()
    page = f"{routes.row_url(row).removesuffix('change/')}do/lifetimes/"

    send(page, "⟦must be at most ", session_idle_seconds="999999999")


@pytest.mark.parametrize(
    ("provider", "sentence", "typed"),
    [
        ("smtp", "⟦must be between 1 and 65535⟧", {"host": "a b", "port": "70000", "from_email": "x"}),
        ("oidc", "⟦must be an https URL⟧", {"issuer": "ftp://x", "client_id": "é", "display_name": "x"}),
        ("oauth2", "the name on the sign-in button, for example OAuth 2⟧", {"client_id": "x"}),
        ("apple", "⟦must be ten capital letters and digits⟧", {"team_id": "x", "private_key": "x"}),
    ],
)
def test_of_a_configuration(send, provider, sentence, typed):
    send(f"/admin/connectors/connector/do/create-{provider}/", sentence, **typed)


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            describe_refusal("Twilio", "it received too many requests", 20429),
            "it received too many requests⟧ (20429)⟧",
        ),
        (describe_status("Twilio", 500), "⟦Twilio responded with HTTP 500⟧"),
    ],
)
def test_of_the_test_of_a_connector(acme, send, monkeypatch, reason, shown):
    with acme.active():
        row = connectors.create(
            connector_id="google", type=Connector.Type.SOCIAL, config=CLIENT, is_proven=True
        )

    def fail(*_: Any) -> None:
        raise ProviderError(reason)

    monkeypatch.setattr(Google, "test", fail)

    send(f"/admin/connectors/connector/{row.pk}/do/test/", shown)


def test_of_the_sign_in_experience(acme, send):
    with acme.active():
        page = f"/admin/experience/signinexperience/{experiences.current().pk}/do"
    svg = SimpleUploadedFile("logo.svg", b"<svg", content_type="image/svg+xml")
    big = SimpleUploadedFile("logo.png", b"x" * 300_000, content_type="image/png")

    of_texts = "⟦must not contain {x} as sign_in_heading: use only {application}, {tenant}⟧"
    of_messages = "⟦must not contain {x}: use only {code}, {name}⟧"
    send(f"{page}/texts-de/", of_texts, sign_in_heading="{x}")
    send(f"{page}/texts-de/", "⟦must contain {application} as sign_in_heading⟧", sign_in_heading="Welcome")
    send(f"{page}/message-sign_in-email-de/", "⟦must contain {code}⟧", subject="Code", text="Hello")
    send(f"{page}/message-sign_in-sms-de/", of_messages, text="{code} {x}")
    send(f"{page}/look/", "⟦is no PNG, WebP or well-formed SVG file⟧", upload_logo_url=svg)
    send(f"{page}/look/", "⟦must have at most 256 KiB⟧", upload_logo_url=big)
    send(f"{page}/look/", "⟦must be a colour like #0a84ff⟧", primary_color="red")
    typed = {"agree_to_terms": "on", "identifiers": ["username"], "password": "on"}
    send(f"{page}/registration/", "⟦can be manual only with ", **typed)


def test_the_reasons_of_failed_sign_ins_with_a_connector_are_marked(acme, operator):
    errors = [(error, "") for error in connector_sign_ins._ERRORS]
    facts = [*errors, *(("provider_failed", reason.value) for reason in Reason)]
    with acme.active():
        row = connectors.create(
            connector_id="google", type=Connector.Type.SOCIAL, config=CLIENT, is_proven=True
        )
    page, answers = f"/admin/connectors/connector/{row.pk}/change/", []

    for start in range(0, len(facts), 10):  # as many as the page shows
        with acme.active():
            for error, reason in facts[start : start + 10]:
                about = {"result": "failed", "error": error, "reason": reason, "connector_id": "google"}
                log.record(Event.SIGN_IN_SOCIAL, **about)
        with pseudo_language.spoken():
            answers.append(operator.get(page))

    assert not (found := unmarked(answers, data_of(acme))), "\n".join(found)
