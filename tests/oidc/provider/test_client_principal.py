"""Which access tokens prove that an application calls: each condition alone decides."""

from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db.models import Exists

from database import ids
from oidc.applications.models import Application
from oidc.grants.models import RevokedToken
from oidc.keys.jws import InvalidToken
from oidc.keys.models import SigningKey
from oidc.provider import client_principal
from oidc.provider.bearer import InvalidBearer
from oidc.provider.client_principal import NotAClientToken, PrincipalQuery
from tests.support import cast


@pytest.fixture
def machine(acme):
    """The second of the tenant's applications."""
    acme.application()
    return acme.application("MachineToMachine").application


@pytest.fixture
def parsed(acme, machine, monkeypatch):
    """What the signature proves of the only token: it is good, unless a test changes it."""
    with acme.active():
        key = SigningKey.objects.active().get()
    claims = {"client_id": machine.client_id, "jti": str(ids.new()), "token_type": "m2m", "scope": "a b"}
    claims |= {"iat": 0, "exp": 2**40, "iss": acme.issuer, "aud": ["one", "two"]}
    found = SimpleNamespace(claims=claims, kid=str(key.pk))

    def read(text):
        if text != "token":
            raise InvalidToken("altered")
        return found

    monkeypatch.setattr("oidc.provider.client_principal.tokens.read_access_token", read)
    return found


def authenticate(acme, text="token"):
    with acme.active():
        return client_principal.authenticate(text, lambda _: (PrincipalQuery(), {}))


def test_a_good_token_is_of_its_application(acme, machine, parsed):
    found = authenticate(acme)

    assert found.application == machine
    assert found.application.client_id == machine.client_id
    assert (found.scopes, found.audiences, found.conditions) == ({"a", "b"}, {"one", "two"}, {})


def test_conditions_are_those_of_the_caller(acme, machine, parsed):
    query = PrincipalQuery(
        yes=lambda: Exists(Application.objects.all()), no=lambda: Exists(RevokedToken.objects.all())
    )
    with acme.active():
        found = client_principal.authenticate("token", lambda _: (query, {}))

    assert found.conditions == {"yes": True, "no": False}


def test_a_text_that_no_key_signed_is_refused_with_the_reason(acme, parsed):
    with pytest.raises(InvalidBearer, match="The access token is not valid: altered"):
        authenticate(acme, "another")


@pytest.mark.parametrize(
    "changes", [{"exp": 1}, {"iat": 2**40}, {"nbf": 2**40}, {"iss": "https://x.example"}]
)
def test_times_and_issuer_are_checked(acme, parsed, changes):
    parsed.claims.update(changes)

    with pytest.raises(InvalidBearer):
        authenticate(acme)


def test_a_revoked_token_is_refused_and_no_other(acme, parsed):
    with acme.active():
        RevokedToken.objects.create(token_id=str(ids.new()), expires_at="2100-01-01T00:00Z")
    assert authenticate(acme)

    with acme.active():
        RevokedToken.objects.create(token_id=parsed.claims["jti"], expires_at="2100-01-01T00:00Z")
    with pytest.raises(InvalidBearer, match="revoked"):
        authenticate(acme)


def test_a_key_or_an_application_that_is_gone_is_refused(acme, machine, parsed):
    kid, parsed.kid = parsed.kid, str(uuid4())
    with pytest.raises(InvalidBearer, match="gone"):
        authenticate(acme)

    parsed.kid = kid
    assert authenticate(acme)
    with acme.active():
        Application.objects.filter(pk=machine.pk).delete()
    with pytest.raises(InvalidBearer, match="gone"):
        authenticate(acme)


@pytest.mark.parametrize("kind", ["user", None])
def test_a_users_token_is_none_of_an_application(acme, parsed, kind):
    parsed.claims["token_type"] = kind

    with pytest.raises(NotAClientToken):
        authenticate(acme)


def test_a_token_is_worth_nothing_in_another_tenant(acme, parsed):
    rival = cast.new_world("Rival")
    parsed.claims["iss"] = rival.issuer

    with pytest.raises(InvalidBearer, match="gone"):
        authenticate(rival)
