"""Strangers who start the administrators' single sign-on while its provider does not respond (AP39)."""

import time
from threading import Lock

import pytest
from django.test import Client

from config.single_sign_on import Provider
from interaction.connectors import administrator_provider, relying_party
from interaction.connectors.errors import ProviderError
from tests.support.cast import new_secret
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("default_tenant")
START = "/admin/login/provider/"
MOST = 2


class Hanging:
    """A provider whose discovery fails after a while."""

    def __init__(self, seconds):
        self.seconds, self.calls, self.most = seconds, 0, 0
        self._waiting, self._lock = 0, Lock()

    def get_endpoints(self, *_):
        with self._lock:
            self.calls += 1
            self._waiting += 1
            self.most = max(self.most, self._waiting)
        time.sleep(self.seconds)
        with self._lock:
            self._waiting -= 1
        raise ProviderError("it does not respond")


@pytest.fixture
def provider(settings, monkeypatch, request):
    issuer = f"https://{new_secret()}.example"
    settings.ADMIN_OIDC = Provider(issuer, "client", "secret", "Example", "own", ())
    hanging = Hanging(request.param)
    monkeypatch.setattr(relying_party, "get_endpoints", hanging.get_endpoints)
    monkeypatch.setattr(administrator_provider, "_MOST_SLOTS", MOST)
    return hanging


def start():
    browser = Client()
    sent = browser.post(START, {"next": "/admin/"})
    assert (sent.status_code, sent.headers["Location"]) == (303, "/admin/login/")
    return browser.get("/admin/login/").content.decode()


@pytest.mark.parametrize("provider", [1.5], indirect=True)
def test_attack_AP39_a_provider_that_does_not_respond_holds_few_threads(provider):
    pages = at_once(8, lambda _: start())

    assert provider.most == MOST
    assert sum("Wait a few seconds and try again" in page for page in pages) >= 8 - MOST - 1


@pytest.mark.parametrize("provider", [0], indirect=True)
def test_attack_AP39_a_failed_discovery_is_not_repeated_at_once(provider, monkeypatch):
    assert all("failed" in start() for _ in range(3))
    assert provider.calls == 1

    monkeypatch.setattr(administrator_provider, "_FAILURE_SECONDS", 0)
    administrator_provider._failed_until.clear()

    for _ in range(2):
        start()
    assert provider.calls == 3
