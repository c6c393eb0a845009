"""Translation of oauthlib's errors."""

from typing import Final

from oauthlib.oauth2 import OAuth2Error

from oidc.provider.errors import InvalidRequest, OAuthError, WrongVerifier

_CLASSES: Final = {error.code: error for error in (InvalidRequest, WrongVerifier)}
# Descriptions of oauthlib that do not spell the name of the parameter.
_DESCRIPTIONS: Final = {"Missing refresh token parameter.": "Missing refresh_token parameter."}


def translate(error: OAuth2Error) -> OAuthError:
    """Return our error for one that oauthlib raised itself: a parameter is missing, or PKCE failed."""
    description = _DESCRIPTIONS.get(error.description, error.description)
    return _CLASSES.get(error.error, InvalidRequest)(description)
