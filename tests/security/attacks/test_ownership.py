"""AV01, AV02, AV19, AP02, AP07: accounts that somebody prepares for a person who has none yet."""

import pytest

from interaction.verification.models import VerificationCode
from tests.support import codes, management
from tests.support.cast import Browser, World, query_of
from tests.support.codes import new_email, new_phone
from tests.support.forms import form
from tests.support.management import result_of
from tests.support.ownership import ATTACKERS, VICTIMS, came_by_code, passes, recovered, registered, stored


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


@pytest.fixture
def mail() -> str:
    return new_email()


@pytest.fixture
def phone() -> str:
    return new_phone()


def is_unknown(world: World, identifier: str, purpose: str = "sign_in") -> bool:
    """Whether a code for an identifier is asked for like any other, and goes to nobody."""
    codes.let_time_pass(world)
    answer = codes.send(world.browser(), identifier, purpose)
    assert (answer.status_code, answer.json()["result"]) == (200, {"expires_in": 300})
    with world.active():
        return VerificationCode.objects.filter(address=identifier).order_by("-created_at")[0].silent


def proven_registration(world: World, mail: str, **fields: str) -> Browser:
    """Register with an email that is proven first."""
    codes.experience(world, sign_up={"identifiers": ["username", "email"]})
    browser = world.browser()
    codes.proven(browser, mail, "register")
    answer = browser.post(codes.REGISTER, json={"email": mail} | fields)
    assert answer.status_code == 200, answer.text
    return browser


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


class TestAnotherIdentifier:
    def test_attack_AV01_a_my_phone_on_your_account_lets_me_in_after_you_came(self, acme, mail, phone):
        registered(acme, email=mail, phone=phone)

        victim = recovered(acme, mail)

        assert is_unknown(acme, phone)
        assert is_in(victim)
        assert (stored(acme, email=mail).phone, stored(acme, email=mail).username) == ("", "mallory")

    def test_attack_AV01_a_i_prove_my_phone_before_you_come_and_wait(self, acme, mail, phone):
        registered(acme, email=mail, phone=phone)

        attacker = came_by_code(acme, phone)

        assert is_unknown(acme, mail, "forgot_password")
        assert mail not in attacker.get("/account").text

    def test_attack_AP02_b_my_session_by_phone_outlives_your_proof(self, acme, mail, phone):
        registered(acme, email=mail, phone=phone)
        attacker = came_by_code(acme, phone)

        proven_registration(acme, mail, username="victim", password=VICTIMS)

        assert stored(acme, username="victim").email == mail
        assert mail not in attacker.get("/account").text
        assert stored(acme, phone=phone).username == "mallory"

    def test_decision_N1_2_my_session_and_password_end_with_your_first_proof(self, acme, mail):
        attacker = registered(acme, email=mail)

        came_by_code(acme, mail)

        assert not is_in(attacker)
        assert not passes(acme.browser(), "mallory", ATTACKERS)


def agreed(browser: Browser, client, **parameters: str) -> str:
    """Agree to what a third party asks for; return the code it gets."""
    answer = browser.authorize(client, **parameters)
    page = browser.get(answer.headers["Location"])
    done = form(page).submit(browser, choice="allow")
    return query_of(browser.get(done.headers["Location"]).headers["Location"])["code"]


class TestConsent:
    def test_attack_AV01_c_my_application_is_agreed_to_in_your_name(self, acme, mail):
        evil = acme.application(is_third_party=True)
        attacker = registered(acme, email=mail)
        tokens = evil.redeem(agreed(attacker, evil)).json()

        victim = recovered(acme, mail)

        answer = victim.authorize(evil, prompt="none")
        assert query_of(answer.headers["Location"])["error"] == "consent_required"
        refreshed = evil.refresh(tokens["refresh_token"])
        assert (refreshed.status_code, refreshed.json()["error"]) == (400, "invalid_grant")
        userinfo = acme.get("/oidc/userinfo", headers={"Authorization": f"Bearer {tokens['access_token']}"})
        assert userinfo.status_code == 401

    def test_decision_N1_2_a_code_i_got_before_is_worth_nothing_after_you_came(self, acme, mail):
        evil = acme.application(is_third_party=True)
        code = agreed(registered(acme, email=mail), evil)

        recovered(acme, mail)

        assert evil.redeem(code).json()["error"] == "invalid_grant"


@pytest.fixture
def organization(acme: World) -> str:
    return str(management.superuser(acme).created("/organizations", name="HR")["id"])


@pytest.fixture
def hr(acme: World, organization: str):
    return management.member_manager(acme, organization)


def members(organization: str) -> str:
    return f"/m2m/organizations/{organization}/members"


class TestMembersApi:
    def test_attack_AV01_d_AP02_a_my_phone_and_your_email_in_one_enrolment(
        self, acme, hr, organization, mail, phone
    ):
        result_of(hr.post(members(organization), phone=phone, email=mail))

        victim = recovered(acme, mail)

        assert is_unknown(acme, phone)
        assert is_in(victim)

    def test_attack_AP02_a_i_come_first_and_set_a_password(self, acme, hr, organization, mail, phone):
        result_of(hr.post(members(organization), phone=phone, email=mail))

        attacker = came_by_code(acme, phone)

        assert mail not in attacker.get("/account").text
        assert is_unknown(acme, mail)
        assert not passes(acme.browser(), mail, ATTACKERS)

    def test_attack_AV02_whoever_squats_a_phone_joins_the_organization(self, acme, hr, organization, phone):
        attacker = registered(acme, phone=phone)
        squatter = stored(acme, username="mallory")

        member = result_of(hr.post(members(organization), phone=phone, name="Real Employee"))

        assert member["id"] != str(squatter.pk)
        assert (member["username"], member["name"], member["primary_phone"]) == (
            None,
            "Real Employee",
            phone,
        )
        assert stored(acme, username="mallory").phone == ""
        assert is_in(attacker)

    def test_attack_AP07_i_count_through_numbers_to_collect_people(self, acme, hr, organization):
        phones = [new_phone() for _ in range(61)]
        for number in phones:
            acme.user(phone=number)

        answers = [hr.post(members(organization), phone=number) for number in phones]

        assert [answer.status_code for answer in answers] == [200] * 60 + [429]
        assert int(answers[-1].headers["Retry-After"]) > 0
        assert answers[-1].json()["result"] is None
        assert hr.post(members(organization), phone=phones[0]).status_code == 200  # a member already
        assert hr.post(members(organization), phone=new_phone()).status_code == 429  # nobody knows whose
        other = management.member_manager(acme, organization)
        assert other.post(members(organization), phone=phones[60]).status_code == 200


class TestSquatting:
    def test_attack_AV19_you_cannot_register_because_i_hold_your_address(self, acme, mail):
        registered(acme, email=mail)

        victim = proven_registration(acme, mail, username="victim", password=VICTIMS)

        assert is_in(victim)
        assert stored(acme, username="victim").email_verified
        assert stored(acme, username="mallory").email == ""
        assert not passes(acme.browser(), mail, ATTACKERS)
        assert passes(acme.browser(), mail, VICTIMS)
