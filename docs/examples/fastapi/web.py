"""A web application in FastAPI that lets Gatehouse sign its users in, with Authlib."""

import os

from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.middleware.sessions import SessionMiddleware

ISSUER, ORIGIN = os.environ["ISSUER"], os.environ["ORIGIN"]

app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=os.environ["SESSION_SECRET"])
provider = OAuth().register(
    name="gatehouse",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
async def home(request: Request) -> dict[str, str]:
    """Say who is signed in."""
    return request.session.get("user", {})


@app.get("/login")
async def login(request: Request) -> Response:
    """Send the browser to Gatehouse."""
    return await provider.authorize_redirect(request, f"{ORIGIN}/callback")


@app.get("/callback")
async def callback(request: Request) -> Response:
    """Redeem the code; the ID token is checked when this returns."""
    claims = (await provider.authorize_access_token(request))["userinfo"]
    request.session["user"] = {"sub": claims["sub"], "name": claims.get("name", "")}
    return RedirectResponse("/")
