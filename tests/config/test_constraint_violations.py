"""A row that was deleted meanwhile is a refusal. Other violations of constraints are bugs, and logged."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import httpx
import pytest
from django.test import Client

from audit import log
from oidc.grants import codes
from oidc.keys import usage
from tests.support import management
from tests.support.constraints import missing_parent, missing_value
from tests.support.in_process import InProcessWorld
from tests.support.independent import bearer

Ask = Callable[[], httpx.Response]
BROKEN = [(codes, "issue"), (usage, "record"), (log, "record")]


@pytest.fixture
def here(acme):
    return InProcessWorld.of(acme)


@pytest.fixture
def client(here):
    return here.application()


@pytest.fixture
def authorize(here, client) -> Ask:
    browser = here.browser()
    browser.code_for(client, here.user())
    return partial(browser.authorize, client)


@pytest.fixture
def redeem(here, client) -> Ask:
    return partial(client.redeem, here.browser().code_for(client, here.user()))


@pytest.fixture
def create(acme) -> Callable[[], Any]:
    admin = management.administrator(acme)
    return partial(
        Client(raise_request_exception=False).post,
        f"/t/{acme.tenant.slug}/api/v1/roles",
        data={"name": "Editor", "type": "User"},
        content_type="application/json",
        headers=bearer(admin.token or ""),
    )


class TestARowThatWasDeletedMeanwhile:
    @pytest.fixture
    def error(self, acme, client):
        return missing_parent(acme, client)

    def test_makes_a_sign_in_expire(self, error, authorize, monkeypatch):
        monkeypatch.setattr(codes, "issue", mock.Mock(side_effect=error))

        answer = authorize()

        assert answer.status_code == 400
        assert "This sign-in has expired" in answer.text

    def test_makes_a_grant_invalid(self, error, redeem, monkeypatch):
        monkeypatch.setattr(usage, "record", mock.Mock(side_effect=error))

        answer = redeem()

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")

    def test_is_named_by_the_management_api(self, error, create, monkeypatch):
        monkeypatch.setattr(log, "record", mock.Mock(side_effect=error))

        answer = create()

        assert answer.status_code == 400
        assert "was just deleted" in answer.json()["message"]


class TestAMissingValue:
    @pytest.fixture
    def is_logged(self, acme, client, monkeypatch, caplog):
        error = missing_value(acme, client)
        for module, name in BROKEN:
            monkeypatch.setattr(module, name, mock.Mock(side_effect=error))
        return lambda: error in [record.exc_info[1] for record in caplog.records if record.exc_info]

    def test_in_a_sign_in_is_500_and_in_the_log(self, authorize, is_logged):
        assert authorize().status_code == 500
        assert is_logged()

    def test_in_a_grant_is_500_and_in_the_log(self, redeem, is_logged):
        assert redeem().status_code == 500
        assert is_logged()

    def test_in_the_management_api_is_500_and_in_the_log(self, create, is_logged):
        assert create().status_code == 500
        assert is_logged()
