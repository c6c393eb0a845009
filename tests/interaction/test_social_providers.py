"""Social providers: what each is asked, and whom it vouches for. Their answers are as they document them."""

import time
from typing import Any

import pytest

from interaction.connectors import configs, provider_keys, relying_party
from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import google, microsoft, registry
from interaction.connectors.providers.base import Profile
from interaction.connectors.relying_party import Secrets
from tests.support import openid
from tests.support.cast import query_of
from tests.support.openid import CLIENT, OpenIDProvider
from tests.support.providers import Answer, WebProvider, answer

SECRETS = Secrets("our-state", "our-nonce", "our-verifier-our-verifier-our-verifier-43ch")
REDIRECT_URI = "https://us.example/social/callback/1"
DIRECTORY = "72f988bf-86f1-41af-91ab-2d7cd011db47"


@pytest.fixture(autouse=True)
def forgetful():
    """Nothing is remembered of the provider of another test."""
    relying_party._cache.clear()
    provider_keys._cache.clear()


@pytest.fixture
def there(web_provider: WebProvider) -> OpenIDProvider:
    made = OpenIDProvider(web_provider)
    made.publish(token_endpoint_auth_methods_supported=["client_secret_post", "client_secret_basic"])
    return made


def prepared(connector_id: str, **config: Any) -> tuple[Any, Any, Any]:
    provider: Any = registry.find(connector_id)
    whole = configs.with_defaults(provider, configs.validate(provider, CLIENT | config))
    return provider, whole, relying_party.get_endpoints(provider, whole)


def sent_to(connector_id: str, **config: Any) -> str:
    _, whole, endpoints = prepared(connector_id, **config)
    return relying_party.authorization_url(endpoints, whole, SECRETS, redirect_uri=REDIRECT_URI)


def asked_of(connector_id: str, max_age: int, **config: Any) -> dict[str, str]:
    """What a provider is told of how recent a sign-in has to be."""
    _, whole, endpoints = prepared(connector_id, **config)
    sent = query_of(
        relying_party.authorization_url(endpoints, whole, SECRETS, redirect_uri=REDIRECT_URI, max_age=max_age)
    )
    return {name: sent[name] for name in ("prompt", "max_age") if name in sent}


def vouched_for(connector_id: str, **config: Any) -> Profile:
    provider, whole, endpoints = prepared(connector_id, **config)
    granted = relying_party.redeem(
        endpoints, whole, code="their-code", secrets=SECRETS, redirect_uri=REDIRECT_URI
    )
    profile: Profile = provider.profile(whole, endpoints, granted)
    return profile


def tokens(there: OpenIDProvider, **claims: Any) -> Answer:
    now = int(time.time())
    known = {"aud": CLIENT["client_id"], "nonce": SECRETS.nonce, "iat": now, "exp": now + 3600}
    token = there.signed(known | claims)
    return answer(200, {"access_token": "theirs", "expires_in": 3599, "id_token": token})


@pytest.mark.usefixtures("acme_active")
class TestGoogle:
    @pytest.fixture(autouse=True)
    def issuer(self, there, monkeypatch):
        monkeypatch.setattr(google, "ISSUER", there.issuer)

    def test_is_asked_as_its_reference_says(self, acme, there):
        address = sent_to("google")

        assert address.startswith(f"{there.issuer}/authorize?")
        asked = query_of(address)
        assert asked["redirect_uri"] == REDIRECT_URI
        assert (asked["scope"], asked["state"], asked["nonce"]) == (
            "openid profile email",
            "our-state",
            "our-nonce",
        )

    def test_is_not_asked_for_what_it_refuses(self):
        """Google takes no prompt but none, consent and select_account."""
        assert not google.Google().can_reauthenticate

    def test_vouches_for_an_account(self, there):
        there.web.answers["/token"] = tokens(
            there,
            iss=there.issuer,
            azp=CLIENT["client_id"],
            sub="10769150350006150715113082367",
            email="jsmith@example.com",
            email_verified=True,
            hd="example.com",
            name="John Smith",
            picture="https://lh3.googleusercontent.com/a/photo=s96-c",
        )

        assert vouched_for("google") == Profile(
            provider=there.issuer,
            subject="10769150350006150715113082367",
            name="John Smith",
            email="jsmith@example.com",
            email_verified=True,
            avatar="https://lh3.googleusercontent.com/a/photo=s96-c",
        )
        (asked,) = [asked for asked in there.web.asked if asked.path == "/token"]
        assert asked.form["code_verifier"] == SECRETS.verifier
        assert asked.form["code"] == "their-code"
        assert asked.form["client_secret"] == CLIENT["client_secret"]


