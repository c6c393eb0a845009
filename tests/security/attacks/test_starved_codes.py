"""AV28, AV29, AV37: codes that others ask for use up those of the owner, and the texts of a tenant."""

import httpx
import pytest

from identity.limits.models import Counter
from identity.users import services as users
from identity.users.models import User
from tests.support import codes
from tests.support.cast import Browser, World
from tests.support.codes import new_email, new_phone
from tests.support.factors import SEND, half, has_session, switch_on

OWNER, THIEF = "198.51.100.1", "192.0.2.1"
CODES, OF_BROWSER, TEXTS = 4, 3, 8
SERVER = {
    "LIMIT_IDENTIFIER_CODES": str(CODES),
    "LIMIT_NETWORK_CODES": str(OF_BROWSER),
    "LIMIT_TENANT_TEXT_MESSAGES": str(TEXTS),
}
STRANGERS = TEXTS * 3 // 4
EMAIL, PHONE = "EmailVerificationCode", "PhoneVerificationCode"


def send(browser: Browser, to: str, ip: str, purpose: str = "sign_in") -> httpx.Response:
    return browser.post(codes.SEND, json=codes.about(to, purpose), headers={"X-Forwarded-For": ip})


def send_factor(browser: Browser, factor: str, ip: str) -> httpx.Response:
    return browser.post(SEND, json={"type": factor}, headers={"X-Forwarded-For": ip})


def use_up(world: World, to: str) -> None:
    """Ask for codes to one identifier from many networks, until there are no more."""
    statuses = [send(world.browser(), to, f"203.0.113.{number}").status_code for number in range(CODES + 1)]
    assert statuses == [200] * CODES + [400]


def ask_for_the_factor(world: World, user: User) -> None:
    """Let sign-ins of a user need a code that is sent."""
    switch_on(world, "Totp", EMAIL, PHONE)
    with world.active():
        User.objects.filter(pk=user.pk).update(two_step=True)


def known_browser(world: World, user: User) -> Browser:
    browser = world.browser()
    assert has_session(browser.sign_in(user))
    return browser


class TestCodesOfOneIdentifier:
    @pytest.fixture(params=["email", "phone"])
    def kind(self, request):
        return request.param

    @pytest.fixture
    def to(self, kind):
        return new_email() if kind == "email" else new_phone()

    @pytest.fixture
    def user(self, world, kind, to):
        return world.user(**{kind: to, f"{kind}_verified": True})

    @pytest.fixture
    def factor(self, kind):
        return EMAIL if kind == "email" else PHONE

    def test_attack_AV28_the_second_step_of_the_owner_in_a_new_browser(self, world, user, to, factor):
        ask_for_the_factor(world, user)
        use_up(world, to)
        owner = world.browser()
        half(owner, user)

        assert send_factor(owner, factor, OWNER).status_code == 200

    def test_attack_AV28_a_thief_of_the_password_uses_up_the_second_steps(self, world, user, to, factor):
        owner = known_browser(world, user)
        ask_for_the_factor(world, user)
        thief = world.browser()
        half(thief, user)
        networks = [f"203.0.113.{number}" for number in range(CODES)]
        assert [send_factor(thief, factor, ip).status_code for ip in networks] == [200] * CODES
        assert send_factor(thief, factor, THIEF).status_code == 400
        half(owner, user)

        assert send_factor(owner, factor, OWNER).status_code == 200

    def test_attack_AV28_the_confirmation_of_a_change(self, world, user, to, factor):
        owner = known_browser(world, user)
        ask_for_the_factor(world, user)
        use_up(world, to)

        assert send_factor(owner, factor, OWNER).status_code == 200

    def test_attack_AV28_the_confirmation_by_the_page(self, world, user, to, factor):
        owner = known_browser(world, user)
        ask_for_the_factor(world, user)
        use_up(world, to)
        owner.get("/account")
        fields = {"csrfmiddlewaretoken": owner.http.cookies["gatehouse-csrf"]}

        page = owner.post("/confirm", data=fields | {"with": factor, "send": ""})

        assert "Retry-After" not in page.headers
        assert codes.message_to(to, number=CODES + 1)["code"]

    @pytest.mark.parametrize("purpose", ["sign_in", "forgot_password"])
    def test_attack_AV28_a_browser_that_knows_the_user_but_not_the_new_address(
        self, world, user, kind, purpose
    ):
        owner = known_browser(world, user)
        new = new_email() if kind == "email" else new_phone()
        with world.active():
            users.change(user, {kind: new, f"{kind}_verified": True}, is_proven=True)
        use_up(world, new)

        assert send(owner, new, OWNER, purpose).status_code == 200
        assert send(world.browser(), new, OWNER, purpose).status_code == 400

    def test_attack_AV28_a_stranger_at_the_network_of_the_owner(self, world, user, to, factor):
        owner = known_browser(world, user)
        assert send(world.browser(), to, OWNER).status_code == 200
        assert send(world.browser(), to, OWNER).status_code == 400

        assert send(owner, to, OWNER).status_code == 200

    def test_attack_AV28_known_browsers_have_a_limit_of_their_own(self, world, user, to, factor):
        owner = known_browser(world, user)
        ask_for_the_factor(world, user)
        half(owner, user)
        statuses = [send_factor(owner, factor, f"203.0.113.{n}").status_code for n in range(OF_BROWSER + 1)]

        assert statuses == [200] * OF_BROWSER + [400]

    @pytest.mark.parametrize("purpose", ["sign_in", "second_factor"])
    def test_attack_AV37_one_user_makes_many_known_browsers(self, world, user, to, factor, purpose):
        browsers = [known_browser(world, user) for _ in range(CODES + 1)]
        ask_for_the_factor(world, user)

        def ask(number: int) -> int:
            ip = f"203.0.113.{number}"
            if purpose == "second_factor":
                return send_factor(browsers[number], factor, ip).status_code
            return send(browsers[number], to, ip).status_code

        assert [ask(number) for number in range(CODES + 1)] == [200] * CODES + [400]
        stranger = send(world.browser(), to, THIEF)
        assert stranger.status_code == 200


