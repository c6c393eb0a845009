"""How the parameter ``claims`` is read: what is supported of it, and what is ignored."""

import pytest

from oidc.provider import claims_request
from oidc.provider.claims_request import ClaimsRequest, Malformed


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "null", "1", '{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', '{"a": NaN}', "[" * 100_000],
)
def test_what_is_no_object_is_malformed(text):
    with pytest.raises(Malformed):
        claims_request.parse(text)


def test_an_object_is_read_as_it_is():
    assert claims_request.parse('{"a": {"b": null, "c": [1]}}') == {"a": {"b": None, "c": [1]}}


def test_only_known_claims_with_null_or_an_object_are_supported():
    asked = {"email": None, "name": {"essential": True}, "picture": "x", "gender": 1, "unknown": None}

    assert claims_request.from_document({"userinfo": asked, "id_token": {"email": None}}) == ClaimsRequest(
        ("name", "email"), ("email",)
    )
    assert claims_request.from_document({"userinfo": ["email"], "id_token": None}) == ClaimsRequest()


def test_is_stored_without_empty_places_and_read_with_the_names_of_0_2_0():
    assert ClaimsRequest(("email",), ()).as_json == {"userinfo": ["email"]}
    assert ClaimsRequest((), ("email",)).as_json == {"id_token": ["email"]}
    assert claims_request.from_json({}) == ClaimsRequest()
    assert claims_request.from_json(
        {"userinfo": ["email"], "newer_at_userinfo": ["address"], "newer_in_id_token": ["roles"]}
    ) == ClaimsRequest(("email", "address"), ("roles",))


def test_scopes_beyond_the_requested_ones_are_those_that_release_its_claims():
    asked = ClaimsRequest(("email", "phone_number"), ("name",))

    assert asked.get_scopes_beyond(()) == ["profile", "email", "phone"]
    assert asked.get_scopes_beyond(("openid", "email")) == ["profile", "phone"]


@pytest.mark.parametrize(
    ("userinfo", "id_token", "subjects"),
    [
        (None, None, None),
        (None, {}, None),
        ({"value": "a"}, None, {"a"}),
        (None, {"values": ["a", "b"]}, {"a", "b"}),
        ({"values": ["a", "b"]}, {"values": ["b", "c"]}, {"b"}),
        ({"value": "a"}, {"value": "b"}, set()),
        ({"value": 1}, None, set()),
        ({"values": ["a", 1]}, None, {"a"}),
        ({"values": []}, None, None),
        ({"values": "a"}, None, None),
        ({"value": "a", "values": ["b"]}, None, {"a"}),
        ("a", None, None),
    ],
)
def test_subjects_are_those_that_both_places_allow(userinfo, id_token, subjects):
    document = {"userinfo": {"sub": userinfo}, "id_token": {"sub": id_token}}

    assert claims_request.from_document(document).subjects == subjects


@pytest.mark.parametrize(
    ("acr", "values", "essential"),
    [
        (None, [], None),
        ({"value": "a"}, ["a"], None),
        ({"values": ["a", 1, "b"]}, ["a", "b"], None),
        ({"essential": True, "value": "a"}, ["a"], ["a"]),
        ({"essential": True, "values": [1]}, [], []),
        ({"essential": True}, [], None),
        ({"essential": 1, "value": "a"}, ["a"], None),
        ({"essential": False, "value": "a"}, ["a"], None),
        ("a", [], None),
    ],
)
def test_values_of_acr_are_essential_only_if_the_id_token_says_so(acr, values, essential):
    document = {"id_token": {"acr": acr}, "userinfo": {"acr": {"essential": True, "value": "z"}}}

    assert claims_request.get_acr_values(document) == values
    assert claims_request.get_essential_acr_values(document) == essential
