"""Organizations and APIs that require a stronger sign-in, at the token endpoint and in the request."""

import pytest

from oidc.grants.models import RefreshFamily
from tests.support import codes, factors
from tests.support.cast import query_of
from tests.support.factors import NEXT, SKIP, TOTP, enrol, half, has_session
from tests.support.management import result_of
from tests.support.required_factors import INDICATOR, TWO, Setting, refused
from tests.support.threads import at_once


@pytest.fixture
def setting(acme):
    return Setting(acme)


class TestTokensOfOrganizations:
    def test_decision_M18_a_refresh_below_level_2_is_refused_and_uses_nothing_up(self, setting):
        tokens = setting.client.tokens_for(setting.user)
        setting.require()
        organization = setting.organization

        first = setting.refresh(tokens["refresh_token"], organization_id=organization)
        again = setting.refresh(tokens["refresh_token"], organization_id=organization)
        without = setting.refresh(tokens["refresh_token"])

        assert refused(first, "the organization")
        assert refused(again, "the organization")
        assert without.status_code == 200, without.text

    def test_decision_M18_a_code_below_level_2_is_refused_and_still_good(self, setting):
        browser = setting.world.browser()
        code = browser.code_for(setting.client, setting.user, organization_id=setting.organization)
        setting.require()

        first = setting.client.redeem(code)
        setting.require(is_required=False)
        second = setting.client.redeem(code)

        assert refused(first, "the organization")
        assert second.status_code == 200, second.text

    def test_decision_M18_two_factors_are_enough(self, setting):
        setting.require()
        app = enrol(setting.world, setting.user)
        browser = factors.signed_in(setting.world, setting.user, app)

        tokens = setting.client.tokens_for(setting.user, browser, organization_id=setting.organization)
        answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

        assert answer.status_code == 200, answer.text

    def test_decision_M18_other_organizations_and_plain_tokens_need_no_factor(self, setting):
        setting.require()
        other = setting.admin.created("/organizations", name="Club")["id"]
        result_of(setting.admin.post(f"/organizations/{other}/users", user_ids=[str(setting.user.pk)]))

        tokens = setting.client.tokens_for(setting.user)

        assert setting.refresh(tokens["refresh_token"], organization_id=other).status_code == 200

    def test_case_MT29_nobody_learns_of_an_organization(self, setting, rival):
        setting.require()
        theirs = Setting(rival)
        theirs.require()
        stranger = setting.world.user()
        tokens = setting.client.tokens_for(stranger)

        answers = [
            setting.refresh(tokens["refresh_token"], organization_id=guess).json()
            for guess in (setting.organization, theirs.organization, "0198", "x")
        ]

        assert {answer["error"] for answer in answers} == {"invalid_request"}
        assert {answer["error_description"] for answer in answers} == {
            "The organization_id is unknown, or not for this client."
        }

    def test_decision_M18_it_ends_what_a_running_family_gets(self, setting):
        tokens = setting.client.tokens_for(setting.user)
        target = {"organization_id": setting.organization}

        def one(index):
            if index == 3:
                return setting.require()
            return setting.refresh(tokens["refresh_token"], **target)

        answers = [answer for answer in at_once(8, one) if answer is not None]

        for answer in answers:
            assert answer.status_code == 200 or refused(answer, "the organization")
        rotated = [answer.json()["refresh_token"] for answer in answers if answer.status_code == 200]
        newest = rotated[0] if rotated else tokens["refresh_token"]
        assert refused(setting.refresh(newest, **target), "the organization")
        assert setting.refresh(newest).status_code == 200

    def test_decision_M18_machines_have_no_factors(self, setting):
        setting.require()
        machine = setting.world.application("MachineToMachine")
        path = f"/organizations/{setting.organization}/applications"
        result_of(setting.admin.post(path, application_ids=[str(machine.application.pk)]))

        answer = machine.token(grant_type="client_credentials", organization_id=setting.organization)

        assert answer.status_code == 200, answer.text


