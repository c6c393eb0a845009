"""Authlib in Flask. A whole application built on it: docs/examples/relying_party."""

import os
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, request, session

ISSUER, ORIGIN = os.environ["ISSUER"], os.environ["ORIGIN"]
CLIENT_ID, CLIENT_SECRET = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]

app = Flask(__name__)
app.secret_key = "signs the cookie"
kept = {}

# settings
provider = OAuth(app).register(
    name="gatehouse",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)
# end of settings


@app.get("/")
def home():
    return kept if session.get("in") else {}


@app.get("/login")
def login():
    return provider.authorize_redirect(f"{ORIGIN}/callback", **request.args)


@app.get("/callback")
def callback():
    kept.update(provider.authorize_access_token())
    kept.update(kept.pop("userinfo"))
    session["in"] = True
    return redirect("/")


@app.get("/userinfo")
def userinfo():
    return provider.userinfo(token=kept)


@app.get("/refresh")
def refresh():
    kept.update(provider.fetch_access_token(grant_type="refresh_token", refresh_token=kept["refresh_token"]))
    kept.update(provider.parse_id_token(kept, nonce=None))
    return redirect("/")


@app.get("/logout")
def logout():
    del session["in"]
    return provider.logout_redirect(f"{ORIGIN}/logged-out", id_token_hint=kept["id_token"])


@app.get("/logged-out")
def logged_out():
    provider.validate_logout_response()
    return redirect("/")


app.run("127.0.0.1", urlsplit(ORIGIN).port)
