"""The endpoints of OpenID Connect."""

from django.urls import path

from oidc.keys.views import jwks
from oidc.provider.discovery import discovery
from oidc.provider.views.authorize import authorize, resume
from oidc.provider.views.end_session import end_session
from oidc.provider.views.revoke import revoke
from oidc.provider.views.token import token
from oidc.provider.views.userinfo import userinfo

oidc = [
    path(".well-known/openid-configuration", discovery, name="discovery"),
    path(".well-known/oauth-authorization-server", discovery, name="metadata"),
    path(".well-known/jwks.json", jwks, name="jwks"),
    # For clients that are configured with …/oidc as the provider. The issuer is the same.
    path("oidc/.well-known/openid-configuration", discovery, name="discovery-below"),
    path("oidc/authorize", authorize, name="authorize"),
    path("oidc/authorize/<uuid:request_id>", resume, name="resume"),
    path("oidc/token", token, name="token"),
    path("oidc/revoke", revoke, name="revoke"),
    path("oidc/userinfo", userinfo, name="userinfo"),
    path("oidc/end-session", end_session, name="end-session"),
]
