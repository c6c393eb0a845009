"""WEBAUTHN_RP_ID: the domain that passkeys are bound to, and what the doctor says about it."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import passkeys
from management.doctor.passkeys import passkeys as check


def read(monkeypatch, value, base_url):
    monkeypatch.setenv("WEBAUTHN_RP_ID", value)
    return passkeys.relying_party_id("WEBAUTHN_RP_ID", base_url)


@pytest.mark.parametrize(
    ("value", "base_url", "rp_id"),
    [
        ("", "https://id.example.com", "id.example.com"),
        ("", "https://id.example.com:8443", "id.example.com"),
        ("", "http://localhost:8000", "localhost"),
        ("", "http://127.0.0.1:8000", "127.0.0.1"),
        ("", "http://[::1]:8000", "::1"),
        ("id.example.com", "https://id.example.com", "id.example.com"),
        ("Example.com", "https://id.example.com", "example.com"),
    ],
)
def test_decision_M23_is_the_host_or_a_domain_above_it(monkeypatch, value, base_url, rp_id):
    assert read(monkeypatch, value, base_url) == rp_id


@pytest.mark.parametrize(
    ("value", "base_url"),
    [
        ("login.example.com", "https://id.example.com"),
        ("x.id.example.com", "https://id.example.com"),
        ("ample.com", "https://id.example.com"),
        ("com", "https://id.example.com"),
        (".example.com", "https://id.example.com"),
        ("example.com.", "https://id.example.com"),
        (".com", "https://id.example.com"),
        ("https://example.com", "https://id.example.com"),
        ("0.1", "http://127.0.0.1:8000"),
        ("evil.example", "https://id.example.com"),
    ],
)
def test_decision_M23_anything_else_is_refused_at_start(monkeypatch, value, base_url):
    with pytest.raises(ImproperlyConfigured, match=r"^WEBAUTHN_RP_ID: must be "):
        read(monkeypatch, value, base_url)


@pytest.mark.parametrize(
    ("base_url", "rp_id", "finding"),
    [
        ("https://id.example.com", "id.example.com", None),
        ("https://id.example.com", "example.com", None),
        ("https://id.example.com:8443", "example.com", None),
        ("http://localhost:8000", "localhost", None),
        ("http://app.localhost:8000", "app.localhost", None),
        ("http://127.0.0.1:8000", "127.0.0.1", "passkeys.I001"),
        ("https://[2001:db8::1]", "2001:db8::1", "passkeys.I001"),
        ("http://gatehouse.lan:8000", "gatehouse.lan", "passkeys.I002"),
        ("https://id.example.co.uk", "co.uk", "passkeys.E003"),
        ("https://acme.github.io", "github.io", "passkeys.E003"),
    ],
)
def test_decision_M57_the_doctor_reports_addresses_without_passkeys(settings, base_url, rp_id, finding):
    settings.BASE_URL, settings.WEBAUTHN_RP_ID = base_url, rp_id

    assert [one.id for one in check()] == ([finding] if finding else [])
