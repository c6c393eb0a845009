"""The requests that oauthlib gets."""

from oauthlib.common import Request


class UniqueParameters(Request):  # type: ignore[misc]  # oauthlib is untyped
    """A request whose parameters come from a mapping, so that none is repeated.

    ``checks.check_repetition`` and ``parameters.form`` refuse repeated parameters before. oauthlib looks for
    them once for each parameter that must not be repeated.
    """

    @property
    def duplicate_params(self) -> list[str]:
        """The names of repeated parameters: none."""
        return []
