"""Sign-in of administrators through the provider of the installation."""

import pytest
from django.conf import settings as configured
from django.test import Client

from audit.models import Entry
from config.single_sign_on import Provider
from management.administrators import second_step, services, single_sign_on
from management.administrators.models import Administrator, ProviderAccount
from tests.support import authenticator, operators
from tests.support.cast import PASSWORD, new_secret, query_of
from tests.support.operators import text_of
from tests.support.single_sign_on import (
    CALLBACK,
    OWN,
    START,
    approve,
    get_linked_accounts,
    is_signed_in,
    link,
    set_provider,
    sign_in,
    start,
)
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("default_tenant")
LOGIN = "/admin/login/"


@pytest.fixture(autouse=True)
def configured_provider(settings, provider):
    set_provider(settings, provider)


@pytest.fixture
def who():
    return operators.administrator()


class TestALinkedAccount:
    def test_signs_its_administrator_in(self, provider, who):
        link(provider, who, sub := new_secret())

        browser, answer = sign_in(provider, sub, "/admin/users/user/")

        assert answer.headers["Location"] == "/admin/users/user/"
        assert browser.session["_auth_user_id"] == str(who.pk)
        entry = Entry.objects.filter(key="Admin.SignIn", payload__username=who.username).latest("created_at")
        assert (entry.payload["by"], entry.payload["subject"]) == ("provider", sub)

    @pytest.mark.parametrize(
        "next_url", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
    )
    def test_never_leads_to_another_site(self, provider, who, next_url):
        link(provider, who, sub := new_secret())

        _, answer = sign_in(provider, sub, next_url)

        assert answer.headers["Location"] == "/admin/"

    def test_is_found_by_issuer_and_subject_and_never_by_email(self, provider, who):
        Administrator.objects.filter(pk=who.pk).update(email="a@example.com", proven_email="a@example.com")

        browser, answer = sign_in(provider, new_secret(), email="a@example.com", email_verified=True)

        assert answer.headers["Location"] == LOGIN
        assert not is_signed_in(browser)
        assert "No administrator has linked this account" in text_of(browser.get(LOGIN))

    def test_of_another_issuer_signs_nobody_in(self, provider, who):
        sub = new_secret()
        ProviderAccount.objects.create(administrator=who, issuer="https://other.example", subject=sub)

        browser, _ = sign_in(provider, sub)

        assert not is_signed_in(browser)

    def test_of_another_administrator_is_not_linked_twice(self, provider, who):
        link(provider, who, sub := new_secret())
        other = operators.administrator()

        browser = link(provider, other, sub)

        assert "linked to another administrator" in text_of(browser.get(OWN))
        assert (len(get_linked_accounts(who)), get_linked_accounts(other)) == (1, [])

    def test_is_linked_once_by_two_at_once(self, provider):
        person = single_sign_on.Person(provider.issuer, new_secret(), has_two_factors=False)
        several = [operators.administrator() for _ in range(3)]

        def use(number):
            try:
                single_sign_on.link(several[number], person)
            except single_sign_on.AlreadyLinked:
                return False
            return True

        assert sum(at_once(3, use)) == 1

    def test_that_is_unlinked_ends_the_sessions_that_it_started_and_no_other(self, provider, who):
        own = link(provider, who, sub := new_secret())
        browser, _ = sign_in(provider, sub)
        assert is_signed_in(browser)

        own.post(OWN, {"password": PASSWORD})

        assert get_linked_accounts(who) == []
        assert not is_signed_in(browser)
        assert is_signed_in(own)

    def test_ends_with_the_provider_of_the_installation(self, provider, who, settings):
        link(provider, who, sub := new_secret())
        browser, _ = sign_in(provider, sub)

        settings.ADMIN_OIDC = Provider()

        assert not is_signed_in(browser)
        assert [browser.post(START).status_code, browser.get(CALLBACK).status_code] == [404, 404]

    def test_needs_the_password_to_be_linked(self, provider, who):
        browser = Client()
        browser.force_login(who)

        assert browser.post(OWN, {"password": "wrong"}).status_code == 401
        assert browser.post(OWN, {}).status_code == 400

    def test_session_ends_with_the_rights(self, provider, who):
        link(provider, who, sub := new_secret())
        browser, _ = sign_in(provider, sub)

        services.change(who, {"role": "auditor"})

        assert not is_signed_in(browser)