class TestRequests:
    def start(self, setting, browser, **request):
        """Send an authorization request, and return the id of the pending one."""
        answer = browser.authorize(setting.client, **request)
        assert "/sign-in" in answer.headers["Location"], answer.headers["Location"]
        return query_of(answer.headers["Location"])["interaction"]

    def end(self, browser, answer):
        """Follow the end of a sign-in to the application."""
        return query_of(browser.get(answer.json()["result"]["redirect_to"]).headers["Location"])

    def test_decision_M18_a_request_for_the_organization_asks_for_the_step(self, setting):
        setting.require()
        app = enrol(setting.world, setting.user, two_step=False)
        browser = setting.world.browser()
        assert has_session(browser.sign_in(setting.user))
        assert "code" in query_of(browser.authorize(setting.client).headers["Location"])

        interaction = self.start(setting, browser, organization_id=setting.organization)
        step = half(browser, setting.user, interaction=interaction)["next"]
        done = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert (step["step"], step["reasons"], step["skippable"]) == (
            "second_factor",
            ["organization"],
            False,
        )
        answer = setting.client.redeem(self.end(browser, done)["code"])
        assert answer.status_code == 200, answer.text

    def test_decision_M18_somebody_without_a_factor_sets_one_up_and_cannot_skip(self, setting):
        setting.require()
        browser = setting.world.browser()

        interaction = self.start(setting, browser, organization_id=setting.organization)
        step = half(browser, setting.user, interaction=interaction)["next"]

        assert (step["step"], step["reasons"]) == ("set_up", ["organization"])
        skipped = browser.post(SKIP, json={"interaction": interaction})
        assert (skipped.status_code, skipped.json()["result"]["reason"]) == (403, "factor_not_allowed")
        assert not has_session(skipped)

    def test_decision_M18_social_skip_does_not_waive_it(self, acme):
        setting = Setting(acme, social="skip")
        setting.require()
        browser = acme.browser()
        interaction = self.start(setting, browser, organization_id=setting.organization)

        assert half(browser, setting.user, interaction=interaction)["next"]["step"] == "set_up"

    @pytest.mark.parametrize("target", ["organization", "resource"])
    def test_decision_M40_a_silent_request_is_told_that_a_page_is_needed(self, setting, target):
        browser = setting.world.browser()
        assert has_session(browser.sign_in(setting.user))
        if target == "organization":
            setting.require()
            request = {"organization_id": setting.organization}
        else:
            setting.require_acr(TWO)
            request = {"resource": INDICATOR}

        answer = browser.authorize(setting.client, prompt="none", **request)

        assert query_of(answer.headers["Location"])["error"] == "interaction_required"

    def test_case_MT29_a_stranger_gets_the_answer_of_an_unknown_organization(self, setting):
        setting.require()
        browser = setting.world.browser()
        assert has_session(browser.sign_in(setting.world.user()))

        for prompt in (None, "none"):
            answer = browser.authorize(setting.client, organization_id=setting.organization, prompt=prompt)
            assert query_of(answer.headers["Location"])["error"] == "invalid_request"

    def test_decision_M19_a_request_for_the_api_asks_for_the_step(self, setting):
        setting.require_acr(TWO)
        app = enrol(setting.world, setting.user, two_step=False)
        browser = setting.world.browser()
        assert has_session(browser.sign_in(setting.user))

        interaction = self.start(setting, browser, resource=INDICATOR)
        step = half(browser, setting.user, interaction=interaction)["next"]
        done = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert (step["reasons"], step["least_acr"]) == (["acr"], TWO)
        assert setting.client.redeem(self.end(browser, done)["code"]).status_code == 200

    def test_decision_M18_a_factor_on_the_channel_of_the_first_leads_nobody_astray(self, acme):
        codes.reachable(acme)
        setting = Setting(acme, factors=["EmailVerificationCode"])
        setting.require()
        setting.require_acr(TWO)
        for target in ({"organization_id": setting.organization}, {"resource": INDICATOR}):
            browser = acme.browser()
            interaction = self.start(setting, browser, **target)

            answer = browser.sign_in(setting.user, interaction=interaction)

            assert self.end(browser, answer)["error"] == "unmet_authentication_requirements"

    def test_decision_M19_what_nobody_can_reach_ends_at_the_application(self, setting):
        setting.require_acr(TWO)
        browser = setting.world.browser()
        interaction = self.start(setting, browser, resource=INDICATOR)
        # The tenant switches its factors off, while passkeys keep its highest level.
        setting.admin.patch("/sign-in-experience", mfa={"factors": []}, passkey_sign_in={"enabled": True})

        answer = browser.sign_in(setting.user, interaction=interaction)

        assert has_session(answer)
        assert self.end(browser, answer)["error"] == "unmet_authentication_requirements"


class TestTokensOfApis:
    def test_decision_M19_case_MT30_a_family_of_level_1_gets_no_token(self, setting):
        tokens = setting.client.tokens_for(setting.user)
        setting.require_acr(TWO)

        first = setting.refresh(tokens["refresh_token"], resource=INDICATOR)

        assert refused(first, f"acr {TWO}")
        assert setting.refresh(tokens["refresh_token"]).status_code == 200

    def test_decision_M19_a_code_is_refused_and_still_good(self, setting):
        code = setting.world.browser().code_for(setting.client, setting.user)
        setting.require_acr(TWO)

        assert refused(setting.client.redeem(code, resource=INDICATOR), f"acr {TWO}")
        assert setting.client.redeem(code).status_code == 200

    def test_decision_M19_a_level_that_includes_it_is_enough(self, setting):
        setting.require_acr(TWO)
        browser = factors.signed_in(setting.world, setting.user, enrol(setting.world, setting.user))
        tokens = setting.client.tokens_for(setting.user, browser)

        assert setting.refresh(tokens["refresh_token"], resource=INDICATOR).status_code == 200

    def test_decision_M4_an_alias_means_what_the_tenant_last_said(self, setting):
        alias = "https://refeds.org/profile/mfa"
        aliases = [{"value": alias, "level": "urn:service:acr:1fa"}]
        result_of(setting.admin.patch("/oidc-settings", acr_aliases=aliases))
        setting.require_acr(alias)
        tokens = setting.client.tokens_for(setting.user)
        answer = setting.refresh(tokens["refresh_token"], resource=INDICATOR)
        assert answer.status_code == 200, answer.text

        aliases = [{"value": alias, "level": TWO}]
        result_of(setting.admin.patch("/oidc-settings", acr_aliases=aliases))
        later = setting.refresh(answer.json()["refresh_token"], resource=INDICATOR)

        assert refused(later, alias)


