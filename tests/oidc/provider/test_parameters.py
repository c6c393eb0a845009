"""How parameters are decoded, and which are refused before they are read."""

from types import SimpleNamespace

import pytest
from django.http import UnreadablePostError
from django.test import RequestFactory

from oidc.provider import parameters
from oidc.provider.parameters import InvalidParameters


def refusal(text):
    with pytest.raises(InvalidParameters) as refused:
        parameters.decode(text)
    return refused.value.description


def test_the_first_value_counts_and_the_name_is_reported():
    decoded = parameters.decode("a=1&b=&a=2&c=%C3%A9+x")

    assert decoded.values == {"a": "1", "b": "", "c": "é x"}
    assert decoded.repeated == {"a"}
    assert (decoded["a"], decoded["b"], decoded["missing"]) == ("1", "", "")
    assert decoded.select(frozenset({"c", "a", "z"})) == [("a", "1"), ("c", "é x")]


@pytest.mark.parametrize(("text", "subject"), [("a=%00", "The parameter a"), ("a%00b=1", "A parameter")])
def test_a_nul_is_refused_in_names_and_values(text, subject):
    assert refusal(text) == f"{subject} contains a NUL character."


def test_bytes_that_are_not_utf_8_are_refused():
    assert refusal("a=%ff") == "The parameters are not valid UTF-8."


def test_a_body_that_ends_early_is_refused(monkeypatch):
    request = RequestFactory().post("/", "a=1", content_type=parameters.FORM_TYPE)

    def fail(*_):
        raise UnreadablePostError("client disconnected")

    monkeypatch.setattr(request, "read", fail)

    with pytest.raises(InvalidParameters) as refused:
        parameters.form_text(request)

    assert (refused.value.status, refused.value.description) == (400, "The body is incomplete.")


def test_a_hundred_parameters_and_16384_characters_are_the_most():
    assert len(parameters.decode("&".join(f"p{number}=1" for number in range(100))).values) == 100
    assert "more than 100" in refusal("&".join(f"p{number}=1" for number in range(101)))
    assert len(parameters.decode(f"a={'x' * 16_384}")["a"]) == 16_384
    assert refusal(f"a={'x' * 16_385}") == "The parameter a has more than 16384 characters."


@pytest.mark.parametrize(("name", "subject"), [("a%0d%0ab", "A parameter"), ("a" * 65, "A parameter")])
def test_a_name_that_is_not_safe_in_a_header_is_not_repeated(name, subject):
    assert refusal(f"{name}={'x' * 16_385}") == f"{subject} has more than 16384 characters."


def test_the_longest_parameter_is_taken_out():
    assert parameters.without_longest("a=1&state=xxxxxxxx&b=2", 7) == ("a=1&b=2", "state")
    with pytest.raises(InvalidParameters, match="The parameters have more than 6 characters"):
        parameters.without_longest("a=1&state=xxxxxxxx&b=2", 6)


def post(body=b"a=1", content_type=parameters.FORM_TYPE, length=None):
    return SimpleNamespace(
        content_type=content_type, body=body, META={} if length is None else {"CONTENT_LENGTH": length}
    )


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (post(content_type="application/json"), 415),
        (post(content_type=""), 415),
        (post(length=str(1024 * 1024 + 1)), 413),
        (post(b"a=\xff"), 400),
        (post(b"a=1&a=1"), 400),
    ],
)
def test_a_body_that_is_no_good_form_is_refused(request_, status):
    with pytest.raises(InvalidParameters) as refused:
        parameters.form(request_)

    assert refused.value.status == status


@pytest.mark.parametrize("length", [None, "", "3", str(1024 * 1024)])
def test_a_form_of_at_most_a_mebibyte_is_read(length):
    assert parameters.form(post(length=length)).values == {"a": "1"}


def test_the_repeated_parameter_is_named():
    with pytest.raises(InvalidParameters, match="The parameter a was sent more than once"):
        parameters.form(post(b"b=1&b=1&a=1&a=1"))
