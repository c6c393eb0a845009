"""The OpenID provider by which administrators may sign in."""

from dataclasses import dataclass
from typing import Final

from config import env

_NAMES: Final = ("ISSUER", "CLIENT_ID", "CLIENT_SECRET")


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, and which of its sign-ins replace our own second step. No issuer means no provider."""

    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    label: str = ""
    two_step: str = "own"
    acr_values: tuple[str, ...] = ()


def read(prefix: str, *, development: bool) -> Provider:
    """Read the provider from the variables that begin with ``prefix``.

    Raises:
        ImproperlyConfigured: a variable is missing or breaks its rule.

    """
    values = {name: env.text(f"{prefix}{name}") for name in _NAMES}
    if not any(values.values()):
        return Provider()
    if missing := [f"{prefix}{name}" for name, value in values.items() if not value]:
        raise env.refuse(missing[0], f"is required with the other variables of {prefix}*")
    issuer = values["ISSUER"]
    allowed = ("https://", "http://") if development else ("https://",)
    if not issuer.startswith(allowed) or not issuer.isprintable() or set(issuer) & set(" ?#"):
        raise env.refuse(f"{prefix}ISSUER", "must be an https URL without query and fragment")
    return Provider(
        issuer=issuer,
        client_id=values["CLIENT_ID"],
        client_secret=values["CLIENT_SECRET"],
        label=env.text(f"{prefix}LABEL", "single sign-on"),
        two_step=env.choice(f"{prefix}TWO_STEP", ("own", "provider"), "own"),
        acr_values=tuple(env.listing(f"{prefix}ACR_VALUES")),
    )
