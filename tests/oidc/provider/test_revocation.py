"""Which tokens a client revokes: its own, while they are of use."""

from types import SimpleNamespace
from uuid import uuid4

import pytest

from audit.events import Event
from oidc.grants import families
from oidc.grants.models import RefreshFamily, RevokedToken
from oidc.keys.jws import InvalidToken
from oidc.provider import revocation
from oidc.provider.errors import InvalidClient
from tests.support.audit_log import entries
from tests.support.grant_rows import new_family, new_session

NOW = 1_767_323_045


@pytest.fixture
def claims(application, monkeypatch):
    """The claims of the only text that counts as an access token, at a fixed time."""
    found = {"client_id": application.client_id, "exp": NOW + 1, "jti": str(uuid4()), "sub": str(uuid4())}

    def read(text):
        if text != "token":
            raise InvalidToken
        return SimpleNamespace(claims=found)

    monkeypatch.setattr("oidc.provider.revocation.tokens.read_access_token", read)
    monkeypatch.setattr("oidc.provider.revocation.time.time", lambda: NOW)
    return found


def revoke(acme, text, application):
    with acme.active():
        revocation.revoke(text, application)
        return set(RevokedToken.objects.values_list("token_id", flat=True))


def test_an_access_token_is_stored_until_it_expires_with_an_audit_entry(acme, application, claims):
    assert revoke(acme, "token", application) == {claims["jti"]}
    assert revoke(acme, "token", application) == {claims["jti"]}

    with acme.active():
        assert RevokedToken.objects.get().expires_at.timestamp() == claims["exp"]
    [first] = entries(acme, Event.TOKEN_REVOKE)
    assert (first.user_id, first.application_id) == (claims["sub"], str(application.pk))
    assert first.payload["token_id"] == claims["jti"]
    assert (first.payload["result"], first.payload["reason"]) == ("success", "revoked")


@pytest.mark.parametrize("changes", [{"client_id": "another"}, {"exp": NOW}, {"exp": NOW - 1}])
def test_one_of_another_client_or_one_that_has_expired_is_not(acme, application, claims, changes):
    claims.update(changes)

    assert revoke(acme, "token", application) == set()
    assert entries(acme, Event.TOKEN_REVOKE) == []


@pytest.mark.parametrize("text", ["", "x", "another.token"])
def test_a_text_that_is_no_token_is_ignored(acme, application, claims, text):
    assert revoke(acme, text, application) == set()


@pytest.mark.parametrize("is_own", [True, False])
def test_a_refresh_token_ends_its_family_if_it_is_the_clients_own(acme, application, is_own):
    user, other = acme.user(), acme.application().application
    with acme.active():
        family = new_family(application, new_session(user))
        token = families.build_token(family)

        revocation.revoke(token, application if is_own else other)

        row = RefreshFamily.objects.get()
        assert (row.ended_at is not None, row.end_reason) == ((True, "revoked") if is_own else (False, ""))
    recorded = entries(acme, Event.TOKEN_REVOKE)
    assert [(entry.user_id, entry.application_id) for entry in recorded] == (
        [(str(user.pk), str(application.pk))] if is_own else []
    )


def test_a_client_that_is_not_authenticated_is_refused_and_recorded(acme, application):
    with acme.active(), pytest.raises(InvalidClient):
        revocation.authenticate_client(None, {"client_id": application.client_id, "client_secret": "wrong"})

    (entry,) = entries(acme, Event.TOKEN_REVOKE)
    assert (entry.payload["result"], entry.payload["error"]) == ("failed", "invalid_client")
    assert entry.payload["client_id"] == application.client_id
