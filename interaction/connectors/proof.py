"""Connectors that decide on second factors, which an old token of an administrator must not change.

Otherwise a stolen token could have the codes of all users sent through a mail server of its own. While
sign-ins with a social connector skip the second factor, it could choose the user whom the provider signs in,
for example with another ``id_member`` of OAuth 2.
"""

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.utils.module_loading import import_string

from identity.core.proof import TokenTooOld
from identity.users import code_factors
from identity.users.identifiers import Kind
from interaction.connectors.models import Connector

_KINDS: Final[Mapping[str, Kind]] = {Connector.Type.EMAIL: Kind.EMAIL, Connector.Type.SMS: Kind.PHONE}


def sends_codes(connector: Connector) -> bool:
    """Return whether a connector, once it is enabled, may send codes that are a second factor."""
    return _may_send_codes(connector.type)


def passes_second_factors(connector: Connector) -> bool:
    """Return whether a connector, once it is enabled, may send such codes or sign users in without them."""
    return sends_codes(connector) or _skips_factors(connector.type)


def check(connector_type: str, *, is_proven: bool) -> None:
    """Check that a caller may create or change a connector of a type.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: such a connector may send codes of second factors, or a sign-in with it skips them, and
            ``is_proven`` is false.

    """
    if not is_proven and (_may_send_codes(connector_type) or _skips_factors(connector_type)):
        raise TokenTooOld


def check_end(connector_type: str, *, is_proven: bool) -> None:
    """Check that a caller may disable or delete a connector of a type.

    Messages then go through the next connector of the type, which may have been created before the codes were
    a second factor.

    Raises:
        TokenTooOld: such a connector may send codes of second factors, and ``is_proven`` is false.

    """
    if not is_proven and _may_send_codes(connector_type):
        raise TokenTooOld


def _may_send_codes(connector_type: str) -> bool:
    """Return whether connectors of a type send codes that are a second factor of the active tenant."""
    kind = _KINDS.get(connector_type)
    return kind is not None and kind in code_factors.find_kinds()


def _skips_factors(connector_type: str) -> bool:
    """Return whether sign-ins with connectors of a type skip the second factor in the active tenant."""
    is_social = connector_type == Connector.Type.SOCIAL
    return is_social and bool(import_string(settings.SOCIAL_SKIPS_FACTORS)())
