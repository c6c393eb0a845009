"""BASE_URL: the public origin, from which issuers, links and the origin of our own forms are made."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env


def read(monkeypatch: pytest.MonkeyPatch, value: str, *, development: bool = False) -> str:
    monkeypatch.setenv("BASE_URL", value)
    return env.base_url("BASE_URL", "", development=development)


@pytest.mark.parametrize(
    ("value", "origin"),
    [
        ("https://id.example.com", "https://id.example.com"),
        ("https://id.example.com/", "https://id.example.com"),
        (" https://ID.Example.com ", "https://id.example.com"),
        ("https://id.example.com:8443", "https://id.example.com:8443"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_decision_R2_is_an_origin_as_browsers_spell_it(monkeypatch, value, origin):
    assert read(monkeypatch, value) == origin


@pytest.mark.parametrize(
    "value",
    [
        "",
        "id.example.com",
        "//id.example.com",
        "ftp://id.example.com",
        "https://",
        "https://user@id.example.com",
        "https://id.example.com/gatehouse",
        "https://id.example.com?x=1",
        "https://id.example.com#x",
        "https://id.example.com:443",  # browsers omit this port, so no form would be ours
        "http://localhost:80",
        "https://id.example.com:99999",
        "https://id.example.com:port",
        "https://[::1",
        "http://id.example.com",
    ],
)
def test_decision_R2_anything_else_is_refused_by_name(monkeypatch, value):
    with pytest.raises(ImproperlyConfigured, match=r"^BASE_URL: "):
        read(monkeypatch, value)


def test_decision_R2_development_takes_http_anywhere(monkeypatch):
    assert read(monkeypatch, "http://gatehouse.lan:8000", development=True) == "http://gatehouse.lan:8000"
