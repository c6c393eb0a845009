"""A user of whom userinfo knows everything, and the refusals of userinfo."""

import re

from identity.users.models import User

INVALID_TOKEN = (401, "invalid_token")
_CHALLENGE = re.compile(
    r'Bearer realm="gatehouse"(, error="(\w+)", error_description="([\x20-\x21\x23-\x5b\x5d-\x7e]+)"'
    r'(, scope="openid")?)?'
)


def read_challenge(answer) -> tuple[int, str | None]:
    """Return status and error of a refusal. Header and body must name the same error, and forbid caching."""
    assert answer.headers["Cache-Control"] == "no-store"
    said = _CHALLENGE.fullmatch(answer.headers["WWW-Authenticate"])
    assert said is not None, answer.headers["WWW-Authenticate"]
    if said[2] is not None:
        assert answer.json() == {"error": said[2], "error_description": said[3]}
    return answer.status_code, said[2]


def new_person(acme):
    """Return a user with all claims of the standard scopes, and custom data that imitate protected ones."""
    user = acme.user(
        "Ada.Lovelace",
        name="Ada Lovelace",
        email="Ada@acme.example",
        phone="+44 20 7946 0018",
        avatar="https://acme.example/ada.png",
    )
    with acme.active():
        User.objects.filter(pk=user.pk).update(
            custom_data={"gender": "female", "iss": "evil", "sub": "evil", "aud": "evil"},
            email_verified=True,
        )
        user.refresh_from_db()
    return user