@pytest.mark.usefixtures("acme_active")
class TestMicrosoft:
    @pytest.fixture(autouse=True)
    def host(self, there, monkeypatch):
        monkeypatch.setattr(microsoft, "HOST", there.issuer)
        for tenant in ("common", DIRECTORY):
            there.web.answers[f"/{tenant}/discovery/v2.0/keys"] = there.web.answers["/jwks"]

    def answers(self, there: OpenIDProvider, tenant: str = "common", **claims: Any) -> None:
        known = {
            "iss": f"{there.issuer}/{DIRECTORY}/v2.0",
            "tid": DIRECTORY,
            "oid": "690222be-ff1a-4d56-abd1-7e4f7d38e474",
            "sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
            "name": "Abe Lincoln",
            "preferred_username": "AbeLi@microsoft.com",
            "email": "AbeLi@microsoft.com",
            "ver": "2.0",
        }
        there.web.answers[f"/{tenant}/oauth2/v2.0/token"] = tokens(there, **(known | claims))

    def test_is_asked_to_ask_again(self):
        assert microsoft.Microsoft().can_reauthenticate
        assert asked_of("microsoft", 0) == {"prompt": "login", "max_age": "0"}
        assert asked_of("microsoft", 60) == {"max_age": "60"}

    def test_vouches_for_an_account_of_any_directory(self, there):
        self.answers(there)

        assert vouched_for("microsoft") == Profile(
            provider=f"{there.issuer}/{DIRECTORY}/v2.0",
            subject="AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
            name="Abe Lincoln",
            email="AbeLi@microsoft.com",
            email_verified=False,
        )

    @pytest.mark.parametrize(
        ("said", "verified"),
        [
            (True, True),
            ("1", True),
            ("true", True),
            (False, False),
            ("0", False),
            (None, False),
            ([True], False),
        ],
    )
    def test_an_address_counts_when_its_domain_is_the_directorys_own(self, there, said, verified):
        """An administrator of a directory can write any address into it, and call it verified."""
        self.answers(there, xms_edov=said, email_verified=True)

        assert vouched_for("microsoft").email_verified is verified

    @pytest.mark.parametrize(
        "claims",
        [
            {"tid": "11111111-2222-3333-4444-555555555555"},
            {"tid": None},
            {"tid": ["x"]},
            {"tid": "../evil"},
            {"iss": "https://login.evil.example/x/v2.0"},
        ],
    )
    def test_the_issuer_has_to_be_the_directory_that_is_named(self, there, claims):
        self.answers(there, **claims)

        with pytest.raises(ProviderError, match="is not valid"):
            vouched_for("microsoft")

    def test_one_directory_takes_nobody_of_another(self, there):
        other = "11111111-2222-3333-4444-555555555555"
        self.answers(there, DIRECTORY, tid=other, iss=f"{there.issuer}/{other}/v2.0")

        with pytest.raises(ProviderError, match="is not valid"):
            vouched_for("microsoft", tenant_id=DIRECTORY)
        self.answers(there, DIRECTORY)
        assert vouched_for("microsoft", tenant_id=DIRECTORY).name == "Abe Lincoln"


PERSON = {
    "login": "octocat",
    "id": 583231,
    "node_id": "MDQ6VXNlcjU4MzIzMQ==",
    "avatar_url": "https://avatars.githubusercontent.com/u/583231?v=4",
    "name": "The Octocat",
    "email": "public@example.com",
}
EMAILS = [
    {"email": "octocat@users.noreply.github.com", "verified": True, "primary": False, "visibility": None},
    {"email": "octocat@example.com", "verified": True, "primary": True, "visibility": "private"},
]


