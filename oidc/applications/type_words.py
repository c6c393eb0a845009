"""The types of applications in words, for people who choose one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy as _

from identity.operator_kit.texts import Text
from oidc.applications.models import Application


@dataclass(frozen=True, slots=True)
class TypeWords:
    """The name of a type, and who should choose it."""

    name: Text
    sentence: Text


TYPES: Final[Mapping[str, TypeWords]] = {
    Application.Type.TRADITIONAL: TypeWords(
        _("Web app"), _("Runs on a server, which keeps a client secret. Django, Flask, Express, Rails, PHP.")
    ),
    Application.Type.SPA: TypeWords(
        _("Single-page app"), _("Runs in the browser and has no secret. It uses PKCE. React, Vue, Angular.")
    ),
    Application.Type.NATIVE: TypeWords(
        _("Mobile or desktop app"),
        _("Is installed on a device and has no secret. It uses PKCE. iOS, Android."),
    ),
    Application.Type.MACHINE: TypeWords(
        _("Service"), _("Calls APIs as itself, without a user: machine to machine. It keeps a client secret.")
    ),
}
