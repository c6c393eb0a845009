"""Connectors that may send codes of second factors, which an old token of an administrator must not change.

Otherwise a stolen token could have the codes of all users sent through a mail server of its own.
"""

from collections.abc import Mapping
from typing import Final

from identity.core.proof import TokenTooOld
from identity.users import code_factors
from identity.users.identifiers import Kind
from interaction.connectors.models import Connector

_KINDS: Final[Mapping[str, Kind]] = {Connector.Type.EMAIL: Kind.EMAIL, Connector.Type.SMS: Kind.PHONE}


def sends_codes(connector: Connector) -> bool:
    """Return whether a connector, once it is enabled, may send codes that are a second factor."""
    return may_send_codes(connector.type)


def may_send_codes(connector_type: str) -> bool:
    """Return whether connectors of a type send codes that are a second factor of the active tenant."""
    kind = _KINDS.get(connector_type)
    return kind is not None and kind in code_factors.find_kinds()


def check(connector_type: str, *, is_proven: bool) -> None:
    """Check that a caller may create or change a connector of a type.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: such a connector may send codes of second factors, and ``is_proven`` is false.

    """
    if not is_proven and may_send_codes(connector_type):
        raise TokenTooOld
