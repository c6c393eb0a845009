"""Errors of providers."""


class ProviderError(Exception):
    """A provider failed, or refused a request.

    Administrators see the message. It never contains a secret or text from the provider's response.
    """