class TestTokensOfApplications:
    def require(self, setting, acr=TWO):
        path = f"/applications/{setting.client.application.pk}"
        result_of(setting.admin.patch(path, oidc_client_metadata={"required_acr": acr}))

    def test_decision_M19_a_refresh_below_the_level_is_refused_and_uses_nothing_up(self, setting):
        tokens = setting.client.tokens_for(setting.user)
        self.require(setting)

        first = setting.refresh(tokens["refresh_token"])
        again = setting.refresh(tokens["refresh_token"])
        self.require(setting, "")
        later = setting.refresh(tokens["refresh_token"])

        for answer in (first, again):
            assert refused(answer, f"the application requires a sign-in with acr {TWO}")
        assert later.status_code == 200, later.text

    def test_decision_M19_a_code_below_the_level_is_refused_and_still_good(self, setting):
        code = setting.world.browser().code_for(setting.client, setting.user)
        self.require(setting)

        first = setting.client.redeem(code)
        self.require(setting, "")
        second = setting.client.redeem(code)

        assert refused(first, f"the application requires a sign-in with acr {TWO}")
        assert second.status_code == 200, second.text

    def test_decision_M19_a_family_of_the_level_is_refreshed(self, setting):
        self.require(setting)
        browser = factors.signed_in(setting.world, setting.user, enrol(setting.world, setting.user))
        tokens = setting.client.tokens_for(setting.user, browser)

        assert setting.refresh(tokens["refresh_token"]).status_code == 200
        self.require(setting, "urn:service:acr:1fa")
        assert setting.refresh(tokens["refresh_token"]).status_code == 200

    def test_decision_M19_a_remembered_browser_is_not_enough(self, setting):
        tokens = setting.client.tokens_for(setting.user)
        with setting.world.active():
            RefreshFamily.objects.update(remembered=True)
        self.require(setting)

        assert refused(setting.refresh(tokens["refresh_token"]), "the application")

    def test_decision_M19_another_application_is_not_concerned(self, setting):
        other = setting.world.application()
        tokens = other.tokens_for(setting.user)
        self.require(setting)

        assert other.refresh(tokens["refresh_token"]).status_code == 200

    def test_decision_M19_a_replay_ends_the_family_all_the_same(self, setting):
        first = setting.client.tokens_for(setting.user)["refresh_token"]
        second = setting.refresh(first).json()["refresh_token"]
        third = setting.refresh(second).json()["refresh_token"]
        self.require(setting)

        replayed = setting.refresh(first)
        self.require(setting, "")

        assert replayed.json()["error"] == "invalid_grant"
        assert setting.refresh(third).json()["error"] == "invalid_grant"


class TestMembers:
    """With ``organization_required_mfa_policy: Mandatory``, members are asked at every sign-in."""

    @pytest.fixture
    def setting(self, acme):
        return Setting(acme, organization_required_mfa_policy="Mandatory")

    def test_decision_M15_a_member_is_asked_to_set_one_up(self, setting):
        setting.require()
        browser = setting.world.browser()

        step = half(browser, setting.user)["next"]

        assert (step["step"], step["reasons"]) == ("set_up", ["organization"])
        assert browser.post(SKIP, json={}).status_code == 403
        assert browser.get(NEXT).json()["result"]["step"] == "set_up"

    def test_decision_M15_others_are_not(self, setting):
        assert has_session(setting.world.browser().sign_in(setting.user))
        setting.require()
        assert has_session(setting.world.browser().sign_in(setting.world.user()))

    def test_decision_M15_without_the_policy_members_are_not(self, setting):
        setting.require()
        mfa = {"organization_required_mfa_policy": "NoPrompt"}
        result_of(setting.admin.patch("/sign-in-experience", mfa=mfa))

        assert has_session(setting.world.browser().sign_in(setting.user))


class TestSessionContext:
    def context(self, setting, tokens):
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        return result_of(setting.world.get("/api/session/context", headers=headers))

    @pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
    def test_decision_M18_it_says_whether_the_sign_in_is_enough(self, setting, scope):
        weak = setting.client.tokens_for(setting.user, scope=scope, organization_id=setting.organization)
        before = self.context(setting, weak)
        setting.require()
        app = enrol(setting.world, setting.user)
        browser = factors.signed_in(setting.world, setting.user, app)
        strong = setting.client.tokens_for(
            setting.user, browser, scope=scope, organization_id=setting.organization
        )

        assert "is_mfa_satisfied" not in before["organization"] | before["organizations"][0]
        for tokens, is_satisfied in ((weak, False), (strong, True)):
            shown = self.context(setting, tokens)
            assert shown["organization"]["is_mfa_satisfied"] is is_satisfied
            assert shown["organizations"][0]["is_mfa_satisfied"] is is_satisfied
