"""The card at the top of a user's page: why the user cannot sign in, and what fixes it."""

import html
import re
from contextlib import suppress

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import context, log
from audit.events import Event
from identity.limits.models import Counter
from identity.users import credentials, sign_in_ways, typed_identifiers
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.experience import services as experiences
from interaction.social.models import SocialIdentity
from management.administrators.models import Administrator
from tests.support import cast, codes, factors, operators, passkeys
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.codes import new_email
from tests.support.locks import lock_all
from tests.support.operators import Operator, administrator, text_of

SIGN_IN = "/api/interaction/sign-in"


@pytest.fixture(scope="module")
def world(address):
    """A tenant that sends emails, but no text messages."""
    world = cast.new_world("Acme")
    codes.reachable(world)
    with world.active():
        experiences.change({"sign_in": {"methods": METHODS}}, is_proven=True)
    return world


CONFIG = {"client_id": "x", "client_secret": "y"}
NOT_ALLOWED = "The sign-in experience does not allow it."
METHODS = [
    {"identifier": "username", "password": True, "verification_code": False},
    {"identifier": "email", "password": False, "verification_code": True},
    {"identifier": "phone", "password": True, "verification_code": False},
]


@pytest.fixture(scope="module")
def operator(world):
    with httpx.Client(base_url=settings.BASE_URL) as http:
        operator = Operator(administrator(), http=http)
        operator.sign_in()
        yield operator.choose(world)


def attempt(world, identifier, password="wrong"):
    return world.post(SIGN_IN, json={"identifier": identifier, "password": password})


def card_of(operator, user):
    page = text_of(operator.get(f"/admin/users/user/{user.pk}/change/"))
    return page[page.index('aria-labelledby="health"') :].partition("</section>")[0]


def states_of(card):
    """Return the states with their details and buttons, as one line of text each."""
    return [
        " ".join(html.unescape(re.sub(r"<[^>]+>", " ", state)).split())
        for state in re.findall(r"<li .*?</li>", card, re.DOTALL)
    ]