@pytest.mark.usefixtures("acme_active")
class TestGitHub:
    """On a server of its own, whose API is below ``/api/v3``."""

    @pytest.fixture(autouse=True)
    def github(self, web_provider):
        given = {"access_token": "gho_theirs", "scope": "read:user,user:email", "token_type": "bearer"}
        web_provider.answers |= {
            "/login/oauth/access_token": answer(200, given),
            "/api/v3/user": answer(200, PERSON),
            "/api/v3/user/emails": answer(200, EMAILS),
        }

    def vouched_for(self, web: WebProvider) -> Profile:
        return vouched_for("github", endpoint=f"{web.address}/")

    def test_is_asked_as_its_reference_says(self, web_provider):
        asked = query_of(sent_to("github", endpoint=web_provider.address))

        assert asked["scope"] == "read:user user:email"
        assert "nonce" not in asked
        assert asked["code_challenge_method"] == "S256"

    def test_vouches_for_the_number_of_an_account_and_its_primary_address(self, web_provider):
        assert self.vouched_for(web_provider) == Profile(
            provider=web_provider.address,
            subject="583231",
            name="The Octocat",
            email="octocat@example.com",
            email_verified=True,
            avatar="https://avatars.githubusercontent.com/u/583231?v=4",
        )
        for asked in web_provider.asked[1:]:
            assert asked.headers["authorization"] == "Bearer gho_theirs"
            assert asked.headers["user-agent"] == "Gatehouse"

    def test_the_public_server_is_another_provider(self):
        _, whole, endpoints = prepared("github")

        assert whole["endpoint"] == "https://github.com"
        assert endpoints.userinfo == "https://api.github.com/user"

    @pytest.mark.parametrize(
        ("emails", "found"),
        [
            (answer(404, {"message": "Not Found"}), ("", False)),
            (answer(200, []), ("", False)),
            (answer(200, {"email": "x@example.com"}), ("", False)),
            (answer(200, [1, None, {"primary": "yes"}]), ("", False)),
            (answer(200, [EMAILS[1] | {"verified": False}]), ("octocat@example.com", False)),
            (answer(200, [EMAILS[1] | {"verified": "yes"}]), ("octocat@example.com", False)),
            ((200, {}, b"<html>"), ("", False)),
        ],
    )
    def test_without_a_verified_primary_address_there_is_none(self, web_provider, emails, found):
        web_provider.answers["/api/v3/user/emails"] = emails

        profile = self.vouched_for(web_provider)

        assert (profile.email, profile.email_verified) == found

    @pytest.mark.parametrize(
        "person",
        [
            answer(401, {"message": "Bad credentials"}),
            answer(200, {}),
            answer(200, []),
            answer(200, PERSON | {"id": None}),
            answer(200, PERSON | {"id": True}),
            answer(200, PERSON | {"id": {"x": 1}}),
            (200, {}, b"\xff"),
        ],
    )
    def test_without_a_number_it_vouches_for_nobody(self, web_provider, person):
        web_provider.answers["/api/v3/user"] = person

        with pytest.raises(ProviderError, match="who signed in"):
            self.vouched_for(web_provider)

    def test_a_refusal_that_is_a_200_is_one(self, web_provider):
        refusal = {"error": "bad_verification_code", "error_description": "The code passed is incorrect."}
        web_provider.answers["/login/oauth/access_token"] = answer(200, refusal)

        with pytest.raises(ProviderError, match="does not accept the code"):
            self.vouched_for(web_provider)


@pytest.mark.usefixtures("acme_active")
class TestOAuth2:
    def config(self, web: WebProvider, **changes: Any) -> dict[str, Any]:
        members = {"id_member": "data.user.id", "name_member": "data.nick", "email_member": "data.mail"}
        ways = {
            f"{name}_endpoint": f"{web.address}/{name}" for name in ("authorization", "token", "userinfo")
        }
        return ways | members | changes

    @pytest.fixture(autouse=True)
    def answers(self, web_provider):
        person = {"data": {"user": {"id": 42}, "nick": "ada", "mail": "ada@example.com", "sure": True}}
        web_provider.answers |= {
            "/token": answer(200, {"access_token": "theirs", "token_type": "bearer"}),
            "/userinfo": answer(200, person),
        }

    @pytest.mark.parametrize(("member", "verified"), [("", False), ("data.sure", True), ("data.nick", False)])
    def test_says_what_the_configuration_names(self, web_provider, member, verified):
        config = self.config(web_provider, email_verified_member=member)

        assert vouched_for("oauth2", **config) == Profile(
            provider=f"{web_provider.address}/userinfo",
            subject="42",
            name="ada",
            email="ada@example.com",
            email_verified=verified,
        )

    @pytest.mark.parametrize("member", ["nothing", "data", "data.user", "data.nick.x", "..", "data."])
    def test_without_an_id_it_vouches_for_nobody(self, web_provider, member):
        with pytest.raises(ProviderError, match="who signed in"):
            vouched_for("oauth2", **self.config(web_provider, id_member=member))

    def test_an_address_may_bring_parameters_of_its_own(self, web_provider):
        way = f"{web_provider.address}/authorization?tenant=x"

        asked = query_of(sent_to("oauth2", **self.config(web_provider, authorization_endpoint=way)))

        assert (asked["tenant"], asked["state"]) == ("x", "our-state")


@pytest.mark.usefixtures("acme_active")
def test_a_provider_that_asks_for_the_secret_in_the_header_gets_it_there(web_provider):
    there = OpenIDProvider(web_provider)
    there.publish(token_endpoint_auth_methods_supported=["client_secret_basic"])
    there.web.answers["/token"] = tokens(there, iss=there.issuer, sub="1", email="a@b.example", name="A")

    assert vouched_for("oidc", issuer=there.issuer).subject == "1"

    (asked,) = [asked for asked in web_provider.asked if asked.path == "/token"]
    assert "client_secret" not in asked.form
    assert openid.CLIENT["client_secret"] not in str(asked.form)
