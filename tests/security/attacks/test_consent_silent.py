"""A program on the person's device that took somebody else's scheme (AV17, AV18; N9), and PKCE (N16)."""

import pytest

from tests.support import management
from tests.support.cast import query_of
from tests.support.forms import form
from tests.support.management import refusal_of, result_of
from tests.support.third_parties import press

SCHEME = "com.example.app:/cb"


@pytest.fixture
def native(acme):
    return acme.application("Native", name="Wallet", redirect_uris=[SCHEME])


@pytest.fixture
def browser(acme):
    found = acme.browser()
    found.sign_in(acme.user("ada"))
    return found


def test_attack_AV17_a_private_scheme_names_no_site_of_the_attackers_choice(acme, browser):
    uri = "com.evil.app://accounts.bank.example/cb"
    client = acme.application("Native", redirect_uris=[uri], is_third_party=True)

    page = browser.get(browser.authorize(client).headers["Location"])

    assert "accounts.bank.example" not in page.text
    assert "com.evil.app:" in page.text


class TestContinue:
    def test_attack_AV18_a_thief_with_the_scheme_gets_no_code_without_a_page(self, browser, native):
        silent = browser.authorize(native, prompt="none")
        plain = browser.authorize(native)

        assert query_of(silent.headers["Location"])["error"] == "interaction_required"
        assert "/continue?" in plain.headers["Location"]

    def test_decision_N9_the_page_says_who_goes_where_and_one_press_goes_on(self, browser, native):
        page = browser.get(browser.authorize(native).headers["Location"])

        assert "Continue to <bdi>Wallet</bdi>?" in page.text
        assert "com.example.app:" in page.text
        assert "Continue as <bdi>ada</bdi>" in page.text
        code = press(browser, page, "continue")["code"]
        assert native.redeem(code).status_code == 200

    def test_decision_N9_the_page_cannot_be_skipped_by_going_on(self, browser, native):
        waiting = browser.authorize(native).headers["Location"]

        answer = browser.get(f"/oidc/authorize/{query_of(waiting)['interaction']}")

        assert answer.headers["Location"] == waiting

    def test_decision_N9_whoever_is_not_signed_in_is_said_to_be_so(self, acme, native):
        silent = acme.browser().authorize(native, prompt="none")

        assert query_of(silent.headers["Location"])["error"] == "login_required"

    def test_decision_N9_each_request_has_its_own_page(self, browser, native):
        press(browser, browser.get(browser.authorize(native).headers["Location"]), "continue")

        assert "/continue?" in browser.authorize(native).headers["Location"]

    def test_decision_N9_cancel_tells_the_application(self, browser, native):
        page = browser.get(browser.authorize(native).headers["Location"])

        assert press(browser, page, "cancel")["error"] == "access_denied"

    def test_decision_N9_another_account_is_a_sign_in(self, browser, native):
        page = browser.get(browser.authorize(native).headers["Location"])

        assert "/sign-in?" in form(page).submit(browser, choice="other").headers["Location"]

    def test_decision_N9_a_page_of_another_session_is_no_press(self, acme, browser, native):
        page = browser.get(browser.authorize(native).headers["Location"])
        browser.sign_in(acme.user("bob"))

        answer = form(page).submit(browser, choice="continue")

        assert answer.status_code == 200
        assert "Continue as <bdi>bob</bdi>" in answer.text

    def test_decision_N9_whoever_just_signed_in_saw_a_page(self, acme, native):
        user, fresh = acme.user(), acme.browser()

        code = fresh.code_for(native, user)

        assert native.redeem(code).status_code == 200

    @pytest.mark.parametrize(
        ("kind", "uri"),
        [
            ("Native", "http://127.0.0.1/cb"),
            ("Native", "http://[::1]/cb"),
            ("Native", "https://app.example/cb"),
            ("SPA", "https://app.example/cb"),
            ("Traditional", "https://app.example/cb"),
        ],
    )
    def test_decision_N9_https_and_loopback_are_answered_as_before(self, acme, browser, kind, uri):
        client = acme.application(kind, redirect_uris=[uri])

        assert "code" in query_of(browser.authorize(client, prompt="none").headers["Location"])

    def test_decision_N9_the_page_of_another_tenant_is_unknown(self, rival, browser, native):
        address = browser.authorize(native).headers["Location"].partition("/continue")[2]

        assert rival.browser().get(f"/continue{address}").status_code == 400


class TestRequirePkce:
    @pytest.fixture
    def admin(self, acme):
        return management.superuser(acme)

    def created(self, admin, kind="Traditional", **metadata):
        return admin.post(
            "/applications",
            name="App",
            type=kind,
            oidc_client_metadata={"redirect_uris": ["https://app.example/cb"]} | metadata,
        )

    def test_decision_N16_a_traditional_application_may_have_to_use_pkce(self, acme, admin, browser):
        made = result_of(self.created(admin, require_pkce=True))

        without = browser.get(
            "/oidc/authorize",
            params={
                "client_id": made["client_id"],
                "redirect_uri": "https://app.example/cb",
                "response_type": "code",
                "scope": "openid",
            },
        )

        assert made["oidc_client_metadata"]["require_pkce"] is True
        assert query_of(without.headers["Location"])["error"] == "invalid_request"

    @pytest.mark.parametrize(("kind", "default"), [("Traditional", False), ("SPA", True), ("Native", True)])
    def test_decision_N16_defaults(self, admin, kind, default):
        made = result_of(self.created(admin, kind))
        path = f"/applications/{made['id']}"

        assert made["oidc_client_metadata"]["require_pkce"] is default
        result_of(admin.patch(path, oidc_client_metadata={"require_pkce": True}))
        assert result_of(admin.get(path))["oidc_client_metadata"]["require_pkce"] is True

    @pytest.mark.parametrize("kind", ["SPA", "Native"])
    def test_decision_N16_public_applications_have_no_choice(self, admin, kind):
        made = result_of(self.created(admin, kind))

        sent = {"oidc_client_metadata": {"require_pkce": False}}
        changed = admin.patch(f"/applications/{made['id']}", **sent)

        assert "require_pkce" in refusal_of(self.created(admin, kind, require_pkce=False), 400)
        assert "require_pkce" in refusal_of(changed, 400)

    def test_decision_N16_machines_have_no_codes(self, admin):
        sent = {"name": "Robot", "type": "MachineToMachine", "oidc_client_metadata": {"require_pkce": True}}

        assert "require_pkce" in refusal_of(admin.post("/applications", **sent), 400)
