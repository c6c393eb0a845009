"""What the operators' site says to do at a provider, and the redirect URI that it shows before it is used."""

import re
from time import time as now

import pytest

from interaction.connectors import new_ids, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from tests.support.cast import World
from tests.support.operators import Operator, administrator

SITE = "/admin/connectors/connector"
CLIENT = {"client_id": "shop", "client_secret": "hunter2 hunter2"}


@pytest.fixture
def operator(acme) -> Operator:
    somebody = Operator(administrator())
    somebody.sign_in()
    return somebody.choose(acme)


def shown_uri(page: str) -> str:
    found = re.search(r'id="redirect-uri"[^>]* value="([^"]+)"', page)
    return found[1] if found else ""


def find_all(world: World) -> list[Connector]:
    with world.active():
        return list(Connector.objects.all())


def test_every_provider_has_steps_that_name_what_to_register(operator):
    for provider in registry.PROVIDERS:
        page = operator.get(f"{SITE}/do/create-{provider.connector_id}/").text
        card = page.partition('<section class="card provider-guide"')[2].partition("</section>")[0]
        uri = shown_uri(page)

        assert "<ol><li>" in card, provider.connector_id
        assert not re.findall(r"\*\*|`|\{(?:redirect_uri|origin|host)\}", card), provider.connector_id
        assert bool(uri) is (provider.type == Connector.Type.SOCIAL)
        assert not uri or f"<code>{uri}</code>" in card
        for link in (provider.guide.console, provider.guide.documentation):
            assert link is None or f'href="{link.url}" target="_blank" rel="noopener noreferrer"' in card


def test_the_redirect_uri_of_the_form_is_the_one_of_the_connector(operator, acme):
    form = f"{SITE}/do/create-google/"
    shown = operator.get(form)
    uri = shown_uri(shown.text)
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown.text))

    wrong = operator.http.post(form, data=hidden | {"client_id": "shop"})
    made = operator.http.post(form, data=hidden | CLIENT)

    assert wrong.status_code == 400
    assert shown_uri(wrong.text) == uri
    page = operator.get(made.headers["Location"]).text
    assert shown_uri(page) == uri == f"{acme.issuer}/social/callback/{find_all(acme)[0].pk}"
    assert shown_uri(operator.get(f"{SITE}/{find_all(acme)[0].pk}/do/change/").text) == uri


def test_a_form_creates_one_connector_even_with_another_key(operator, acme):
    form = f"{SITE}/do/create-google/"
    shown = operator.get(form).text
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown))
    operator.http.post(form, data=hidden | CLIENT)

    again = operator.http.post(form, data=hidden | CLIENT | {"idempotency_key": "another"})

    assert again.status_code == 409
    assert "open the form again" in again.text
    assert len(find_all(acme)) == 1


def test_only_ids_that_this_server_chose_for_the_tenant_and_provider_are_used(operator, acme, rival):
    with rival.active():
        of_another_tenant = new_ids.new("google")
    with acme.active():
        of_another_provider = new_ids.new("github")
        stored = services.create(connector_id="google", type="Social", config=CLIENT, is_proven=True)

    for text in (of_another_tenant, of_another_provider, str(stored.pk), "x", "\0", "é:é:é", "x" * 9000):
        refused = operator.submit(f"{SITE}/do/create-google/", **CLIENT, new_id=text)
        assert refused.status_code == 400, text
    older = operator.submit(f"{SITE}/do/create-google/", **CLIENT, new_id="")

    assert older.status_code == 303
    assert len(find_all(acme)) == 2


def test_a_form_of_yesterday_is_refused(operator, acme, monkeypatch):
    with acme.active(), monkeypatch.context() as past:
        past.setattr("django.core.signing.time.time", lambda: now() - 90_000)
        older = new_ids.new("google")

    refused = operator.submit(f"{SITE}/do/create-google/", **CLIENT, new_id=older)

    assert refused.status_code == 400
    assert "this form has expired" in refused.text
    assert find_all(acme) == []
