"""The limits there are, with the numbers of the settings."""

from typing import Final

from django.conf import settings

from identity.limits.services import Limit, Lock

_WINDOW: Final = settings.LIMIT_ADDRESS_SECONDS

REGISTRATIONS: Final = Limit("address registers", settings.LIMIT_ADDRESS_REGISTRATIONS, _WINDOW)
CODE_SENDS: Final = Limit("address sends", settings.LIMIT_ADDRESS_CODE_SENDS, _WINDOW)
SIGN_INS: Final = Limit("address signs in", settings.LIMIT_ADDRESS_SIGN_INS, _WINDOW)

# One application at one address.
CLIENT_FAILURES: Final = Limit("client failures", settings.LIMIT_CLIENT_FAILURES, _WINDOW)

# One identifier, whoever asks.
CODE_PAUSE: Final = Limit("code pause", 1, 60)
CODES: Final = Limit("codes", 10, 3600)

# The whole tenant: a bill that somebody else runs up, number by number, has an end.
TEXT_MESSAGES: Final = Limit("text messages", settings.LIMIT_TENANT_TEXT_MESSAGES, 3600)

PAIR: Final = Lock("pair", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
IDENTIFIER: Final = Lock("identifier", settings.LOCK_IDENTIFIER_FAILURES, settings.LOCK_IDENTIFIER_SECONDS)
# Whoever guesses here knows the password, and may come from anywhere.
SECOND_STEP: Final = Lock("second step", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
ADMINISTRATOR: Final = Lock("administrator", settings.LOCK_PAIR_FAILURES, settings.LOCK_PAIR_SECONDS)
