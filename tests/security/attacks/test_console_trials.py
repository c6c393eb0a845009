"""Trying a sign-in: a code of a trial is worth nothing elsewhere, and it redeems no other code (AW07)."""

import html
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.utils import timezone

from audit.models import Entry
from identity.encryption import keyring
from identity.submissions import shown_once
from identity.submissions.models import ShownOnce
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationCode, AuthorizationRequest
from tests.support.cast import query_of
from tests.support.operators import Operator
from tests.support.trials import Trial, operator_of, page_of


@pytest.fixture
def trial(acme) -> Trial:
    return Trial(acme, operator_of(acme))


def callback_of(client: Any) -> str:
    return f"{settings.BASE_URL}{page_of(client)}"


def is_refused(answer: Any) -> bool:
    return answer.status_code == 400 and "try again" in html.unescape(answer.text)


@pytest.mark.parametrize("is_registered", [False, True])
def test_attack_AW07_the_token_endpoint_refuses_the_code_of_a_trial(acme, trial, is_registered):
    client, user = acme.application(), acme.user()
    landed = trial.sign_in(trial.begin(client), user)
    code = query_of(landed)["code"]
    if is_registered:
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(redirect_uris=[callback_of(client)])

    stolen = [
        client.redeem(code, redirect_uri=callback_of(client), code_verifier=verifier)
        for verifier in (client.verifier, None)
    ]
    stolen.append(client.redeem(code, code_verifier=None))

    for answer in stolen:
        assert answer.status_code == 400
        assert answer.json()["error"] in {"invalid_grant", "invalid_request"}
    assert trial.operator.get(landed).status_code == 302, "the trial goes on"


def test_attack_AW07_the_verifier_alone_does_not_make_the_token_endpoint_accept_it(acme, trial):
    client, user = acme.application(), acme.user()
    code = query_of(trial.sign_in(trial.begin(client), user))["code"]
    (row,) = ShownOnce.objects.filter(page__contains=str(client.application.pk))
    opened = keyring.decrypt(
        row.sealed_content, purpose=shown_once.PURPOSE, bound_to=shown_once.bound_to(row)
    )
    verifier = json.loads(opened)[2]

    for uri in (callback_of(client), client.application.redirect_uris[0]):
        refused = client.redeem(code, redirect_uri=uri, code_verifier=verifier)
        assert refused.status_code == 400
        assert "redirect" in refused.text.lower()
    with acme.active():
        assert AuthorizationCode.objects.get().consumed_at is None


def test_attack_AW07_only_the_callback_knows_the_verifier(acme, trial):
    client, user = acme.application(), acme.user()
    place = trial.begin(client)
    landed = trial.sign_in(place, user)

    assert query_of(landed).keys() == {"code", "state", "iss"}
    assert query_of(landed)["iss"] == acme.issuer
    assert landed.startswith(callback_of(client))
    with acme.active():
        assert "verifier" not in str(AuthorizationRequest.objects.values_list("query", flat=True))
    (row,) = ShownOnce.objects.filter(page__contains=str(client.application.pk))
    assert query_of(landed)["state"].partition(".")[2] not in row.sealed_content


@pytest.mark.parametrize("registered", [False, True])
def test_attack_AW07_a_trial_redeems_no_code_of_a_real_sign_in(acme, trial, registered):
    victim = acme.user()
    client = acme.application()
    uris = [callback_of(client)] if registered else client.application.redirect_uris
    with acme.active():
        Application.objects.filter(pk=client.application.pk).update(redirect_uris=uris)
    code = acme.browser().code_for(client, victim, redirect_uri=uris[0])
    answer = query_of(trial.sign_in(trial.begin(client), acme.user()))

    page = trial.read(trial.operator.get(page_of(client), params=answer | {"code": code}))

    assert "(invalid_grant)" in page
    assert str(victim.pk) not in page
    redeemed = client.redeem(code, redirect_uri=uris[0])
    assert redeemed.status_code == 200, "the code of the victim is not used up"


def test_attack_AW07_no_other_session_administrator_tenant_or_application_finishes_it(acme, rival, trial):
    client, other, user = acme.application(), acme.application(), acme.user()
    answer = query_of(trial.sign_in(trial.begin(client), user))
    colleague = operator_of(acme)
    same_person = Operator(trial.operator.who)
    same_person.sign_in()
    same_person.choose(acme)
    stranger = operator_of(rival)

    assert is_refused(colleague.get(page_of(client), params=answer))
    assert is_refused(same_person.get(page_of(client), params=answer))
    assert is_refused(trial.operator.get(page_of(other), params=answer))
    assert stranger.get(page_of(client)).status_code == 404
    assert stranger.get(page_of(client), params=answer).status_code == 404
    nobody = acme.browser().get(f"{settings.BASE_URL}{page_of(client)}?{urlencode(answer)}")
    assert nobody.status_code == 302
    assert "/admin/login/" in nobody.headers["Location"]
    trial.operator.choose(rival)
    assert trial.operator.get(page_of(client), params=answer).status_code == 404
    trial.operator.choose(acme)
    done = trial.operator.get(page_of(client), params=answer)
    assert done.status_code == 302
    assert colleague.get(done.headers["Location"]).status_code == 410
    assert same_person.get(done.headers["Location"]).status_code == 410


