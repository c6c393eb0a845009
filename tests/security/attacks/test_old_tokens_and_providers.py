"""An old token or session of an administrator, while sign-ins with a social connector skip factors (AP47)."""

from typing import Any

import pytest

from interaction.connectors.models import Connector
from tests.support import management, operators
from tests.support.admin_pages import operate
from tests.support.factors import switch_on
from tests.support.management import result_of
from tests.support.old_tokens import is_refused, new_recent, new_thief
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

CONFIG = {
    "authorization_endpoint": "https://idp.example/authorize",
    "token_endpoint": "https://idp.example/token",
    "userinfo_endpoint": "https://idp.example/me",
    "client_id": "acme",
    "client_secret": "a secret of acme",
    "display_name": "IdP",
}
OF_NAMES = CONFIG | {"client_secret": "***", "id_member": "name"}
SENT: dict[str, Any] = {"connector_id": "oauth2", "type": "Social", "config": CONFIG}


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def path(admin):
    return f"/connectors/{admin.created('/connectors', **SENT)['id']}"


def test_attack_AP47_an_old_token_does_not_choose_whom_the_provider_signs_in(acme, admin, path):
    switch_on(acme, "Totp", social="skip")
    before = result_of(admin.get(path))
    thief = new_thief(acme)

    assert is_refused(thief.patch(path, config=OF_NAMES))
    assert is_refused(thief.patch(path, enabled=True))
    assert is_refused(thief.post("/connectors", **SENT | {"enabled": True}))
    assert result_of(admin.get(path)) == before
    assert len(result_of(admin.get("/connectors"))["data"]) == 1

    for caller in (new_recent(acme), management.machine(acme)):
        result_of(caller.patch(path, config=OF_NAMES, enabled=True))
        result_of(caller.patch(path, config=CONFIG))


def test_attack_AP47_it_may_end_sign_ins_with_the_provider(acme, admin, path):
    switch_on(acme, "Totp", social="skip")
    result_of(admin.patch(path, enabled=True))
    thief = new_thief(acme)

    result_of(thief.patch(path, enabled=False))
    result_of(thief.delete(path))


@pytest.mark.parametrize(("factors", "social"), [(["Totp"], "ask"), ([], "skip")])
def test_attack_AP47_where_the_provider_replaces_no_factor_it_needs_no_proof(acme, path, factors, social):
    switch_on(acme, "Totp", social=social)
    if not factors:
        switch_off = {"factors": [], "social": social}
        result_of(management.superuser(acme).patch("/sign-in-experience", mfa=switch_off))
    thief = new_thief(acme)

    result_of(thief.patch(path, config=OF_NAMES, enabled=True))
    result_of(thief.post("/connectors", **SENT))


@pytest.fixture
def operator(acme):
    return operators.at(acme)


@pytest.mark.parametrize("name", ["change", "enable"])
def test_attack_AP47_an_unattended_session_does_not_choose_it_either(acme, operator, path, name):
    page = f"/admin/connectors/connector/{path.rpartition('/')[2]}/do/{name}/"
    age(operator)
    shown = operator.get(page)
    typed = hidden_fields(shown) | OF_NAMES | {"client_secret": ""}
    switch_on(acme, "Totp", social="skip")

    sent = operator.http.post(page, data=typed)

    assert shown.status_code == 200
    for answer in (operator.get(page), sent):
        assert answer.headers["Location"].startswith("/admin/confirm/")
    with acme.active():
        [connector] = Connector.objects.all()
        assert (connector.config().get("id_member"), connector.enabled) == (None, False)


def test_a_recent_proof_of_the_session_is_enough(acme, operator, path):
    switch_on(acme, "Totp", social="skip")
    with acme.active():
        connector = Connector.objects.get()

    done = operate(operator, "connectors/connector", connector, "change", **OF_NAMES | {"client_secret": ""})

    assert done.status_code == 303
    with acme.active():
        assert Connector.objects.get().config()["id_member"] == "name"
