"""Who may use an application, as users and applications meet it: decisions Q9, Q11 and Q12."""

import pytest

from identity.core import assignments
from identity.organizations import services as organizations
from identity.organizations.models import Membership, Organization
from identity.roles import services as roles
from identity.roles.models import Role, UserRole
from oidc.applications import services as applications
from oidc.applications.models import AllowedRole, Application
from oidc.grants.models import AuthorizationCode, RefreshFamily
from tests.support.audit_log import entries
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_refusal,
    interaction_at,
    next_page,
    parked,
    sent_back,
)
from tests.support.cast import query_of, signed_in
from tests.support.forms import form
from tests.support.third_parties import connect


@pytest.fixture
def role(acme):
    with acme.active():
        return Role.objects.create(name="Staff", type=Role.Type.USER)


@pytest.fixture
def organization(acme):
    with acme.active():
        return Organization.objects.create(name="Acme Ltd")


@pytest.fixture
def wiki(acme, role):
    return acme.application(name="Wiki", allowed_role_ids=[str(role.pk)])


def give(world, user, role):
    with world.active():
        assignments.add(roles.USER_ROLES, user.pk, [str(role.pk)])


def take(world, user):
    with world.active():
        UserRole.objects.filter(user=user).delete()
        Membership.objects.filter(user=user).delete()


def restrict(world, client, role):
    with world.active():
        application = Application.objects.get(pk=client.application.pk)
        applications.change(application, {"allowed_role_ids": [str(role.pk)]}, is_proven=True)