class TestTheCallback:
    def test_without_a_request_of_this_browser_signs_nobody_in(self, provider, who):
        link(provider, who, sub := new_secret())
        _, address = start()
        response = approve(provider, address, sub)

        victim = Client()
        victim.get(CALLBACK, response)
        with_its_own, _ = start()
        with_its_own.get(CALLBACK, response)

        assert not is_signed_in(victim)
        assert not is_signed_in(with_its_own)

    def test_works_once(self, provider, who):
        link(provider, who, sub := new_secret())
        browser, address = start()
        response = approve(provider, address, sub)
        browser.get(CALLBACK, response)
        browser.post("/admin/logout/")

        again = browser.get(CALLBACK, response)

        assert again.headers["Location"] == LOGIN
        assert not is_signed_in(browser)

    @pytest.mark.parametrize(
        "lie",
        [
            {"nonce": "other"},
            {"nonce": None},
            {"aud": "other"},
            {"iss": "https://other.example"},
            {"exp": 1},
            {"sub": None},
            {"sub": ""},
            {"sub": 7},
            {"sub": "x" * 256},
            {"sub": "a\0b"},
        ],
        ids=str,
    )
    def test_refuses_a_token_that_is_not_for_this_request(self, provider, who, lie):
        link(provider, who, sub := new_secret())
        provider.lie = lie

        browser, answer = sign_in(provider, sub)

        assert answer.headers["Location"] == LOGIN
        assert not is_signed_in(browser)

    @pytest.mark.parametrize(
        "change",
        [
            {"iss": "https://other.example"},
            {"state": "other"},
            {"state": ""},
            {"code": ""},
            {"code": "x" * 5000},
            {"code": "\0"},
            {"error": "access_denied", "code": ""},
        ],
        ids=lambda change: str(change)[:30],
    )
    def test_refuses_a_response_that_is_not_whole(self, provider, who, change):
        link(provider, who, sub := new_secret())
        browser, address = start()

        answer = browser.get(CALLBACK, approve(provider, address, sub) | change)

        assert answer.status_code in {302, 400}
        assert not is_signed_in(browser)

    def test_links_only_to_the_administrator_who_asked(self, provider, who):
        other = operators.administrator()
        browser = Client()
        browser.force_login(who)
        address = browser.post(OWN, {"password": PASSWORD}).headers["Location"]
        pending = browser.session["single_sign_on"]
        browser.force_login(other)
        session = browser.session
        session["single_sign_on"] = pending
        session.save()

        browser.get(CALLBACK, approve(provider, address, new_secret()))

        assert get_linked_accounts(who) == get_linked_accounts(other) == []

    def test_says_so_if_the_provider_does_not_answer(self, provider):
        del provider.web.answers["/token"]

        browser, answer = sign_in(provider, new_secret())

        assert answer.headers["Location"] == LOGIN
        assert "failed" in text_of(browser.get(LOGIN))


class TestTwoSteps:
    @pytest.fixture
    def sub(self, provider, who):
        link(provider, who, sub := new_secret())
        return sub

    @pytest.fixture
    def key(self, who):
        from identity.factors import totp  # noqa: PLC0415

        secret = totp.new_secret()
        second_step.set_up(who, secret=secret, code=authenticator.code(totp.format_secret(secret)))
        return totp.format_secret(secret)

    def rule(self, settings, two_step):
        old = settings.ADMIN_OIDC
        settings.ADMIN_OIDC = Provider(
            old.issuer, old.client_id, old.client_secret, old.label, two_step, ("phr",)
        )

    def test_of_ours_are_asked_for_whatever_the_provider_says(self, provider, who, sub, key):
        browser, answer = sign_in(provider, sub, amr=["mfa"], acr="phr")

        assert answer.headers["Location"].startswith("/admin/login/code/")
        assert not is_signed_in(browser)

    @pytest.mark.parametrize(
        ("claims", "is_enough"),
        [
            ({"amr": ["pwd", "mfa"]}, True),
            ({"acr": "phr"}, True),
            ({}, False),
            ({"amr": ["pwd"]}, False),
            ({"amr": "mfa"}, False),
            ({"acr": "0"}, False),
            ({"acr": ["phr"]}, False),
        ],
        ids=str,
    )
    def test_of_the_provider_count_if_the_installation_says_so(  # noqa: PLR0913, PLR0917 - fixtures
        self, provider, who, sub, key, settings, claims, is_enough
    ):
        self.rule(settings, "provider")

        browser, _ = sign_in(provider, sub, **claims)

        assert is_signed_in(browser) == is_enough

    def test_have_to_be_set_up_unless_the_provider_asked_for_them(self, provider, who, sub, settings):
        settings.ADMIN_TWO_STEP = "required"
        self.rule(settings, "provider")

        without, _ = sign_in(provider, sub)
        with_two, _ = sign_in(provider, sub, amr=["mfa"])

        assert without.get("/admin/tenant/").headers["Location"] == "/admin/two-step/"
        assert is_signed_in(with_two)

    def test_of_the_provider_are_forgotten_at_a_sign_in_with_a_password(self, provider, who, sub, settings):
        settings.ADMIN_TWO_STEP = "required"
        self.rule(settings, "provider")
        browser, _ = sign_in(provider, sub, amr=["mfa"])

        browser.post(LOGIN, {"username": who.username, "password": PASSWORD})

        assert browser.get("/admin/tenant/").headers["Location"] == "/admin/two-step/"


class TestAnotherTenantOfGatehouse:
    def test_is_a_provider(self, acme, who, settings):
        client = acme.application(redirect_uris=[f"{configured.BASE_URL}{CALLBACK}"])
        settings.ADMIN_OIDC = Provider(acme.issuer, client.client_id, client.secret, "Acme", "own", ())
        user = acme.user()
        person = acme.browser()
        assert person.sign_in(user).status_code == 200

        def through(browser, address):
            returned = person.get(address)
            while not returned.headers["Location"].startswith(f"{configured.BASE_URL}{CALLBACK}"):
                returned = person.get(returned.headers["Location"])
            return browser.get(CALLBACK, query_of(returned.headers["Location"]))

        own = Client()
        own.force_login(who)
        through(own, own.post(OWN, {"password": PASSWORD}).headers["Location"])
        browser = Client()
        through(browser, browser.post(START).headers["Location"])

        assert get_linked_accounts(who) == [(acme.issuer, str(user.pk))]
        assert is_signed_in(browser)


@pytest.mark.parametrize("missing", ["ADMIN_OIDC_ISSUER", "ADMIN_OIDC_CLIENT_ID", "ADMIN_OIDC_CLIENT_SECRET"])
def test_the_provider_needs_all_its_variables(monkeypatch, missing):
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415

    from config import single_sign_on as config  # noqa: PLC0415

    values = {"ISSUER": "https://sso.example.com", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}
    for name, value in values.items():
        monkeypatch.setenv(f"ADMIN_OIDC_{name}", value)
    assert config.read("ADMIN_OIDC_", development=False).label == "single sign-on"
    monkeypatch.delenv(missing)

    with pytest.raises(ImproperlyConfigured, match=missing):
        config.read("ADMIN_OIDC_", development=False)
