"""What second factors cost a sign-in in statements, exactly: reads, then writes."""

from typing import Any

from interaction.experience import services as experiences
from tests.support import factors, passkeys
from tests.support.cast import PASSWORD, World, query_of
from tests.support.statement_costs import Inside, chained, cost

# The experience and the user; the attempt, and then the user, the attempt again, the session and the audit
# entry.
WITHOUT = (2, 1 + chained(4))
OFF: dict[str, Any] = {"account": {"sign_in_notice": False}}
RULES = {"enabled": True, "new_browser": False}


def change(world: World, *factor_types: str, **settings: Any) -> None:
    with world.active():
        experiences.change({"mfa": {"factors": list(factor_types)}} | settings, is_proven=True)


def opened(world: World) -> Inside:
    """A new browser, of a tenant that the worker knows."""
    Inside(world).get("/.well-known/openid-configuration")
    return Inside(world)


def price(inside: Inside, user: Any) -> tuple[int, int]:
    body = {"identifier": user.username, "password": PASSWORD}
    return cost(lambda: inside.send("/api/interaction/sign-in", body))


def begin_at_an_application(world: World, user: Any, inside: Inside) -> str:
    """Prove the password of a user, as an application asks, and return the id of its request."""
    asked = inside.get("/oidc/authorize", data=world.application().request())
    interaction = query_of(asked.headers["Location"])["interaction"]
    body = {"identifier": user.username, "password": PASSWORD, "interaction": interaction}
    inside.send("/api/interaction/sign-in", body)
    return interaction


def test_decision_M13_a_tenant_that_switches_nothing_on_pays_nothing(acme):
    assert price(opened(acme), acme.user()) == WITHOUT


def test_decision_M13_a_user_without_factors_pays_nothing_where_no_policy_asks(acme):
    change(acme, "Totp", "WebAuthn", "BackupCode", **OFF)

    assert price(opened(acme), acme.user()) == WITHOUT


def test_decision_M36_rules_that_are_off_cost_a_user_with_a_factor_nothing(acme):
    change(acme, "Totp", adaptive_mfa=RULES | {"enabled": False}, **OFF)
    user = acme.user()
    factors.enrol(acme, user, two_step=False)

    assert price(opened(acme), user) == WITHOUT


def test_decision_M36_rules_cost_a_user_with_a_factor_one_read_and_the_browser(acme):
    change(acme, "Totp", adaptive_mfa=RULES, **OFF)
    user = acme.user()
    factors.enrol(acme, user, two_step=False)

    # The failed sign-ins of a day; the new browser, and the deletion of those that are too many.
    assert price(opened(acme), user) == (WITHOUT[0] + 1, 1 + chained(6))


def test_decision_M36_a_browser_costs_two_statements_in_the_chain(acme):
    change(acme, "Totp")
    user, inside = acme.user(), opened(acme)
    new = price(inside, user)
    for name in [name for name in inside.http.cookies if "session" in name]:
        del inside.http.cookies[name]

    known = price(inside, user)

    assert new == (WITHOUT[0], 1 + chained(6))
    # The known browser. The pending request of the secret that the first sign-in gave the browser is read
    # with the sign-in experience.
    assert known == (WITHOUT[0] + 1, 1 + chained(5))


def test_decision_M13_M64_a_second_step_costs_one_read_the_attempt_and_one_transaction(acme):
    change(acme, "Totp", **OFF)
    user, inside = acme.user(), opened(acme)
    app = factors.enrol(acme, user)
    first = price(inside, user)

    second = cost(lambda: inside.send(factors.TOTP, {"code": app.code()}))

    # The attempts are counted twice, and what waits replaces the session.
    assert first == (3, 5)
    # What waits, with the experience and the authenticators; the attempt, and then the user, what waits, the
    # attempt again, the code, the session and the audit entry.
    assert second == (1, 1 + chained(6))


def test_decision_M13_M64_nor_does_the_request_of_an_application_cost_a_read(acme):
    change(acme, "Totp", **OFF)
    user, inside = acme.user(), opened(acme)
    app = factors.enrol(acme, user)
    interaction = begin_at_an_application(acme, user, inside)

    next_step = cost(lambda: inside.get(factors.NEXT, data={"interaction": interaction}))
    second = cost(lambda: inside.send(factors.TOTP, {"code": app.code(), "interaction": interaction}))

    assert next_step == (1, 0)
    assert second == (1, 1 + chained(7))


def test_decision_M49_M64_the_next_step_costs_one_read(acme):
    change(acme, "Totp", "BackupCode", **OFF)
    user, inside = acme.user(), opened(acme)
    factors.enrol(acme, user)
    price(inside, user)

    assert cost(lambda: inside.get(factors.NEXT)) == (1, 0)


def test_decision_M13_a_passkey_costs_no_read_more_than_it_needs(acme):
    passkeys.switch_on(acme, "WebAuthn")
    change(acme, "WebAuthn", **OFF)
    user, inside, device = acme.user(), opened(acme), passkeys.device()
    passkeys.enrol(acme, user, device)
    asked = inside.send(passkeys.OPTIONS, {"ceremony": "sign_in"}).json()["result"]["public_key"]

    found = cost(
        lambda: inside.send(passkeys.VERIFY, {"ceremony": "sign_in", "credential": device.get(asked)})
    )

    # The address, and then the user, the challenge, the passkey, the session and the audit entry.
    assert found == (4, 1 + chained(5))


def test_decision_M64_the_pages_of_a_second_step_cost_no_read_more(acme):
    change(acme, "Totp", **OFF)
    user, inside = acme.user(), opened(acme)
    app = factors.enrol(acme, user)
    interaction = begin_at_an_application(acme, user, inside)
    form = {"with": "Totp", "interaction": interaction}

    page = cost(lambda: inside.get("/sign-in/second-factor", data=form))
    done = cost(lambda: inside.post("/sign-in/second-factor", form | {"code": app.code()}), 303)

    assert page == (1, 0)
    assert done == (1, 1 + chained(7))


def test_decision_M64_the_page_that_sets_a_factor_up_costs_one_read(acme):
    change(acme, mfa={"factors": ["Totp"], "policy": "Mandatory"}, **OFF)
    user, inside = acme.user(), opened(acme)
    price(inside, user)

    assert cost(lambda: inside.get("/sign-in/set-up")) == (1, 0)
