"""requests-oauthlib: OAuth 2 alone. The ID token is checked with PyJWT."""

from urllib.parse import urlencode

import jwt
from relying_party import CLIENT_ID, CLIENT_SECRET, ISSUER, ORIGIN, serve
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

# settings
client = OAuth2Session(
    CLIENT_ID,
    redirect_uri=f"{ORIGIN}/callback",
    scope=["openid", "profile", "email", "offline_access"],
    pkce="S256",
)
keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json")


def claims_of(token):
    key = keys.get_signing_key_from_jwt(token)
    return jwt.decode(token, key, algorithms=["ES256"], issuer=ISSUER, audience=CLIENT_ID)


# end of settings

basic = HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET)


def home(_):
    return client.token and client.token | claims_of(client.token["id_token"])


def login(_):
    address, _state = client.authorization_url(f"{ISSUER}/oidc/authorize")
    return address


def callback(query):
    address = f"{ORIGIN}/callback?{urlencode(query)}".replace("http:", "https:")  # it refuses loopback else
    client.fetch_token(f"{ISSUER}/oidc/token", authorization_response=address, auth=basic)
    return "/"


def userinfo(_):
    return client.get(f"{ISSUER}/oidc/userinfo").json()


def refresh(_):
    client.refresh_token(f"{ISSUER}/oidc/token", auth=basic)
    return "/"


def logout(_):
    parameters = {"id_token_hint": client.token["id_token"], "post_logout_redirect_uri": f"{ORIGIN}/"}
    client.token = {}
    return f"{ISSUER}/oidc/end-session?{urlencode(parameters)}"


serve(home=home, login=login, callback=callback, userinfo=userinfo, refresh=refresh, logout=logout)
