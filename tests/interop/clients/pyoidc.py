"""oic, also called pyoidc."""

from urllib.parse import urlencode

from oic import rndstr
from oic.oic import Client
from oic.oic.message import AuthorizationResponse, RegistrationResponse
from oic.utils.authn.client import CLIENT_AUTHN_METHOD
from relying_party import CLIENT_ID, CLIENT_SECRET, ISSUER, ORIGIN, serve

# settings
client = Client(
    client_authn_method=CLIENT_AUTHN_METHOD,
    config={"code_challenge": {"method": "S256", "length": 64}},
)
client.provider_config(ISSUER)
client.store_registration_info(
    RegistrationResponse(
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        redirect_uris=[f"{ORIGIN}/callback"],
    )
)
# end of settings

asked, tokens = {}, {}


def home(_):
    return (tokens["id_token"].to_dict() | {name: tokens[name] for name in PLAIN}) if tokens else {}


def login(_):
    challenge, verifier = client.add_code_challenge()
    asked.update(state=rndstr(), nonce=rndstr(), verifier=verifier)
    request = client.construct_AuthorizationRequest(
        request_args={
            "client_id": CLIENT_ID,
            "response_type": "code",
            "scope": ["openid", "profile", "email", "offline_access"],
            "redirect_uri": f"{ORIGIN}/callback",
            "state": asked["state"],
            "nonce": asked["nonce"],
            **challenge,
        }
    )
    return request.request(client.authorization_endpoint)


PLAIN = ("access_token", "refresh_token")


def callback(query):
    answer = client.parse_response(AuthorizationResponse, info=query, sformat="dict")
    assert answer["state"] == asked["state"]
    got = client.do_access_token_request(
        state=asked["state"],
        request_args={"code": answer["code"], "redirect_uri": f"{ORIGIN}/callback"},
        extra_args={"code_verifier": asked["verifier"]},
        authn_method="client_secret_basic",
    )
    assert got["id_token"]["nonce"] == asked["nonce"]
    tokens.update(got)
    return "/"


def userinfo(_):
    return client.do_user_info_request(state=asked["state"]).to_dict()


def refresh(_):
    got = client.do_access_token_refresh(state=asked["state"], authn_method="client_secret_basic")
    tokens.update(got)
    return "/"


def logout(_):
    hint = tokens["id_token"].jwt if hasattr(tokens["id_token"], "jwt") else tokens["id_token_jwt"]
    tokens.clear()
    parameters = {"id_token_hint": hint, "post_logout_redirect_uri": f"{ORIGIN}/"}
    return f"{client.end_session_endpoint}?{urlencode(parameters)}"


serve(home=home, login=login, callback=callback, userinfo=userinfo, refresh=refresh, logout=logout)
