"""What goes wrong on the other side."""


class ProviderError(Exception):
    """A provider did not do what it was asked to.

    The text is for administrators, in plain words of our own: never a secret, never what
    the other side answered.
    """
