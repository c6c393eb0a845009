"""What discovery and tokens of a tenant that switched nothing on say more than they did in release 0.1.3.

Nothing else may change (decisions P1 and Q2). A new member needs a line in one of the tables here.
"""

from typing import Any

from identity.users.models import User
from tests.support.cast import query_of
from tests.support.independent import claims_of

DISCOVERY_0_1_3 = {
    *("issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "revocation_endpoint"),
    *("end_session_endpoint", "jwks_uri", "scopes_supported", "response_types_supported"),
    *("response_modes_supported", "grant_types_supported", "subject_types_supported"),
    *("id_token_signing_alg_values_supported", "token_endpoint_auth_methods_supported"),
    *("code_challenge_methods_supported", "claims_supported", "claims_parameter_supported"),
    *("revocation_endpoint_auth_methods_supported", "prompt_values_supported"),
    *("authorization_response_iss_parameter_supported", "request_parameter_supported"),
    "request_uri_parameter_supported",
}
DISCOVERY_VALUES_0_1_3: dict[str, Any] = {
    "scopes_supported": [
        *("openid", "profile", "email", "phone", "offline_access"),
        *("urn:service:scope:organizations", "urn:service:scope:organization_roles"),
    ],
    "response_types_supported": ["code"],
    "response_modes_supported": ["query", "fragment"],
    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["ES256"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "code_challenge_methods_supported": ["S256"],
    "claims_supported": [
        *("sub", "iss", "aud", "exp", "iat", "name", "email", "email_verified", "phone_number"),
        *("phone_number_verified", "picture", "username", "organizations", "organization_roles"),
        *("organization_id", "organization_is_admin", "gender", "updated_at", "auth_time", "nonce", "amr"),
        *("sid", "at_hash"),
    ],
    "claims_parameter_supported": True,
    "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "prompt_values_supported": ["none", "login", "consent", "select_account"],
    "authorization_response_iss_parameter_supported": True,
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
}
ID_TOKEN_0_1_3 = {
    *("iss", "sub", "aud", "iat", "exp", "sid", "at_hash", "auth_time", "amr", "nonce"),
    *("name", "username", "picture", "email", "email_verified"),
}
ACCESS_TOKEN_0_1_3 = {"iss", "sub", "aud", "client_id", "iat", "exp", "jti", "scope", "family_id"}
MACHINE_TOKEN_0_1_3 = {"iss", "sub", "aud", "client_id", "iat", "exp", "jti", "scope", "token_type"}
USERINFO_0_1_3 = {
    *("sub", "name", "username", "picture", "gender", "updated_at", "email", "email_verified"),
    *("phone_number", "phone_number_verified", "organizations", "organization_roles"),
}

MORE_IN_LISTS = {
    "response_modes_supported": ["form_post"],
    "scopes_supported": ["address", "roles", "groups"],
    "claims_supported": [
        *("azp", "preferred_username", "given_name", "family_name", "middle_name", "nickname", "profile"),
        *("website", "birthdate", "zoneinfo", "locale", "address", "roles", "groups"),
    ],
}
MORE_IN_ID_TOKENS = {"preferred_username"}
MORE_IN_ACCESS_TOKENS = {"azp"}
MORE_AT_USERINFO = {"preferred_username"}

EVERY_SCOPE = " ".join(DISCOVERY_VALUES_0_1_3["scopes_supported"])


def sign_in(acme):
    """Return an application, and its tokens of a user of whom everything is known."""
    user = acme.user(
        name="Ada Lovelace",
        email="ada@acme.example",
        phone="+442079460018",
        avatar="https://acme.example/ada.png",
        custom_data={"gender": "female", "given_name": "Augusta", "roles": ["all"], "groups": ["all"]},
    )
    client = acme.application()
    return client, user, client.tokens_for(user, scope=EVERY_SCOPE)


def test_decision_P1_discovery_has_the_members_of_0_1_3(acme):
    document = acme.get("/.well-known/openid-configuration").json()

    assert set(document) == DISCOVERY_0_1_3


def test_decision_P1_P3_lists_of_discovery_begin_with_those_of_0_1_3_and_end_with_the_listed_values(acme):
    document = acme.get("/.well-known/openid-configuration").json()

    told = {name: document[name] for name in DISCOVERY_VALUES_0_1_3}
    listed = {name: DISCOVERY_VALUES_0_1_3[name] + more for name, more in MORE_IN_LISTS.items()}
    assert told == DISCOVERY_VALUES_0_1_3 | listed


def test_decision_P1_tokens_and_userinfo_have_the_claims_of_0_1_3_and_the_listed_ones(acme):
    client, _, tokens = sign_in(acme)

    assert set(claims_of(tokens["id_token"])) == ID_TOKEN_0_1_3 | MORE_IN_ID_TOKENS
    assert set(claims_of(tokens["access_token"])) == ACCESS_TOKEN_0_1_3 | MORE_IN_ACCESS_TOKENS
    assert set(client.userinfo(tokens["access_token"]).json()) == USERINFO_0_1_3 | MORE_AT_USERINFO


def test_decision_P1_a_refresh_has_the_claims_of_0_1_3_and_the_listed_ones(acme):
    client, _, tokens = sign_in(acme)

    fresh = client.refresh(tokens["refresh_token"]).json()

    assert set(claims_of(fresh["id_token"])) == (ID_TOKEN_0_1_3 | MORE_IN_ID_TOKENS) - {"nonce"}
    assert set(claims_of(fresh["access_token"])) == ACCESS_TOKEN_0_1_3 | MORE_IN_ACCESS_TOKENS


def test_decision_P1_a_machine_token_has_the_claims_of_0_1_3_and_the_listed_ones(acme):
    machine = acme.application("MachineToMachine")

    token = machine.token(grant_type="client_credentials").json()["access_token"]

    assert set(claims_of(token)) == MACHINE_TOKEN_0_1_3 | MORE_IN_ACCESS_TOKENS
    assert claims_of(token)["azp"] == machine.client_id


def test_decision_Q1_preferred_username_is_the_username_and_has_no_other_place(acme):
    client, user, tokens = sign_in(acme)

    assert claims_of(tokens["id_token"])["preferred_username"] == user.username
    assert client.userinfo(tokens["access_token"]).json()["preferred_username"] == user.username
    for scope in ("openid", "openid email phone"):
        bare = client.tokens_for(user, scope=scope)
        assert "preferred_username" not in claims_of(bare["id_token"])
        assert "preferred_username" not in client.userinfo(bare["access_token"]).json()


def test_decision_Q1_a_user_without_a_username_has_no_preferred_username(acme):
    client, user = acme.application(), acme.user(email="ada@acme.example")
    browser = acme.browser()
    code = browser.code_for(client, user)
    with acme.active():
        User.objects.filter(pk=user.pk).update(username="", username_key=None)

    tokens = client.redeem(code).json()

    assert "preferred_username" not in claims_of(tokens["id_token"])
    assert "preferred_username" not in client.userinfo(tokens["access_token"]).json()


def test_decision_Q1_preferred_username_is_requested_alone_with_claims(acme):
    client, user = acme.application(), acme.user()

    tokens = client.tokens_for(
        user,
        scope="openid offline_access",
        claims='{"userinfo": {"preferred_username": null}, "id_token": {"preferred_username": null}}',
    )
    fresh = client.refresh(tokens["refresh_token"]).json()

    for answer in (tokens, fresh):
        assert claims_of(answer["id_token"])["preferred_username"] == user.username
        told = client.userinfo(answer["access_token"]).json()
        assert told == {"sub": str(user.pk), "preferred_username": user.username}


def test_decision_Q1_a_third_party_gets_preferred_username_only_with_consent_to_the_profile(acme):
    client, user = acme.application(is_third_party=True), acme.user()
    browser = acme.browser()
    browser.sign_in(user)

    answer = browser.authorize(
        client, scope="openid", prompt="none", claims='{"userinfo": {"preferred_username": null}}'
    )

    assert query_of(answer.headers["Location"])["error"] == "consent_required"
