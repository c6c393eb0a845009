"""oidcc-config-certification-test-plan: what the discovery document says of itself."""

import re
from typing import Final

from tests.conformance.suite import Suite, is_json
from tests.conformance.verdict import Verdict

# The registry of authorization server metadata at IANA, as far as the suite knows it.
KNOWN: Final = {
    *("issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"),
    *("registration_endpoint", "revocation_endpoint", "introspection_endpoint", "end_session_endpoint"),
    *("device_authorization_endpoint", "pushed_authorization_request_endpoint", "mtls_endpoint_aliases"),
    *("scopes_supported", "response_types_supported", "response_modes_supported", "grant_types_supported"),
    *(
        "acr_values_supported",
        "subject_types_supported",
        "display_values_supported",
        "prompt_values_supported",
    ),
    *("claim_types_supported", "claims_supported", "claims_locales_supported", "ui_locales_supported"),
    *("claims_parameter_supported", "request_parameter_supported", "request_uri_parameter_supported"),
    *("require_request_uri_registration", "require_signed_request_object", "service_documentation"),
    *("op_policy_uri", "op_tos_uri", "check_session_iframe", "code_challenge_methods_supported"),
    *("frontchannel_logout_supported", "frontchannel_logout_session_supported"),
    *("backchannel_logout_supported", "backchannel_logout_session_supported"),
    *("id_token_signing_alg_values_supported", "id_token_encryption_alg_values_supported"),
    *("id_token_encryption_enc_values_supported", "userinfo_signing_alg_values_supported"),
    *("userinfo_encryption_alg_values_supported", "userinfo_encryption_enc_values_supported"),
    *("request_object_signing_alg_values_supported", "request_object_encryption_alg_values_supported"),
    *("request_object_encryption_enc_values_supported", "require_pushed_authorization_requests"),
    *("token_endpoint_auth_methods_supported", "token_endpoint_auth_signing_alg_values_supported"),
    *("revocation_endpoint_auth_methods_supported", "revocation_endpoint_auth_signing_alg_values_supported"),
    *("introspection_endpoint_auth_methods_supported", "tls_client_certificate_bound_access_tokens"),
    *("introspection_endpoint_auth_signing_alg_values_supported", "dpop_signing_alg_values_supported"),
    *("authorization_response_iss_parameter_supported", "authorization_details_types_supported"),
    *("authorization_signing_alg_values_supported", "signed_metadata"),
}
_SUBJECT_TYPES: Final = {"public", "pairwise"}
# RFC 6749 section 3.3.
_SCOPE: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
# RFC 5646 section 2.1.1: language in small letters, script with a capital, region in capitals.
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")


def is_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def endpoints(said: dict[str, object], verdict: Verdict) -> None:
    """Every address there is, is one of https."""
    for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"):
        verdict.shall(name in said, f"{name} is missing")
    addresses = [name for name in said if name.endswith("_endpoint") or name == "jwks_uri"]
    for name in addresses:
        verdict.shall(re.fullmatch(r"https://[^/?#@]+/[^?#]*", str(said[name])), f"{name} is {said[name]}")


def lists(said: dict[str, object], verdict: Verdict) -> None:
    """What is supported is listed, in words that mean something."""
    for name in ("grant_types_supported", "code_challenge_methods_supported", "scopes_supported"):
        verdict.shall(is_list(said.get(name)), f"{name} is no list")
    scopes, languages = said.get("scopes_supported"), said.get("ui_locales_supported", [])
    assert isinstance(scopes, list)
    assert isinstance(languages, list)
    verdict.shall("openid" in scopes, "openid is no scope")
    verdict.shall(all(_SCOPE.fullmatch(scope) for scope in scopes), f"no scopes: {scopes}")
    verdict.shall(all(_LANGUAGE.fullmatch(tag) for tag in languages), f"no languages: {languages}")
    types = said.get("subject_types_supported")
    verdict.shall(is_list(types) and set(types) <= _SUBJECT_TYPES, f"subject types: {types}")  # type: ignore[call-overload]
    verdict.shall("code" in str(said.get("response_types_supported")), "code is no response type")
    verdict.should(is_list(said.get("claims_supported")), "claims_supported is no list")


def test_oidcc_discovery_endpoint_verification(suite: Suite) -> None:
    address = suite.config["server"]["discoveryUrl"]
    answer = suite.http.get(address)
    verdict = suite.verdict
    verdict.must(is_json(answer, 200), f"discovery says {answer.status_code}")
    said = answer.json()

    issuer = address.removesuffix("/.well-known/openid-configuration")
    verdict.shall(said["issuer"].rstrip("/") == issuer, f"issuer is {said['issuer']}")
    verdict.shall(re.fullmatch(r"https://[^?#@]+", said["issuer"]), "the issuer is no plain https address")
    unknown = sorted(said.keys() - KNOWN)
    verdict.should(not unknown, f"nobody knows {', '.join(unknown)}")
    endpoints(said, verdict)
    lists(said, verdict)
    algorithms = said["id_token_signing_alg_values_supported"]
    verdict.shall("RS256" in algorithms, f"RS256 is not among {', '.join(algorithms)}")
    verdict.shall(said.get("request_uri_parameter_supported") is False, "request_uri counts as supported")
    request_objects = said.get("request_object_signing_alg_values_supported", ["RS256"])
    verdict.should("RS256" in request_objects, "request objects cannot be signed with RS256")