def is_invalid_grant(answer):
    return (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


class TestWhoMay:
    def test_decision_Q9_a_user_with_the_role_goes_on(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)

        tokens = wiki.tokens_for(user, browser)

        assert wiki.refresh(tokens["refresh_token"]).status_code == 200

    def test_decision_Q9_with_both_lists_one_of_either_is_enough(self, acme, role, organization):
        client = acme.application(
            allowed_role_ids=[str(role.pk)], allowed_organization_ids=[str(organization.pk)]
        )
        by_role, holder = signed_in(acme)
        by_membership, member = signed_in(acme)
        by_neither, _ = signed_in(acme)
        give(acme, holder, role)
        with acme.active():
            organizations.add_members(organization.pk, [str(member.pk)])

        assert sent_back(by_role.authorize(client), client).keys() == WITH_CODE
        assert sent_back(by_membership.authorize(client), client).keys() == WITH_CODE
        assert next_page(by_neither.authorize(client), acme).name == "no-access"
        assert client.tokens_for(member, by_membership)["refresh_token"]

    def test_another_role_or_organization_is_not_enough(self, acme, rival, wiki, role):
        browser, user = signed_in(acme)
        with acme.active():
            other = Role.objects.create(name="Guests", type=Role.Type.USER)
            elsewhere = Organization.objects.create(name="Elsewhere")
            organizations.add_members(elsewhere.pk, [str(user.pk)])
        give(acme, user, other)

        assert next_page(browser.authorize(wiki), acme).name == "no-access"

    def test_decision_Q10_nobody_may_when_the_lists_were_lost(self, acme, wiki, role):
        # A node of release 0.1.3 deletes the role: the database deletes its links.
        browser, user = signed_in(acme)
        give(acme, user, role)
        code = browser.code_for(wiki, user)
        with acme.active():
            AllowedRole.objects.all().delete()
            UserRole.objects.all().delete()
            Role.objects.filter(pk=role.pk).delete()

        assert next_page(browser.authorize(wiki), acme).name == "no-access"
        assert is_invalid_grant(wiki.redeem(code))


class TestPage:
    def test_decision_Q11_says_whom_to_ask_and_leads_back_with_access_denied(self, acme, wiki):
        browser, user = signed_in(acme)
        interaction = interaction_at("no-access", browser.authorize(wiki), acme)

        page = browser.get(f"/no-access?interaction={interaction}")
        answer = form(page).submit(browser, choice="back")

        assert page.status_code == 403
        assert all(text in page.text for text in ("Wiki", "Acme", "Ask the people who run", user.username))
        assert "no-store" in page.headers["Cache-Control"]
        assert find_refusal(answer, wiki) == Refusal("access_denied")
        assert (
            "the user may not use this application"
            in query_of(answer.headers["Location"])["error_description"]
        )
        assert parked(acme) == 0

    def test_decision_Q11_another_account_can_be_used(self, acme, wiki, role):
        browser, _ = signed_in(acme)
        allowed = acme.user()
        give(acme, allowed, role)
        interaction = interaction_at("no-access", browser.authorize(wiki), acme)

        to_sign_in = form(browser.get(f"/no-access?interaction={interaction}")).submit(
            browser, choice="other"
        )
        onward = browser.sign_in(allowed, interaction=interaction).json()["result"]["redirect_to"]

        assert next_page(to_sign_in, acme).name == "sign-in"
        assert sent_back(browser.get(onward), wiki).keys() == WITH_CODE

    def test_decision_Q11_comes_after_a_sign_in_for_the_request(self, acme, wiki):
        user, browser = acme.user(), acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(wiki), acme)

        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert next_page(browser.get(onward), acme) == ("no-access", interaction)

    def test_decision_Q11_comes_before_consent(self, acme, role):
        client = acme.application(is_third_party=True, allowed_role_ids=[str(role.pk)])
        browser, user = signed_in(acme)

        interaction = interaction_at("no-access", browser.authorize(client), acme)
        give(acme, user, role)

        assert next_page(browser.get(f"/oidc/authorize/{interaction}"), acme).name == "consent"

    def test_decision_Q11_an_open_consent_page_gives_no_access(self, acme, role):
        client = acme.application(is_third_party=True, allowed_role_ids=[str(role.pk)])
        browser, user = signed_in(acme)
        give(acme, user, role)
        interaction = interaction_at("consent", browser.authorize(client), acme)
        page = form(browser.get(f"/consent?interaction={interaction}"))
        take(acme, user)

        answer = page.submit(browser, choice="allow")

        assert next_page(browser.get(answer.headers["Location"]), acme) == ("no-access", interaction)

    def test_decision_Q11_whoever_got_the_role_meanwhile_goes_on(self, acme, wiki, role):
        browser, user = signed_in(acme)
        interaction = interaction_at("no-access", browser.authorize(wiki), acme)
        give(acme, user, role)

        onward = browser.get(f"/no-access?interaction={interaction}")

        assert sent_back(browser.get(onward.headers["Location"]), wiki).keys() == WITH_CODE

    def test_a_press_in_the_page_of_another_user_does_nothing(self, acme, wiki):
        browser, _ = signed_in(acme)
        interaction = interaction_at("no-access", browser.authorize(wiki), acme)
        page = form(browser.get(f"/no-access?interaction={interaction}"))
        other = acme.user()
        browser.sign_in(other)

        answer = page.submit(browser, choice="back")

        assert answer.status_code == 403
        assert other.username in answer.text

    def test_another_browser_or_tenant_does_not_see_it(self, acme, rival, wiki):
        browser, _ = signed_in(acme)
        interaction = interaction_at("no-access", browser.authorize(wiki), acme)
        stranger, _ = signed_in(acme)

        assert stranger.get(f"/no-access?interaction={interaction}").status_code == 400
        assert rival.browser().get(f"/no-access?interaction={interaction}").status_code == 400
        assert acme.browser().get("/no-access").status_code == 400

    def test_refusals_are_audited(self, acme, wiki):
        browser, user = signed_in(acme)

        browser.authorize(wiki)
        browser.authorize(wiki, prompt="none")

        shown = entries(acme, "Application.Refuse")
        assert [(entry.user_id, entry.application_id) for entry in shown] == [
            (str(user.pk), str(wiki.application.pk))
        ] * 2
        assert {entry.payload["error"] for entry in shown} == {"no_access"}

    def test_a_refusal_after_the_sign_in_is_audited(self, acme, wiki):
        user, browser = acme.user(), acme.browser()
        interaction = interaction_at("sign-in", browser.authorize(wiki), acme)

        browser.get(browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"])

        (entry,) = entries(acme, "Application.Refuse")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(wiki.application.pk))

    def test_no_refusal_is_audited_of_a_user_who_may(self, acme, wiki, role):
        user, browser = acme.user(), acme.browser()
        give(acme, user, role)
        interaction = interaction_at("sign-in", browser.authorize(wiki), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), wiki).keys() == WITH_CODE
        assert sent_back(browser.authorize(wiki), wiki).keys() == WITH_CODE

        assert entries(acme, "Application.Refuse") == []