def test_attack_AW07_an_answer_is_used_once(acme, trial):
    client, user = acme.application(), acme.user()
    answer = query_of(trial.sign_in(trial.begin(client), user))
    first = trial.operator.get(page_of(client), params=answer)

    second = trial.operator.get(page_of(client), params=answer)
    later = trial.begin(client)
    mixed = query_of(trial.sign_in(later, user)) | {"code": answer["code"]}

    assert first.status_code == 302
    assert is_refused(second)
    assert "(invalid_grant)" in trial.read(trial.operator.get(page_of(client), params=mixed))
    issued = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange", payload__is_test=True)
    assert issued.count() == 1


def test_attack_AW07_a_wrong_state_or_issuer_ends_the_trial(acme, trial):
    client, user = acme.application(), acme.user()
    answer = query_of(trial.sign_in(trial.begin(client), user))

    wrong = answer | {"state": answer["state"][:-3] + "xxx"}
    assert is_refused(trial.operator.get(page_of(client), params=wrong))
    assert is_refused(trial.operator.get(page_of(client), params=answer))
    answer = query_of(trial.sign_in(trial.begin(client), user)) | {"iss": "https://evil.example"}
    assert "the issuer of the answer" in trial.read(trial.operator.get(page_of(client), params=answer))


def test_attack_AW07_a_trial_expires(acme, trial):
    client, user = acme.application(), acme.user()
    answer = query_of(trial.sign_in(trial.begin(client), user))
    ShownOnce.objects.filter(administrator=str(trial.operator.who.pk)).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )

    assert is_refused(trial.operator.get(page_of(client), params=answer))
    trial.begin(client)
    with acme.active():
        pending = AuthorizationRequest.objects.get()
        left = pending.expires_at - timezone.now()
        assert timedelta(minutes=9) < left <= timedelta(minutes=10, seconds=5)
        AuthorizationRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert trial.browser.get(f"/oidc/authorize/{pending.pk}").status_code == 400


def test_attack_AW07_nobody_can_ask_for_a_trial_at_the_public_endpoint(acme, trial):
    client = acme.application()
    real = client.request(redirect_uri=callback_of(client))
    for further in ({}, {"is_test": "true"}, {"is_test": "1", "prompt": "login"}):
        answer = acme.browser().get("/oidc/authorize", params=real | further)
        assert answer.status_code == 400
        assert "Location" not in answer.headers
    ordinary = acme.browser()
    ordinary.authorize(client, is_test="true")

    with acme.active():
        assert not AuthorizationRequest.objects.get().is_test


def test_attack_AW07_the_pending_request_belongs_to_the_administrators_browser(acme, trial):
    client, user = acme.application(), acme.user()
    interaction = query_of(trial.begin(client))["interaction"]
    elsewhere = acme.browser()
    assert elsewhere.authorize(client).status_code == 303  # it has a browser cookie

    assert elsewhere.get(f"/oidc/authorize/{interaction}").status_code == 400
    assert elsewhere.sign_in(user, interaction=interaction).status_code == 400


def test_attack_AW07_a_pending_trial_names_no_other_redirect_uri(acme, trial):
    client, other = acme.application(), acme.application()
    interaction = query_of(trial.begin(client))["interaction"]
    for uri in (callback_of(other), "https://rp.example/callback", f"{callback_of(client)}?x=1"):
        query = urlencode(client.request(redirect_uri=uri))
        with acme.active():
            AuthorizationRequest.objects.filter(pk=interaction).update(query=query)
        answer = trial.browser.get(f"/oidc/authorize/{interaction}")
        assert answer.status_code == 400, uri
        assert "Location" not in answer.headers


def test_attack_AW07_whatever_comes_back_is_never_an_error_of_ours(acme, trial):
    client = acme.application()
    page = page_of(client)
    made_up = ("x", ".", "..", f"{client.application.pk}.x", f"{client.application.pk}.é", "y" * 999, "a.b.c")
    for state in made_up:
        answer = trial.operator.get(page, params={"state": state, "code": "x", "iss": acme.issuer})
        assert answer.status_code == 400, state
    for query in ("?shown=x", f"?shown={client.application.pk}"):
        assert trial.operator.get(page + query).status_code == 410
    for further in ({"code": "x"}, {"code": "é" * 150}, {"error": "nonsense"}, {}):
        landed = query_of(trial.sign_in(trial.begin(client), acme.user()))
        sent = {"state": landed["state"], "iss": landed["iss"]} | further
        assert "would get an error" in trial.read(trial.operator.get(page, params=sent)), further
    for typed in ({"organization_id": "é"}, {"scope": "openid " + "x " * 900}, {"resource": "%00"}):
        assert trial.press(client, **typed).status_code in {303, 400}, typed


def test_attack_AW07_a_code_that_expired_is_refused(acme, trial):
    client, user = acme.application(), acme.user()
    landed = trial.sign_in(trial.begin(client), user)
    with acme.active():
        AuthorizationCode.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert "(invalid_grant)" in trial.read(trial.operator.get(landed))