class TestTextMessagesOfATenant:
    def use_up_those_of_strangers(self, world: World) -> None:
        statuses = [
            send(world.browser(), new_phone(), f"203.0.113.{number}").status_code
            for number in range(STRANGERS + 2)
        ]
        assert statuses == [200] * STRANGERS + [429] * 2

    def test_attack_AV29_second_steps_have_the_rest(self, world):
        to = new_phone()
        user = world.user(phone=to, phone_verified=True)
        ask_for_the_factor(world, user)
        owner = world.browser()
        half(owner, user)
        self.use_up_those_of_strangers(world)

        networks = [f"198.51.100.{number}" for number in range(TEXTS - STRANGERS + 1)]
        statuses = [send_factor(owner, PHONE, ip).status_code for ip in networks]

        assert statuses == [200] * (TEXTS - STRANGERS) + [429]

    def test_attack_AV29_so_have_known_browsers(self, world):
        to = new_phone()
        owner = known_browser(world, world.user(phone=to, phone_verified=True))
        self.use_up_those_of_strangers(world)

        assert send(owner, to, OWNER).status_code == 200
        assert send(world.browser(), to, THIEF).status_code == 429

    def test_attack_AV37_one_user_leaves_some_to_other_known_browsers(self, world):
        to, of_other = new_phone(), new_phone()
        user = world.user(phone=to, phone_verified=True)
        other = known_browser(world, world.user(phone=of_other, phone_verified=True))
        for number in range(TEXTS):
            send(known_browser(world, user), to, f"203.0.113.{number}")

        assert send(other, of_other, OWNER).status_code == 200

    @pytest.mark.parametrize("purpose", ["sign_in", "forgot_password", "register"])
    def test_attack_AV29_strangers_do_not_for_any_purpose(self, world, purpose):
        codes.experience(world, sign_up={"identifiers": ["phone"], "verify": True})
        self.use_up_those_of_strangers(world)

        assert send(world.browser(), new_phone(), THIEF, purpose).status_code == 429

    def test_attack_AV29_the_window_is_that_of_the_tenant(self, world):
        self.use_up_those_of_strangers(world)

        with world.active():
            assert Counter.objects.get(kind="text messages").count == STRANGERS