class TestSilently:
    def test_decision_Q11_none_is_access_denied_at_once(self, acme, wiki):
        browser, _ = signed_in(acme)

        answer = browser.authorize(wiki, prompt="none")

        assert find_refusal(answer, wiki) == Refusal("access_denied")
        description = sent_back(answer, wiki)["error_description"]
        assert len(description.split()) >= 3
        assert parked(acme) == 0

    def test_attack_AP46_a_third_party_without_consent_does_not_learn_who_may(self, acme, role, organization):
        allowed = {"allowed_role_ids": [str(role.pk)], "allowed_organization_ids": [str(organization.pk)]}
        client = acme.application(is_third_party=True, **allowed)
        browser, user = signed_in(acme)
        browser_of_member, member = signed_in(acme)
        with acme.active():
            organizations.add_members(organization.pk, [str(member.pk)])

        neither = browser.authorize(client, prompt="none")
        belongs = browser_of_member.authorize(client, prompt="none")
        give(acme, user, role)
        has_role = browser.authorize(client, prompt="none")

        for answer in (neither, belongs, has_role):
            assert find_refusal(answer, client) == Refusal("consent_required")
        assert entries(acme, "Application.Refuse") == []

    def test_decision_Q11_a_third_party_with_consent_is_told(self, acme, role):
        client = acme.application(is_third_party=True, allowed_role_ids=[str(role.pk)])
        browser, user = signed_in(acme)
        give(acme, user, role)
        connect(browser, client)
        take(acme, user)

        assert find_refusal(browser.authorize(client, prompt="none"), client) == Refusal("access_denied")

    def test_nobody_signed_in_is_login_required(self, acme, wiki):
        assert find_refusal(acme.browser().authorize(wiki, prompt="none"), wiki) == Refusal("login_required")


class TestGrants:
    def test_decision_Q12_a_code_is_refused_and_not_used_up(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        code = browser.code_for(wiki, user)
        take(acme, user)

        refused = wiki.redeem(code)
        with acme.active():
            consumed = AuthorizationCode.objects.get().consumed_at
        give(acme, user, role)

        assert is_invalid_grant(refused)
        assert refused.json()["error_description"] == "The user may not use this application."
        assert consumed is None
        assert wiki.redeem(code).status_code == 200

    def test_decision_Q12_a_refresh_is_refused_and_nothing_is_used_up(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        first = wiki.tokens_for(user, browser)["refresh_token"]
        take(acme, user)

        refused = [wiki.refresh(first), wiki.refresh(first)]
        with acme.active():
            family = RefreshFamily.objects.get()
        give(acme, user, role)

        assert all(is_invalid_grant(answer) for answer in refused)
        assert (family.generation, family.ended_at) == (0, None)
        assert wiki.refresh(first).status_code == 200

    def test_decision_Q12_a_replayed_refresh_token_still_ends_its_family(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        first = wiki.tokens_for(user, browser)["refresh_token"]
        second = wiki.refresh(first).json()["refresh_token"]
        third = wiki.refresh(second).json()["refresh_token"]
        take(acme, user)

        assert is_invalid_grant(wiki.refresh(first))
        give(acme, user, role)

        assert is_invalid_grant(wiki.refresh(third))

    def test_decision_Q12_a_code_that_was_used_still_ends_its_tokens(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        code = browser.code_for(wiki, user)
        tokens = wiki.redeem(code).json()
        take(acme, user)

        assert is_invalid_grant(wiki.redeem(code))
        give(acme, user, role)

        assert is_invalid_grant(wiki.refresh(tokens["refresh_token"]))

    def test_decision_Q12_holds_for_grants_from_before_the_restriction(self, acme, role):
        client = acme.application()
        browser, user = signed_in(acme)
        token = client.tokens_for(user, browser)["refresh_token"]
        code = browser.code_for(client, user)

        restrict(acme, client, role)

        assert is_invalid_grant(client.refresh(token))
        assert is_invalid_grant(client.redeem(code))

    def test_decision_Q12_access_tokens_live_until_they_expire(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        tokens = wiki.tokens_for(user, browser)
        take(acme, user)

        assert wiki.userinfo(tokens["access_token"]).status_code == 200

    def test_decision_Q12_the_refusal_is_in_the_log(self, acme, wiki, role):
        browser, user = signed_in(acme)
        give(acme, user, role)
        code = browser.code_for(wiki, user)
        take(acme, user)
        wiki.redeem(code)

        entry = entries(acme, "Token.Exchange")[-1]

        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "invalid_grant")
        assert entry.application_id == str(wiki.application.pk)
