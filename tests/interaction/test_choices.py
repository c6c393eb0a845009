"""The interaction API lists the possible values where a value is none of them."""

import re

import pytest

from tests.support.sign_in_api import refusal_message


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        (
            "verification-code",
            {"identifier": "ann", "identifier_type": "mail", "interaction_type": "signin"},
            "identifier_type: email or phone; interaction_type: sign_in, register or forgot_password",
        ),
        (
            "passkey/options",
            {"ceremony": "x"},
            "ceremony: sign_in, second_factor, set_up, set_up_security_key or confirm",
        ),
        (
            "mfa/code",
            {"type": "Totp"},
            "type: EmailVerificationCode or PhoneVerificationCode",
        ),
    ],
)
def test_a_word_that_is_no_choice_gets_those_that_are(acme, path, body, expected):
    answer = acme.post(f"/api/interaction/{path}", json=body)

    assert re.sub(r'"\w+" is not a valid choice: use ', "", refusal_message(answer, 400)) == expected
