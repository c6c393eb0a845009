"""What a redirect URI means for the pages before it: where their forms may lead, and who could receive it."""

import pytest

from oidc.applications import redirect_uris


@pytest.mark.parametrize(
    ("uri", "targets", "source"),
    [
        ("https://rp.example/cb?a=1", (), "https://rp.example/cb"),
        ("https://rp.example:8443", (), "https://rp.example:8443"),
        ("https://rp.example/a/;b,c", (), "https://rp.example/a/%3Bb%2Cc"),
        ("https://[2001:db8::1]/cb", (), "https:"),
        ("http://localhost:3000/cb", ("http://localhost:*",), "http://localhost:3000/cb"),
        ("http://127.0.0.1/cb", ("http://127.0.0.1:*",), "http://127.0.0.1/cb"),
        ("http://[::1]:9000/cb", ("http:",), "http:"),
    ],
)
def test_a_form_may_lead_to_the_uri_and_to_as_little_else_as_can_be_said(uri, targets, source):
    assert redirect_uris.form_targets(uri) == targets
    assert redirect_uris.form_source(uri) == source


def test_a_form_may_lead_to_a_private_scheme():
    assert redirect_uris.form_targets("com.example.app:/cb") == ("com.example.app:",)
    assert redirect_uris.form_targets("com.example.app://host/cb") == ("com.example.app:",)


@pytest.mark.parametrize(
    ("uri", "is_loopback", "is_unproven"),
    [
        ("https://rp.example/cb", False, False),
        ("https://localhost/cb", False, False),
        ("http://localhost/cb", True, False),
        ("http://127.0.0.1:80/cb", True, False),
        ("http://127.8.9.1/cb", True, False),
        ("http://[::1]/cb", True, False),
        ("http://rp.example/cb", False, True),
        ("http://localhost.example/cb", False, True),
        ("http://192.0.2.7/cb", False, True),
        ("com.example.app://localhost/cb", False, True),
        ("http://[", False, True),
        ("http:///cb", False, True),
    ],
)
def test_another_program_could_receive_what_is_neither_https_nor_loopback(uri, is_loopback, is_unproven):
    assert redirect_uris.is_loopback(uri) is is_loopback
    assert redirect_uris.is_unproven(uri) is is_unproven
