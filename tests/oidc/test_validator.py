"""The hooks by which the toolkit could answer in our place."""

import pytest
from oauth2_provider.oauth2_validators import OAuth2Validator

from oidc.provider.validator import Unused, Validator

# Calls save_bearer_token, which stores nothing.
INHERITED = {"save_token"}


def hooks() -> list[str]:
    """Return the names of the public hooks of the toolkit and of oauthlib below it."""
    return [
        name
        for name in dir(OAuth2Validator)
        if not name.startswith("_") and callable(getattr(OAuth2Validator, name))
    ]


@pytest.mark.parametrize("name", hooks())
def test_decision_N19_a_hook_of_the_toolkit_has_our_answer_or_none(name):
    assert name in vars(Validator) or name in INHERITED


def test_decision_N19_we_answer_no_hook_that_the_toolkit_does_not_have():
    ours = {name for name in vars(Validator) if not name.startswith("_")}

    assert ours - set(hooks()) == set()


@pytest.mark.parametrize("name", [name for name in hooks() if isinstance(vars(Validator).get(name), Unused)])
def test_decision_N19_a_hook_that_we_do_not_use_refuses_by_its_name(name):
    with pytest.raises(NotImplementedError, match=f"^{name} "):
        getattr(Validator(), name)("any", "arguments", at="all")
