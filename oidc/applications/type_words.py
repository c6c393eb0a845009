"""The types of applications in words, for people who choose one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oidc.applications.models import Application


@dataclass(frozen=True, slots=True)
class TypeWords:
    """The name of a type, and who should choose it."""

    name: str
    sentence: str


TYPES: Final[Mapping[str, TypeWords]] = {
    Application.Type.TRADITIONAL: TypeWords(
        "Web app", "Runs on a server, which keeps a client secret. Django, Flask, Express, Rails, PHP."
    ),
    Application.Type.SPA: TypeWords(
        "Single-page app", "Runs in the browser and has no secret. It uses PKCE. React, Vue, Angular."
    ),
    Application.Type.NATIVE: TypeWords(
        "Mobile or desktop app", "Is installed on a device and has no secret. It uses PKCE. iOS, Android."
    ),
    Application.Type.MACHINE: TypeWords(
        "Service", "Calls APIs as itself, without a user: machine to machine. It keeps a client secret."
    ),
}