def attempts_of(card):
    """Return the cells of each row of the table, without the time."""
    rows = re.findall(r"<tr>(<td.*?)</tr>", card, re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return [[html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row[1:]] for row in cells]


class TestStates:
    def test_a_user_who_can_sign_in(self, world, operator):
        user = world.user(email=new_email(), email_verified=True)

        assert states_of(card_of(operator, user)) == [
            "Can sign in Username and password, Code by email.",
            f"Email and password: does not work {NOT_ALLOWED} Show sign-in experience",
        ]

    def test_codes_of_a_development_start_without_a_connector_are_in_the_outbox(self, acme, monkeypatch):
        user = acme.user(email=new_email(), email_verified=True)
        with acme.active():
            experiences.change({"sign_in": {"methods": METHODS}}, is_proven=True)
            monkeypatch.setattr(settings, "DEVELOPMENT", True)
            ways = [way.name for way in sign_in_ways.get_ways(user) if not way.problem]
            codes.reachable(acme)
            with_connector = [way.name for way in sign_in_ways.get_ways(user) if not way.problem]

        assert ways == ["Username and password", "Code by email, in the outbox folder"]
        assert with_connector == ["Username and password", "Code by email"]

    def test_a_passkey_is_a_way_to_sign_in(self, world, operator):
        user = world.user()
        passkeys.enrol(world, user, passkeys.device())

        with_others = states_of(card_of(operator, user))
        with world.active():
            experiences.change({"passkey_sign_in": {"enabled": True}}, is_proven=True)
            User.objects.filter(pk=user.pk).update(password="")
        alone = states_of(card_of(operator, user))
        with world.active():
            experiences.change({"passkey_sign_in": {"enabled": False}}, is_proven=True)

        assert with_others[1] == f"Passkey: does not work {NOT_ALLOWED} Show sign-in experience"
        assert alone[0] == "Can sign in Passkey."

    def test_is_the_first_on_the_page(self, world, operator):
        page = text_of(operator.get(f"/admin/users/user/{world.user().pk}/change/"))

        assert page.index("Sign-in health") < page.index("field-username") < page.index("Live sessions")

    def test_a_locked_user_is_unlocked_in_three_clicks(self, world, operator):
        user = world.user()
        attempt(world, user.username)
        lock_all(world)

        card = card_of(operator, user)
        (href,) = re.findall(r'href="([^"]+)">Unlock user<', card)
        operator.submit(href)

        assert re.fullmatch(
            r"Locked for 127\.0\.0\.1 until \d\d:\d\d UTC After too many wrong passwords\. Unlock user",
            states_of(card)[0],
        )
        assert states_of(card_of(operator, user)) == ["Can sign in Username and password."]
        assert attempt(world, user.username, PASSWORD).status_code == 200

    def test_a_lock_of_all_networks_and_one_of_a_network_that_is_not_in_the_log(self, world, operator):
        user = world.user(email=new_email(), email_verified=True)
        attempt(world, user.username)
        lock_all(world, "identifier")
        assert states_of(card_of(operator, user))[0].startswith(
            "Locked for all networks and unknown browsers until"
        )

        with world.active():
            newest = Counter.objects.filter(kind="identifier").order_by("-created_at")[0]
            Counter.objects.filter(pk=newest.pk).update(key_hash="of a browser")
        states = states_of(card_of(operator, user))

        assert states[0].startswith("Locked for another network or browser until")
        assert states[1] == "Still works Code by email."

    def test_a_suspended_user_says_since_when_and_by_whom(self, world, operator):
        user = world.user()
        operate(operator, "users/user", user, "suspend")

        card = card_of(operator, user)
        states = states_of(card)
        (href,) = re.findall(r'href="([^"]+)">Reactivate user<', card)
        operator.submit(href)

        by = f"by administrator {operator.who.username}"
        assert len(states) == 1
        assert re.fullmatch(rf"Suspended Since [-0-9]+ [:0-9]+ UTC, {by}\. Reactivate user", states[0])
        assert href == f"/admin/users/user/{user.pk}/do/reactivate/"
        assert states_of(card_of(operator, user)) == ["Can sign in Username and password."]

    def test_a_user_without_a_password_or_any_way(self, world, operator):
        user = world.user()
        with world.active():
            User.objects.filter(pk=user.pk).update(password="")

        assert states_of(card_of(operator, user)) == [
            "No way to sign in",
            "Username and password: does not work The user has no password. Set password",
        ]

    def test_an_email_whose_codes_do_not_sign_in(self, world, operator):
        user = world.user(email=new_email(), phone=codes.new_phone(), phone_verified=True)
        with world.active():
            User.objects.filter(pk=user.pk).update(email_proven=False)

        states = states_of(card_of(operator, user))

        assert "Code by email: does not work The email is not verified. Verify addresses" in states

    def test_support_gets_the_buttons_of_its_role_alone(self, world):
        user = world.user()
        with world.active():
            User.objects.filter(pk=user.pk).update(password="")
        attempt(world, user.username)
        lock_all(world)
        support = Operator(administrator(role="support", tenants=[world.tenant.slug]))
        support.sign_in()

        states = states_of(card_of(support.choose(world), user))

        assert states[0].endswith("Unlock user")
        assert states[-1] == "Username and password: does not work The user has no password."


class TestAttempts:
    def test_shows_each_with_its_way_result_reason_address_and_application(self, world, operator):
        user, client = world.user(email=new_email(), email_verified=True), world.application(name="Shop")
        attempt(world, user.username)
        attempt(world, user.email, PASSWORD)
        world.browser().code_for(client, user)
        browser = world.browser()
        codes.enter(browser, user.email, codes.other_than(codes.sent(browser, user.email)))

        attempts = attempts_of(card_of(operator, user))

        not_allowed = "The sign-in experience does not allow this method for this kind of identifier"
        assert attempts[-3:] == [
            ["Password", "Succeeded", "-", "127.0.0.1", "Shop"],
            ["Password", "Failed", not_allowed, "127.0.0.1", "-"],
            ["Password", "Failed", "The password is wrong", "127.0.0.1", "-"],
        ]
        assert ["Code", "Failed", "The code was wrong or had expired", "127.0.0.1", "-"] in attempts[:-3]

    def test_shows_wrong_second_factors_and_the_first_factor_before_them(self, acme):
        factors.switch_on(acme, "Totp")
        user = acme.user()
        factors.enrol(acme, user)
        browser = acme.browser()
        factors.half(browser, user)
        browser.post(factors.TOTP, json={"code": "000000"})

        attempts = attempts_of(card_of(operators.at(acme), user))

        wrong = "The code of the second factor was wrong or had expired"
        assert [attempt[:3] for attempt in attempts] == [
            ["Second factor", "Failed", wrong],
            ["First factor; a second one was needed", "Succeeded", "-"],
        ]

    def test_a_user_of_another_tenant_and_other_users_leave_no_trace(self, world, operator, rival):
        name = f"{world.user().username}x"
        user = world.user(name)
        attempt(rival, name)
        attempt(world, f"{name}x")

        assert "No attempts yet." in card_of(operator, user)

    def test_costs_the_same_for_one_attempt_and_for_fifty(self, world):
        with world.active(), context.tenant(world.tenant.pk):
            user = world.user(email=new_email(), email_verified=True)
            shop = world.application(name="Shop").application
        client = Client()
        client.force_login(Administrator.objects.get(username=settings.ADMIN_USERNAME))
        session = client.session
        session["tenant"] = world.tenant.pk
        session.save()
        costs = []
        for number in (1, 1, 49):  # the first page also loads what later ones have
            with world.active():
                for _ in range(number):
                    with context.new_request(ip=f"192.0.2.{number}", user_agent="", request_id=""):
                        record_failure(world, user, shop)
            with CaptureQueriesContext(connection) as captured:
                answer = client.get(f"/admin/users/user/{user.pk}/change/")
            assert answer.status_code == 200, answer.headers
            costs.append(len(captured))

        assert costs[1] == costs[2] <= 26


def record_failure(world, user, application):
    known = typed_identifiers.build(user.username, is_known=True)
    with (
        context.tenant(world.tenant.pk),
        suppress(credentials.WrongPassword),
        log.attempt(Event.SIGN_IN_PASSWORD, known) as audited,
    ):
        audited.application_id = application.pk
        raise credentials.WrongPassword


class TestFailuresAtProviders:
    @pytest.fixture
    def linked(self, world):
        """A user whose account at a provider with an enabled connector is linked."""
        user = world.user()
        with world.active():
            connectors.create(
                connector_id="github", type="Social", enabled=True, config=CONFIG, is_proven=True
            )
            SocialIdentity.objects.create(
                user=user, provider="https://github.com", subject=user.username, fingerprint=user.username,
                connector_id="github", provider_name="GitHub", last_used_at=timezone.now(),
            )  # fmt: skip
        return user

    def fail(self, world, event=Event.SIGN_IN_SOCIAL, error="provider_failed", **columns):
        with world.active():
            log.record(event, result="failed", error=error, connector_id="github", **columns)

    def test_of_a_linked_account_are_named_with_their_reason(self, world, operator, linked):
        self.fail(world, reason="signature")

        states = states_of(card_of(operator, linked))

        failed = "GitHub: the latest sign-in failed at the provider"
        reason = "The provider did not answer correctly (the signature of the ID token is wrong)."
        assert f"{failed} {reason} Show the entry" in states

    def test_are_gone_after_the_next_sign_in_there(self, world, operator, linked):
        self.fail(world, reason="signature")
        self.fail(world, error="declined")

        assert "GitHub: the latest sign-in" not in str(states_of(card_of(operator, linked)))

    def test_are_not_told_of_others_who_have_no_account_there(self, world, operator):
        self.fail(world, reason="signature")

        assert "GitHub" not in str(states_of(card_of(operator, world.user())))

    def test_to_link_an_account_are_attempts_of_the_user(self, world, operator, linked):
        self.fail(world, Event.SOCIAL_IDENTITY_CREATE, reason="code_refused", user_id=linked.pk)

        (attempt, *_) = attempts_of(card_of(operator, linked))

        assert attempt[:3] == [
            "Linking an account at a provider", "Failed",
            "The provider did not answer correctly (the provider refused the authorization code)",
        ]  # fmt: skip
