"""The suite's configuration in JSON: the provider, its clients, and the steps on its pages."""

from typing import Any, Final

from management.seeding.conformance.seeding import Client, SuiteData

Command = list[str | int]
Task = dict[str, Any]

# In place of a secret of which only a hash is stored.
KEPT: Final = "use the value shown at creation; --rotate creates a new one"
_SUBMIT: Final = "main form button[type='submit']"
_SECONDS: Final = 10
# The suite stores a screenshot of these pages, which a person reviews.
_PICTURE: Final[Command] = ["wait", "css", "main h1", _SECONDS, ".*", "update-image-placeholder"]
_OPTIONAL_PICTURE: Final[Command] = [*_PICTURE[:-1], "update-image-placeholder-optional"]
_SIGN_IN_AGAIN: Final = ("oidcc-prompt-login", "oidcc-max-age-1")
_ERROR_PAGES: Final = (
    "oidcc-ensure-registered-redirect-uri",
    "oidcc-ensure-request-object-with-redirect-uri",
    "oidcc-redirect-uri-query-added",
)
_LOGOUT: Final = "oidcc-rp-initiated-logout"
_LOGOUT_PAGES: Final = tuple(
    f"{_LOGOUT}-{name}"
    for name in (
        *("bad-post-logout-redirect-uri", "modified-id-token-hint", "no-id-token-hint", "bad-id-token-hint"),
        *(
            "query-added-to-post-logout-redirect-uri",
            "no-params",
            "no-post-logout-redirect-uri",
            "only-state",
        ),
    )
)


def build(seeded: SuiteData) -> dict[str, Any]:
    """Return the configuration for all plans that apply to Gatehouse."""
    first, second = seeded.clients
    sign_in, sign_out = _sign_in(seeded), _sign_out(seeded)
    return {
        "alias": seeded.alias,
        "description": f"Gatehouse at {seeded.issuer}",
        "server": {
            "discoveryUrl": f"{seeded.issuer}/.well-known/openid-configuration",
            "login_hint": seeded.username,
        },
        "client": _client(first),
        "client2": _client(second),
        "client_secret_post": _client(first),
        "browser": [sign_in, sign_out],
        "override": {
            **{name: {"browser": [_sign_in(seeded, _OPTIONAL_PICTURE)]} for name in _SIGN_IN_AGAIN},
            **{name: {"browser": [_error_page(seeded)]} for name in _ERROR_PAGES},
            **{name: {"browser": [sign_in, _sign_out(seeded, _PICTURE)]} for name in _LOGOUT_PAGES},
        },
    }


def _client(client: Client) -> dict[str, str]:
    return {"client_id": client.client_id, "client_secret": client.secret or KEPT}


def _sign_in(seeded: SuiteData, *first: Command) -> Task:
    return {
        "match": f"{seeded.issuer}/oidc/authorize*",
        "tasks": [
            _task(
                "Sign in",
                f"{seeded.issuer}/sign-in*",
                *first,
                ["text", "name", "identifier", seeded.username],
                ["text", "name", "password", seeded.password or KEPT],
                ["click", "css", _SUBMIT],
            ),
            # Only prompt=consent shows this page, because these applications are first-party.
            _task("Consent", f"{seeded.issuer}/consent*", ["click", "css", "button[value='allow']"]),
            _wait_for_result(seeded),
        ],
    }


def _sign_out(seeded: SuiteData, *last: Command) -> Task:
    """Return the steps of signing out. The suite's own page afterwards has nothing to wait for."""
    address = f"{seeded.issuer}/oidc/end-session*"
    # The button is optional: a valid hint signs out without a page, and an error page has no button.
    commands: tuple[Command, ...] = (["click", "css", _SUBMIT, "optional"], *last)
    return {"match": address, "tasks": [_task("Sign out", address, *commands)]}


def _error_page(seeded: SuiteData) -> Task:
    address = f"{seeded.issuer}/oidc/authorize*"
    return {"match": address, "tasks": [_task("Error page", address, _PICTURE) | {"optional": False}]}


def _wait_for_result(seeded: SuiteData) -> Task:
    wait: Command = ["wait", "id", "submission_complete", _SECONDS]
    return _task("Arrive", f"{seeded.suite}/test/*/callback*", wait)


def _task(name: str, match: str, *commands: Command) -> Task:
    return {"task": name, "optional": True, "match": match, "commands": list(commands)}
