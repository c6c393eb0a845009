"""Someone had a mailbox for a minute. What they proved then is worth nothing after a new password."""

import pytest

from identity.users import assigned_passwords
from tests.support import codes
from tests.support.cast import World
from tests.support.codes import new_email

ATTACKERS, OWNERS = "Attack3rpass!", "0wners password"


@pytest.fixture
def tenant(acme: World) -> World:
    return codes.reachable(acme)


def choose(browser, email, password):
    return browser.post(codes.RESET, json={"identifier": email, "new_password": password})


@pytest.mark.parametrize("owner", ["another browser", "the same browser"])
def test_attack_a_second_proof_sets_a_password_after_the_owner_set_one(tenant, owner):
    email = new_email()
    tenant.user(email=email)
    attacker = tenant.browser()
    codes.proven(attacker, email, "forgot_password")
    codes.let_time_pass(tenant)
    theirs = attacker if owner == "the same browser" else tenant.browser()
    code = codes.sent(theirs, email, "forgot_password", number=2)
    assert codes.enter(theirs, email, code, "forgot_password").status_code == 200

    assert choose(theirs, email, OWNERS).status_code == 200
    stolen = choose(attacker, email, ATTACKERS)

    assert stolen.status_code == 400
    signed_in = {"identifier": email, "password": OWNERS}
    assert tenant.browser().post("/api/interaction/sign-in", json=signed_in).status_code == 200


@pytest.mark.parametrize("change", ["by a code", "by an administrator"])
def test_attack_a_code_of_before_signs_in_after_the_password_changed(tenant, change):
    email = new_email()
    user = tenant.user(email=email)
    attacker, owner = tenant.browser(), tenant.browser()
    code = codes.sent(attacker, email)

    if change == "by a code":
        codes.let_time_pass(tenant)
        recovery = codes.sent(owner, email, "forgot_password", number=2)
        assert codes.enter(owner, email, recovery, "forgot_password").status_code == 200
        assert choose(owner, email, OWNERS).status_code == 200
    else:
        with tenant.active():
            assigned_passwords.set_password(user, OWNERS, is_proven=True)

    assert codes.enter(attacker, email, code).status_code == 400
