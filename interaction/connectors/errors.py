"""Errors of providers."""


class ProviderError(Exception):
    """A provider failed or refused.

    The text is for administrators. It never contains a secret or the provider's own answer.
    """
