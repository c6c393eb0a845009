"""AS04: what a thief added to an account still signs in after its owner or an administrator recovered it."""

import httpx
import pytest

from identity.factors.models import Passkey
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from tests.support import codes, management, openid, operators, passkeys, social
from tests.support.admin_pages import operate
from tests.support.cast import World

NEW = "c0rrect horse battery"
OTHERS = "remove_linked_accounts_and_passkeys"


@pytest.fixture
def email() -> str:
    return codes.new_email()


@pytest.fixture
def user(acme: World, email: str) -> User:
    """A user with a linked account, as far as a thief may have linked it."""
    codes.reachable(acme)
    connector = social.connect(acme, openid.CLIENT, "github")
    user = social.with_proven_email(acme, email)
    profile = Profile(
        provider="https://github.com", subject="1", email="thief@example.com", name="Call 0900 1234"
    )
    with acme.active():
        identities.link(user, profile, connector, "Elsewhere")
        user.refresh_from_db()
    return user


def add_passkey(world: World, user: User) -> None:
    passkeys.switch_on(world)
    passkeys.enrol(world, user, passkeys.device())


def remaining(world: World, user: User) -> tuple[int, int]:
    with world.active():
        return (
            SocialIdentity.objects.filter(user=user).count(),
            Passkey.objects.filter(user=user).count(),
        )


def set_by_api(world: World, user: User, **fields: bool) -> httpx.Response:
    return management.superuser(world).patch(f"/users/{user.pk}/password", password=NEW, **fields)


def test_attack_AS04_who_resets_the_password_is_not_told_what_still_signs_in(acme, user, email):
    browser = acme.browser()
    codes.proven(browser, email, "forgot_password")

    browser.post(codes.RESET, json={"identifier": email, "new_password": NEW})

    message = codes.message_to(email, number=2)
    assert "Elsewhere (thief@example.com)" in message["body"]
    assert f"{acme.issuer}/account" in message["body"]
    assert "0900" not in message["body"]


def test_a_former_address_is_told_of_none(acme, user, email):
    """It may have been the thief's."""
    with acme.active():
        users.change(user, {"email": codes.new_email()}, proven=Kind.EMAIL, is_proven=True)

    set_by_api(acme, user)

    for address, is_told in ((email, False), (user.email, True)):
        assert ("Elsewhere" in codes.message_about(address, "Your password")["body"]) is is_told


def test_nor_of_passkeys_and_a_template_has_placeholders(acme, user, email):
    add_passkey(acme, user)
    template = {
        "purpose": "notice_password_changed",
        "channel": "email",
        "language": "",
        "subject": "New password",
        "text": "Still: {remaining}. See {account}",
    }
    changed = management.superuser(acme).patch("/sign-in-experience", message_templates=[template])
    assert changed.status_code == 200, changed.text

    set_by_api(acme, user)

    body = codes.message_about(email, "New password")["body"]
    assert body.startswith("Still: Elsewhere (thief@example.com), a passkey created on ")
    assert body.endswith(f". See {acme.issuer}/account")


def test_a_user_without_any_is_told_of_none(acme):
    codes.reachable(acme)
    email = codes.new_email()

    set_by_api(acme, social.with_proven_email(acme, email))

    assert "account page" not in codes.message_to(email)["body"]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("by", ["api", "site"])
def test_an_administrator_who_sets_a_password_can_remove_the_other_ways(acme, user, email, removes, by):
    add_passkey(acme, user)
    assert remaining(acme, user) == (1, 1)

    if by == "api":
        done = set_by_api(acme, user, **({OTHERS: True} if removes else {}))
    else:
        typed = {"password": NEW} | ({OTHERS: "on"} if removes else {})
        done = operate(operators.at(acme), "users/user", user, "password", **typed)

    assert done.status_code == (200 if by == "api" else 303), done.text
    assert remaining(acme, user) == ((0, 0) if removes else (1, 1))
    assert ("Elsewhere" in codes.message_about(email, "Your password")["body"]) is not removes


def test_ways_are_not_removed_if_no_other_way_works(acme, user):
    codes.experience(acme, sign_in={"methods": []})
    with acme.active():
        before = User.objects.values_list("password", flat=True).get(pk=user.pk)

    refused = set_by_api(acme, user, **{OTHERS: True})

    assert refused.status_code == 400
    assert remaining(acme, user) == (1, 0)
    with acme.active():
        assert User.objects.values_list("password", flat=True).get(pk=user.pk) == before


@pytest.mark.parametrize("value", ["true", 1, None])
def test_only_a_boolean_removes_them(acme, user, value):
    assert set_by_api(acme, user, **{OTHERS: value}).status_code == 400
    assert remaining(acme, user) == (1, 0)
