"""The sentence that tells an application's developers why a request was refused."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from oidc.provider import errors
from oidc.provider.authorization import refusals
from oidc.provider.authorization.checks import PARAMETERS
from oidc.provider.errors import OAuthError
from tests.support.authorize import (
    DESCRIPTION,
    Refusal,
    find_refusal,
    sent_back,
)
from tests.support.cast import query_of, signed_in

ROOT = Path(__file__).parents[3]
# Names of parameters that the endpoint knows, and numbers.
NAMES = {"min(repeated)", "request.too_long", "parameters.LONGEST", "parameters.LONGEST_NONCE"}


def error_classes() -> dict[str, type[OAuthError]]:
    """Every error that the authorization endpoint can raise, by the name of its class."""
    return {
        name: found
        for module in (errors, refusals)
        for name, found in inspect.getmembers(module, inspect.isclass)
        if issubclass(found, OAuthError)
    }


def product_files() -> Iterator[Path]:
    for folder in ("config", "identity", "interaction", "oidc"):
        yield from (ROOT / folder).rglob("*.py")


def raisers() -> list[Path]:
    """The modules that refuse authorization requests."""
    return [
        path
        for path in product_files()
        if "oidc.provider.authorization.refusals" in (text := path.read_text())
        or ("oidc/provider/authorization/" in str(path) and "oidc.provider.errors" in text)
    ]


def written(argument: ast.expr) -> str:
    """Return the sentence of an argument, with a parameter's name in place of what is filled in."""
    if isinstance(argument, ast.JoinedStr):
        for part in argument.values:
            if isinstance(part, ast.FormattedValue):
                assert ast.unparse(part.value) in NAMES, ast.unparse(argument)
        return "".join(p.value if isinstance(p, ast.Constant) else "nonce" for p in argument.values)
    assert isinstance(argument, ast.Constant), f"not a sentence: {ast.unparse(argument)}"
    assert isinstance(argument.value, str)
    return argument.value


def sentences() -> list[tuple[str, str]]:
    """Every description, with the place where it is written."""
    found = [
        (name, error.description)
        for name, error in error_classes().items()
        if error.__module__ == refusals.__name__
    ]
    for path in raisers():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
                assert node.exc.id not in vars(errors), f"{path.name}:{node.lineno} says nothing of its own"
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in error_classes():
                found += [(f"{path.name}:{node.lineno}", written(argument)) for argument in node.args]
                assert node.args or hasattr(refusals, node.func.id), f"{path.name}:{node.lineno}"
    return found


class TestDecisionQ19:
    @pytest.mark.parametrize(("place", "sentence"), sentences())
    def test_decision_Q19_every_refusal_says_why(self, place, sentence):
        assert DESCRIPTION.fullmatch(sentence), place
        assert not sentence.endswith(".")

    def test_decision_Q19_no_refusal_is_written_elsewhere(self):
        """Whatever tells an application of an error takes its words from an ``OAuthError``."""
        writers = {
            str(path.relative_to(ROOT))
            for path in product_files()
            if re.search(r"""['"]error_description['"]:|error_description=""", path.read_text())
        }

        assert writers == {"oidc/provider/authorization/request.py", "oidc/provider/error_responses.py"}
        assert {path.name for path in raisers()} >= {"checks.py", "steps.py", "consent.py", "pending.py"}
        assert len(sentences()) > 25

    @pytest.mark.parametrize(
        ("wrong", "error", "description"),
        [
            ({"scope": "profile"}, "invalid_scope", "scope must contain openid"),
            ({"response_type": "token"}, "unsupported_response_type", "response_type must be code"),
            ({"response_type": None}, "invalid_request", "response_type is required"),
            (
                {"code_challenge": None, "code_challenge_method": None},
                "invalid_request",
                "code_challenge is required for this application",
            ),
            ({"prompt": "none"}, "login_required", "nobody is signed in"),
            (
                {"resource": "https://unknown.example"},
                "invalid_target",
                "resource must be the indicator of an API",
            ),
        ],
    )
    def test_decision_Q19_names_the_parameter_and_the_rule(self, acme, wrong, error, description):
        client = acme.application("SPA")

        answer = acme.browser().authorize(client, **wrong)

        assert find_refusal(answer, client) == Refusal(error)
        assert sent_back(answer, client)["error_description"] == description

    def test_decision_Q19_names_the_limit_of_a_long_request(self, acme):
        client = acme.application()

        answer = acme.browser().post("/oidc/authorize", data=client.request(nonce="x" * 17_000))

        said = sent_back(answer, client)["error_description"]
        assert said == "nonce makes the request longer than 16384 characters"

    @pytest.mark.parametrize("name", sorted(PARAMETERS - {"client_id", "redirect_uri", "state"}))
    def test_decision_Q19_repeats_no_value_that_was_sent(self, insider, name):
        client = insider.client
        request = client.request(prompt="none", max_age="0") | {name: "none zq9xvalue"}

        for query in (urlencode(request), f"{urlencode(request)}&{name}=zq9xvalue"):
            said = sent_back(insider.post(query), client)
            assert said.get("iss") == client.world.issuer, said
            if "error" in said:
                assert DESCRIPTION.fullmatch(said["error_description"])
                assert "zq9xvalue" not in said["error_description"]

    def test_decision_Q19_with_prompt_none_somebody_else_or_too_long_ago_is_told(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        said = sent_back(browser.authorize(client, prompt="none", max_age="0"), client)

        assert (said["error"], said["error_description"]) == (
            "login_required",
            "the user must sign in for this request",
        )

    def test_decision_Q19_somebody_else_who_signed_in_is_told(self, acme):
        client, (browser, other) = acme.application(), signed_in(acme)
        hint = client.tokens_for(acme.user())["id_token"]
        page = query_of(browser.authorize(client, id_token_hint=hint).headers["Location"])

        onward = browser.sign_in(other, interaction=page["interaction"]).json()["result"]["redirect_to"]

        said = sent_back(browser.get(onward), client)
        assert said["error_description"] == "another user signed in than the request names"
