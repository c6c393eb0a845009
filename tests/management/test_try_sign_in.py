"""Trying a sign-in on the page of an application: what it shows, what is left of it, and who may."""

import html
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.utils import timezone

from audit.models import Entry
from identity.sessions.models import Session
from identity.submissions.models import ShownOnce
from management.site.statistics import get_statistics
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, Consent, RefreshFamily, RevokedToken
from tests.support.cast import World, default_world, query_of
from tests.support.trials import SITE, Trial, operator_of, page_of, text_of


@pytest.fixture
def trial(acme) -> Trial:
    return Trial(acme, operator_of(acme))


def entries(world: World, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id"))


def test_it_shows_the_claims_of_the_tokens_and_of_userinfo(acme, trial):
    client, user = acme.application(), acme.user(name="Ada <b>L</b>", email="ada@acme.example")

    page = trial.run(client, user, scope="openid profile email unknown:scope")

    assert "Signing in to Test application works." in page
    assert f"User: {user.username}" in page
    assert "Granted scopes openid profile email " in page
    assert "Ada <b>L</b>" in page
    for shown in ('"alg": "ES256"', '"typ": "JWT"', '"typ": "at+jwt"', f'"sub": "{user.pk}"', '"nonce": "'):
        assert shown in page, shown
    assert f'"aud": "{client.client_id}"' in page
    assert page.count('"email": "ada@acme.example"') == 2, "in the ID token and in userinfo"
    assert "JSON, not signed." in page
    assert "The tokens are revoked. The user is signed out in this browser." in page


def test_no_token_leaves_the_server_and_reloading_repeats_nothing(acme, trial):
    client, user = acme.application(grant_types=["authorization_code", "refresh_token"]), acme.user()
    scope = "openid offline_access"
    came = trial.operator.get(trial.sign_in(trial.begin(client, scope=scope), user))
    first = trial.operator.get(came.headers["Location"])
    issued = len(entries(acme, "Token.Exchange"))
    again = trial.operator.get(came.headers["Location"])

    assert "no-store" in came.headers["Cache-Control"] or "no-store" in first.headers["Cache-Control"]
    assert again.status_code == 200
    assert len(entries(acme, "Token.Exchange")) == issued == 1
    assert "Refresh token issued" in text_of(first)
    assert "eyJ" not in first.text, "no part of a token"
    with acme.active():
        family = RefreshFamily.objects.get()
        assert (family.end_reason, family.ended_at is None) == ("test_ended", False)
        assert str(family.pk) + ".0." not in first.text
        assert AuthorizationCode.objects.get().consumed_at is not None
        assert not AuthorizationRequest.objects.exists()
        assert Session.objects.get().ended_at is not None


def test_without_a_refresh_token_the_access_token_is_revoked(acme, trial):
    trial.run(acme.application(), acme.user(), scope="openid")

    with acme.active():
        code = AuthorizationCode.objects.get()
        assert RevokedToken.objects.get().token_id == code.access_token_id


@pytest.mark.parametrize("type_", ["Traditional", "SPA", "Native"])
@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_it_works_for_every_type_and_algorithm(acme, trial, type_, algorithm):
    changes = {"id_token_signed_response_alg": algorithm, "userinfo_signed_response_alg": algorithm}
    client = acme.application(type_, **changes)

    page = trial.run(client, acme.user())

    assert "works." in page
    assert f'"alg": "{algorithm}"' in page
    assert f"Signed with {algorithm}." in page


def test_it_needs_no_registered_redirect_uri(acme, trial):
    client = acme.application(redirect_uris=[])

    assert "works." in trial.run(client, acme.user())


def test_the_log_says_that_it_was_a_test_and_of_whom(acme, trial):
    client, user = acme.application(), acme.user()

    trial.run(client, user)

    (tested,) = entries(acme, "Application.Test")
    (issued,) = entries(acme, "Token.Exchange")
    (revoked,) = entries(acme, "Token.Revoke")
    for entry in (tested, issued, revoked):
        assert entry.payload["administrator_id"] == trial.operator.who.pk
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
    assert (tested.payload["result"], tested.payload["kind"]) == ("success", "sign_in")
    assert issued.payload["is_test"] is True
    assert revoked.payload["reason"] == "test_ended"
    client.tokens_for(user)
    assert "is_test" not in entries(acme, "Token.Exchange")[-1].payload


def test_a_user_who_is_signed_in_already_stays_signed_in(acme, trial):
    client, user = acme.application(), acme.user()
    assert trial.browser.sign_in(user).status_code == 200

    place = trial.begin(client, signs_in_again="")
    page = trial.read(trial.operator.get(place))

    assert "/do/try-sign-in/?" in place, "no page was shown"
    assert "works." in page
    assert "signed out" not in page
    with acme.active():
        assert Session.objects.get().ended_at is None


def test_a_consent_of_the_test_is_withdrawn_and_an_earlier_one_stays(acme, trial):
    client, ada, bob = acme.application(is_third_party=True), acme.user(), acme.user()
    place = trial.begin(client)
    landed = trial.sign_in(place, ada)
    with acme.active():
        assert Consent.objects.filter(user=ada).exists()
    page = trial.read(trial.operator.get(landed))

    assert "works." in page
    assert "The consent is withdrawn." in page
    with acme.active():
        assert not Consent.objects.exists()
    (entry,) = entries(acme, "Consent.Revoke")
    assert entry.payload["reason"] == "test_ended"

    with acme.active():
        before = Consent.objects.create(user=bob, application=client.application, scopes=["openid"])
    page = trial.run(client, bob)
    assert "works." in page
    assert "withdrawn" not in page
    with acme.active():
        assert Consent.objects.get().pk == before.pk


def test_a_consent_that_a_real_sign_in_uses_meanwhile_stays(acme, trial):
    client, user = acme.application(is_third_party=True), acme.user()
    landed = trial.sign_in(trial.begin(client, scope="openid profile email"), user)
    real = acme.browser()
    assert real.sign_in(user).status_code == 200
    tokens = client.tokens_for(user, real, scope="openid profile")

    page = trial.read(trial.operator.get(landed))

    assert "works." in page
    assert "withdrawn" not in page
    assert client.userinfo(tokens["access_token"]).status_code == 200


def test_a_refused_consent_is_reported(acme, trial):
    client, user = acme.application(is_third_party=True), acme.user()
    interaction = trial.begin(client).partition("interaction=")[2]
    signed_in = trial.browser.sign_in(user, interaction=interaction)
    place = trial.browser.get(signed_in.json()["result"]["redirect_to"]).headers["Location"]

    page = trial.read(trial.operator.get(trial.consent(place, "deny")))

    assert "would get an error: the user refused this request (access_denied)" in page
    assert "signed out" in page
    (tested,) = entries(acme, "Application.Test")
    assert (tested.payload["result"], tested.payload["error"]) == ("failed", "access_denied")
    with acme.active():
        assert not Consent.objects.exists()
        assert not AuthorizationCode.objects.exists()


def test_a_user_who_may_not_use_the_application_sees_the_real_page(acme, trial):
    client, user = acme.application(), acme.user()
    with acme.active():
        Application.objects.update(is_restricted=True)

    interaction = trial.begin(client).partition("interaction=")[2]
    signed_in = trial.browser.sign_in(user, interaction=interaction)
    place = trial.browser.get(signed_in.json()["result"]["redirect_to"]).headers["Location"]

    assert "/no-access?" in place
    site = acme.address.partition("/t/")[0]
    left = trial.operator.submit(f"{site}{place}", page=f"{site}{place}", choice="back")
    page = trial.read(trial.operator.get(left.headers["Location"]))
    assert "the user may not use this application (access_denied)" in page
    assert user.username in page


def test_it_works_in_the_default_tenant(acme):
    world = default_world()
    client, user = world.application(name="Default shop"), world.user()
    trial = Trial(world, operator_of(world))

    assert "Signing in to Default shop works." in trial.run(client, user)


def test_the_activity_of_the_application_says_that_it_was_tried(acme, trial):
    client, user = acme.application(), acme.user()
    client.tokens_for(user, scope="openid profile")
    trial.run(client, user, scope="openid")

    page = text_of(trial.operator.get(f"{SITE}/{client.application.pk}/change/"))

    assert "openid (tried by an administrator)" in page
    assert "openid profile (tried" not in page


def test_a_request_that_the_application_could_not_send_is_explained_at_once(acme, trial):
    client = acme.application()
    for typed, reason in (
        ({"scope": "profile"}, "scope must contain openid"),
        ({"resource": "https://nowhere.example"}, "resource must be the indicator of an api"),
    ):
        answer = trial.press(client, **typed)
        assert answer.status_code == 400
        assert reason in text_of(answer).lower()
    with acme.active():
        assert not AuthorizationRequest.objects.exists()


def test_it_reports_why_no_tokens_were_issued(acme, trial):
    client, user = acme.application(), acme.user()
    landed = trial.sign_in(trial.begin(client), user)
    with acme.active():
        Application.objects.update(is_restricted=True)

    page = trial.read(trial.operator.get(landed))

    assert "(invalid_grant)" in page
    assert "may not use this application" in page
    with acme.active():
        assert not AuthorizationCode.objects.exists(), "the code is deleted"
        assert not RefreshFamily.objects.exists()


@pytest.mark.parametrize("role", ["auditor", "support"])
def test_only_administrators_may(acme, role):
    client = acme.application()
    somebody = operator_of(acme, tenants=[acme.tenant.slug], role=role)

    assert somebody.get(page_of(client)).status_code == 403
    assert "try-sign-in" not in somebody.get(f"{SITE}/{client.application.pk}/change/").text


def test_an_administrator_of_the_tenant_may(acme):
    somebody = operator_of(acme, tenants=[acme.tenant.slug], role="administrator")

    assert "works." in Trial(acme, somebody).run(acme.application(), acme.user())


def test_an_application_without_users_has_words_instead_of_a_button(acme, trial):
    machine = acme.application("MachineToMachine")
    codeless = acme.application()
    with acme.active():
        Application.objects.filter(pk=codeless.application.pk).update(grant_types=["client_credentials"])

    for client, why in ((machine, "no user signs in to a service"), (codeless, "authorization_code")):
        page: Any = trial.operator.get(f"{SITE}/{client.application.pk}/change/")
        assert "do/try-sign-in/" not in page.text
        assert "You cannot try a sign-in here" in page.text
        assert why in text_of(page)
        assert trial.operator.get(page_of(client)).status_code == 302
    page = trial.operator.get(f"{SITE}/{acme.application().application.pk}/change/")
    assert "do/try-sign-in/" in page.text
    assert "cannot try" not in page.text


def test_a_trial_counts_in_no_number_of_the_dashboard(acme, trial):
    client, user = acme.application(), acme.user()
    place = trial.begin(client)
    wrong = {"identifier": user.username, "password": "wrong", "interaction": query_of(place)["interaction"]}
    assert trial.browser.post("/api/interaction/sign-in", json=wrong).status_code == 401
    trial.read(trial.operator.get(trial.sign_in(place, user)))

    with acme.active():
        figures = get_statistics(7)
    counters = (figures.sign_ins, figures.failures, figures.active_users, figures.tokens)
    assert [sum(counter.values()) for counter in counters] == [0, 0, 0, 0]
    assert not figures.applications
    assert "invalid_credentials" not in trial.operator.get("/admin/").text
    cache.clear()

    client.tokens_for(user)
    with acme.active():
        figures = get_statistics(7)
    counters = (figures.sign_ins, figures.failures, figures.active_users, figures.tokens)
    assert [sum(counter.values()) for counter in counters] == [1, 0, 1, 1]
    site = trial.operator.get("/admin/").text
    for key in ("sign-ins", "tokens"):
        link = re.search(rf'href="([^"]*key={key}&amp;result=success[^"]*)"', site)
        assert link
        assert trial.operator.get(html.unescape(link[1])).text.count('class="field-key') == 1, key


def test_sign_in_health_says_which_attempts_were_tried_by_an_administrator(acme, trial):
    client, user = acme.application(), acme.user()
    trial.run(client, user)
    client.tokens_for(user)

    page = text_of(trial.operator.get(f"/admin/users/user/{user.pk}/change/"))

    assert page.count("Password (tried by an administrator) Succeeded") == 1
    assert page.count("Password Succeeded") == 1


def test_an_unfinished_trial_is_deleted_after_it_expires(acme, trial):
    client = acme.application()
    stored = ShownOnce.objects.filter(page=f"trial of {acme.tenant.pk}/{client.application.pk}")
    trial.begin(client)
    with acme.active():
        assert (stored.count(), AuthorizationRequest.objects.count()) == (1, 1)
        expired = timezone.now() - timedelta(hours=1, minutes=1)
        stored.update(expires_at=expired)
        AuthorizationRequest.objects.update(expires_at=expired)

    call_command("purge", "--json", stdout=StringIO())

    with acme.active():
        assert (stored.count(), AuthorizationRequest.objects.count()) == (0, 0)
