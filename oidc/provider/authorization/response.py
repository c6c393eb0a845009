"""The response of the authorization endpoint to the client, and the ways to send it there."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from identity.core import tenancy

FORM_POST: Final = "form_post"
# The values of ``response_mode``. The first is the default.
MODES: Final = ("query", "fragment", FORM_POST)


@dataclass(frozen=True, slots=True)
class ClientResponse:
    """The parameters for the client, and how they get to its redirect URI."""

    redirect_uri: str
    mode: str
    parameters: dict[str, str]

    @property
    def url(self) -> str:
        """The redirect URI, whose own query is kept, with the parameters in the query or the fragment."""
        if self.mode == "fragment":
            return f"{self.redirect_uri}#{urlencode(self.parameters)}"
        separator = "&" if "?" in self.redirect_uri else "?"
        return f"{self.redirect_uri}{separator}{urlencode(self.parameters)}"


class Refused(Exception):
    """The request is refused, and the client gets ``response``, which has the error."""

    def __init__(self, response: ClientResponse) -> None:
        self.response = response
        super().__init__(response.parameters["error"])


def build(redirect_uri: str, mode: str, state: str | None, parameters: dict[str, str]) -> ClientResponse:
    """Return a response with these parameters, the ``state`` that was sent, and the issuer.

    If the mode is unknown or the redirect URI does not allow it, the response is sent in the query. The
    parameters are then those of the error.
    """
    if mode not in MODES or not is_possible(mode, redirect_uri):
        mode = MODES[0]
    if state is not None:
        parameters = parameters | {"state": state}
    # RFC 9207 section 2: in successful responses and in error responses.
    return ClientResponse(redirect_uri, mode, parameters | {"iss": tenancy.active().issuer})


def is_possible(mode: str, redirect_uri: str) -> bool:
    """Return whether a redirect URI can get a response in this mode. A private scheme gets no forms."""
    return mode != FORM_POST or redirect_uri.startswith(("https:", "http:"))
