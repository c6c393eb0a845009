"""Clients of others that ask for a stronger sign-in, and are told of it."""

import json
from urllib.parse import urlencode

import pytest

from tests.support import clients
from tests.support.cast import PASSWORD
from tests.support.factors import enrol, switch_on
from tests.support.forms import forms
from tests.support.relying_parties import new_origin, running, shown

ONE, TWO = "urn:service:acr:1fa", "urn:service:acr:2fa"
ESSENTIAL = json.dumps({"id_token": {"acr": {"essential": True, "values": [TWO]}}})


@pytest.fixture
def app(ada):
    switch_on(ada.world)
    return enrol(ada.world, ada.user, two_step=False)


def prove(person, page, code):
    """Enter the code on the page of the second factor, and go on."""
    found = next(form for form in forms(page) if "with" in form.fields)
    return onward(person, found.submit(person.browser, code=code))


def onward(person, answer):
    assert answer.has_redirect_location, answer.text
    return person.open(str(answer.url.join(answer.headers["Location"])))


def ask(person, origin, **parameters):
    return person.open(f"{origin}/login?{urlencode(parameters)}")


@pytest.mark.parametrize("name", ["openid-client", "oauth4webapi", "Authlib"])
def test_decision_M38_M63_a_client_gets_the_level_that_it_asks_for(ada, app, secured, name):
    origin, client = new_origin(), clients.named(name)
    registered = ada.world.application(client.type, redirect_uris=[f"{origin}{client.callback}"])
    with running(client.program, registered, secured, origin):
        first = shown(ada.enter(ada.open(f"{origin}/login")))

        second = shown(
            prove(ada, ada.open(f"{origin}/login?{urlencode({'acr_values': TWO})}"), code=app.code())
        )
        third = shown(ask(ada, origin, claims=ESSENTIAL, max_age=600))

    assert [seen["acr"] for seen in (first, second, third)] == [ONE, TWO, TWO]
    assert first["sid"] == second["sid"] == third["sid"]
    assert first["auth_time"] == second["auth_time"]


@pytest.mark.parametrize("name", ["openid-client", "oauth4webapi", "Authlib"])
def test_decision_M39_M63_a_client_is_told_of_a_demand_that_is_not_met(ada, app, secured, name):
    origin, client = new_origin(), clients.named(name)
    registered = ada.world.application(client.type, redirect_uris=[f"{origin}{client.callback}"])
    with running(client.program, registered, secured, origin):
        ada.enter(ada.open(f"{origin}/login"))
        page = ask(ada, origin, claims=ESSENTIAL)
        button = next(form for form in forms(page) if ("cancel", "") in form.buttons)

        end = onward(ada, button.submit(ada.browser, cancel=""))

    assert "error=unmet_authentication_requirements" in str(end.url)
    assert end.is_error


def test_decision_M38_M63_a_single_page_application_steps_up(ada, app, secured, screens):
    origin = new_origin()
    client = ada.world.application("SPA", redirect_uris=[f"{origin}/callback", f"{origin}/silent"])
    told = "manager.getUser().then(user => user.profile.acr)"
    with running("oidc_client_ts.mjs", client, secured, origin):
        page = screens.open(ignore_https_errors=True)
        page.goto(origin)
        page.evaluate("void manager.signinRedirect()")
        page.get_by_label("Username, email or phone").fill(ada.user.username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{origin}/")
        page.wait_for_function(f"{told}.then(acr => acr === '{ONE}')")

        page.evaluate(f"void manager.signinRedirect({{acr_values: '{TWO}'}})")
        page.locator("input[name=code]").fill(app.code())
        page.get_by_role("button", name="Continue", exact=True).click()
        page.wait_for_url(f"{origin}/")

        page.wait_for_function(f"{told}.then(acr => acr === '{TWO}')")
