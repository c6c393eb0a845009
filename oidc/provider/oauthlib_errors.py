"""Translation of oauthlib's errors."""

import re
from typing import Final

from oauthlib.oauth2 import OAuth2Error

from oidc.provider.errors import InvalidRequest, OAuthError, WrongVerifier

_CLASSES: Final = {error.code: error for error in (InvalidRequest, WrongVerifier)}
# Descriptions of oauthlib that do not spell the name of the parameter.
_DESCRIPTIONS: Final = {
    "Code verifier required.": "The parameter code_verifier is missing.",
    "Invalid redirect URI.": "redirect_uri must be an absolute URI.",
    "Missing redirect URI.": "The parameter redirect_uri is missing.",
    "Missing refresh token parameter.": "The parameter refresh_token is missing.",
}
_MISSING: Final = re.compile(r"Missing (\w+) parameter\.")


def translate(error: OAuth2Error) -> OAuthError:
    """Return our error for one that oauthlib raised itself: a parameter is missing, or PKCE failed."""
    return _CLASSES.get(error.error, InvalidRequest)(describe(error))


def describe(error: OAuth2Error) -> str:
    """Return the description of oauthlib's error in the words of our own errors."""
    found: str = error.description
    return _DESCRIPTIONS.get(found) or _MISSING.sub(r"The parameter \1 is missing.", found)
