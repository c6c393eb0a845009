"""Which access tokens let a user in: each condition alone decides."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from database import ids
from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily, RevokedToken
from oidc.keys.jws import InvalidToken, Parsed
from oidc.keys.models import SigningKey
from oidc.provider import bearer, tokens
from oidc.provider.bearer import ApplicationGone, InvalidBearer
from tests.support import cast
from tests.support.grant_rows import new_family, new_organization, new_session

PLAIN_EPOCH = "user_epoch"  # as tokens of 0.1.0 have it


class Token:
    """A token whose signature is good. It belongs to a session or a family, of a third party if asked for."""

    def __init__(self, acme, monkeypatch, *, third=False, family=False):
        acme.application()
        self.acme, self.kid = acme, ""
        self.now = int(datetime.now(UTC).timestamp())
        self.user = acme.user()
        self.application = acme.application(is_third_party=third).application
        with acme.active():
            self.kid = str(SigningKey.objects.active().get().pk)
            self.session = new_session(self.user)
            self.family = new_family(self.application, self.session) if family else None
        self.claims = {
            "sub": str(self.user.pk),
            "client_id": self.application.client_id,
            "jti": str(ids.new()),
        }
        self.claims |= {"iat": self.now, "exp": self.now + 600, "iss": acme.issuer, "aud": acme.issuer}
        self.claims |= {"sid": str(self.session.pk), "scope": "openid email", PLAIN_EPOCH: self.user.epoch}
        if self.family:
            self.claims["family_id"] = str(self.family.pk)
        monkeypatch.setattr("oidc.provider.bearer.tokens.read_access_token", self.read)

    def read(self, text):
        if text != "token":
            raise InvalidToken("altered")
        return Parsed("ES256", self.kid, tokens.ACCESS_TOKEN_TYPE, self.claims, b"", b"")

    def agree(self, **organization):
        """Consent to the application, and let the token name the consent."""
        with self.acme.active():
            consents.grant(self.user, self.application, ConsentRequest(("openid",), **organization))
            row = ConsentTarget.objects.get() if organization else Consent.objects.get()
        self.claims[tokens.CONSENT] = str(row.pk)
        return row

    def replace(self, one):
        """Return the user and the application of the token, with another user or another application."""
        if one == "user":
            return self.acme.user(), self.application
        return self.user, self.acme.application(is_third_party=True).application

    def authenticate(self, text="token", world=None):
        with (world or self.acme).active():
            return bearer.authenticate(text)

    def authenticate_for_context(self):
        with self.acme.active():
            return bearer.authenticate_for_context("token")

    def is_refused(self, reason):
        with pytest.raises(InvalidBearer, match=reason):
            self.authenticate()
        return True


@pytest.fixture
def token(acme, monkeypatch):
    return Token(acme, monkeypatch)


@pytest.fixture
def third_party(acme, monkeypatch):
    return Token(acme, monkeypatch, third=True)


@pytest.mark.parametrize("family", [True, False])
def test_a_good_token_is_of_its_user_and_application(acme, monkeypatch, family):
    token = Token(acme, monkeypatch, family=family)

    for found in (token.authenticate(), token.authenticate_for_context()):
        assert (found.user, found.application_id) == (token.user, token.application.pk)
        assert found.scopes == ("openid", "email")
        assert (found.is_third_party, found.agreed_to_old_profile, found.userinfo_alg) == (False, False, "")


@pytest.mark.parametrize("family", [True, False])
def test_the_session_context_gets_the_application_and_the_sign_in(acme, monkeypatch, family):
    found = Token(acme, monkeypatch, family=family).authenticate_for_context()

    assert (found.application_name, found.application_type) == ("Test application", "Traditional")
    assert found.satisfies_organizations() is False


@pytest.mark.parametrize(
    ("fields", "is_strong"), [({"level": 2}, True), ({"remembered": True}, False), ({}, False)]
)
@pytest.mark.parametrize("family", [True, False])
def test_a_strong_sign_in_satisfies_organizations(acme, monkeypatch, family, fields, is_strong):
    token = Token(acme, monkeypatch, family=family)
    with acme.active():
        other = new_session(token.user)
        Session.objects.filter(pk=other.pk).update(level=2)
        grant = token.family or token.session
        type(grant).objects.filter(pk=grant.pk).update(**fields)

    found = token.authenticate_for_context()
    with acme.active():
        assert found.satisfies_organizations() is is_strong


def test_a_text_that_no_key_signed_is_refused(token):
    with pytest.raises(InvalidBearer, match="not valid: altered"):
        token.authenticate("another")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://x.example"}, "another issuer"),
        ({"token_type": "m2m"}, "speaks for an application"),
        ({"sub": "x"}, "no subject"),
        ({"sub": str(uuid4())}, "user is gone"),
        ({"sid": None}, "neither a family nor a session"),
        ({"sid": str(uuid4())}, "revoked, or its session ended"),
        ({"family_id": str(uuid4())}, "revoked, or its session ended"),
        ({"client_id": "x"}, "application was deleted"),
    ],
)
def test_each_claim_is_checked(token, changes, reason):
    token.claims.update(changes)

    assert token.is_refused(reason)


@pytest.mark.parametrize(
    ("claim", "seconds", "reason"),
    [("exp", -60, "expired"), ("iat", 600, "not valid yet"), ("nbf", 600, "not valid yet")],
)
def test_each_time_is_checked(token, claim, seconds, reason):
    token.claims[claim] = token.now + seconds

    assert token.is_refused(reason)


@pytest.mark.parametrize("seconds", [0, 4])
def test_the_clock_of_another_node_may_be_seconds_ahead(token, monkeypatch, seconds):
    monkeypatch.setattr("oidc.provider.bearer.time.time", lambda: token.now - seconds)
    assert token.authenticate()

    token.claims["iat"] = token.now + 6
    assert token.is_refused("not valid yet")


def test_it_ends_at_the_second_it_expires(token, monkeypatch):
    monkeypatch.setattr("oidc.provider.bearer.time.time", lambda: token.now + 600)
    assert token.is_refused("expired")


def test_a_key_that_was_deleted_is_refused(token):
    token.kid = str(uuid4())
    assert token.is_refused("key was deleted")


def test_an_application_that_was_deleted_is_told_apart(token):
    with token.acme.active():
        Application.objects.filter(pk=token.application.pk).delete()

    with pytest.raises(ApplicationGone):
        token.authenticate()
    token.claims["sub"] = str(uuid4())
    with pytest.raises(ApplicationGone):
        token.authenticate()
    token.kid = str(uuid4())
    assert token.is_refused("user is gone")


def test_a_suspended_user_is_refused(token):
    with token.acme.active():
        User.objects.filter(pk=token.user.pk).update(is_suspended=True)

    assert token.is_refused("suspended")


@pytest.mark.parametrize("family", [True, False])
def test_a_grant_that_has_ended_or_is_anothers_is_refused(acme, monkeypatch, family):
    token, name = Token(acme, monkeypatch, family=family), "family_id" if family else "sid"
    own = token.claims[name]
    stranger = acme.user()
    with acme.active():
        session = new_session(stranger)
        theirs = new_family(token.application, session) if family else session
    token.claims[name] = str(theirs.pk)
    assert token.is_refused("revoked, or its session ended")

    token.claims[name] = own
    assert token.authenticate()
    with acme.active():
        model = RefreshFamily if family else Session
        model.objects.filter(user=token.user).update(ended_at=datetime.now(UTC))
    assert token.is_refused("revoked, or its session ended")


def test_a_token_with_a_family_depends_on_the_family_and_not_on_the_session(acme, monkeypatch):
    token = Token(acme, monkeypatch, family=True)
    with acme.active():
        Session.objects.update(ended_at=datetime.now(UTC))

    assert token.authenticate()


def test_a_revoked_token_is_refused_and_no_other(token):
    with token.acme.active():
        RevokedToken.objects.create(token_id=str(ids.new()), expires_at="2100-01-01T00:00Z")
    assert token.authenticate()

    with token.acme.active():
        RevokedToken.objects.create(token_id=token.claims["jti"], expires_at="2100-01-01T00:00Z")
    assert token.is_refused("revoked")


def test_a_token_is_worth_nothing_in_another_tenant(token):
    rival = cast.new_world("Rival")
    token.claims["iss"] = rival.issuer

    with pytest.raises(InvalidBearer):
        token.authenticate(world=rival)


class TestThirdParty:
    def test_needs_a_consent(self, third_party):
        assert third_party.is_refused("no longer agrees")

        third_party.agree()
        found = third_party.authenticate()
        assert (found.is_third_party, found.agreed_to_old_profile) == (True, False)

    def test_needs_the_consent_that_the_token_names(self, acme, third_party):
        row = third_party.agree()
        with acme.active():
            Consent.objects.filter(pk=row.pk).update(
                created_at=datetime.fromtimestamp(third_party.now - 60, UTC)
            )
        assert third_party.authenticate()
        third_party.claims[tokens.CONSENT] = str(uuid4())

        assert third_party.is_refused("no longer agrees")

    @pytest.mark.parametrize("of", ["user", "application"])
    def test_a_consent_of_another_is_none(self, acme, third_party, of):
        user, application = third_party.replace(of)
        with acme.active():
            consents.grant(user, application, ConsentRequest(("openid",)))
            third_party.claims[tokens.CONSENT] = str(Consent.objects.get().pk)

        assert third_party.is_refused("no longer agrees")
        del third_party.claims[tokens.CONSENT]
        assert third_party.is_refused("no longer agrees")

    @pytest.mark.parametrize(
        ("age", "is_refused"), [(timedelta(minutes=1), False), (-timedelta(minutes=1), True)]
    )
    def test_a_token_of_0_1_0_is_younger_than_its_consent(self, acme, third_party, age, is_refused):
        row = third_party.agree()
        del third_party.claims[tokens.CONSENT]
        with acme.active():
            Consent.objects.filter(pk=row.pk).update(
                created_at=datetime.fromtimestamp(third_party.now, UTC) - age
            )

        if is_refused:
            assert third_party.is_refused("no longer agrees")
        else:
            assert third_party.authenticate()

    def test_a_token_for_an_organization_needs_its_target(self, acme, third_party):
        with acme.active():
            hospital, school = new_organization(), new_organization("School")
        target = third_party.agree(organization_id=hospital.pk)
        third_party.claims["organization_id"] = str(hospital.pk)
        assert third_party.authenticate()

        with acme.active():
            third_party.claims[tokens.CONSENT] = str(Consent.objects.get().pk)
        assert third_party.is_refused("no longer agrees")
        del third_party.claims[tokens.CONSENT]
        assert third_party.is_refused("no longer agrees")
        third_party.claims |= {tokens.CONSENT: str(target.pk), "organization_id": str(school.pk)}
        assert third_party.is_refused("no longer agrees")

    @pytest.mark.parametrize("of", ["user", "application"])
    def test_a_target_of_another_is_none(self, acme, third_party, of):
        user, application = third_party.replace(of)
        with acme.active():
            hospital = new_organization()
            consents.grant(user, application, ConsentRequest((), organization_id=hospital.pk))
            target = ConsentTarget.objects.get()
        third_party.claims |= {tokens.CONSENT: str(target.pk), "organization_id": str(hospital.pk)}

        assert third_party.is_refused("no longer agrees")

    def test_a_token_for_another_api_opens_nothing_here(self, acme, third_party):
        third_party.agree()
        third_party.claims["aud"] = "https://api.example"
        assert third_party.is_refused("does not include this issuer")

        third_party.claims["aud"] = ["https://api.example", acme.issuer]
        assert third_party.authenticate()

    def test_a_new_password_ends_it(self, third_party):
        third_party.agree()
        third_party.claims[PLAIN_EPOCH] += 1

        assert third_party.is_refused("password was changed")

    @pytest.mark.parametrize("of", ["this", "another user", "another application"])
    def test_an_old_profile_is_that_of_its_own_consent(self, acme, third_party, of):
        third_party.agree()
        other_user, other = acme.user(), acme.application(is_third_party=True).application
        with acme.active():
            consents.grant(other_user, third_party.application, ConsentRequest(("openid",)))
            consents.grant(third_party.user, other, ConsentRequest(("openid",)))
            rows = Consent.objects.all()
            if of == "another user":
                rows = rows.filter(user=other_user)
            elif of == "another application":
                rows = rows.filter(application=other)
            else:
                rows = rows.filter(user=third_party.user, application=third_party.application)
            rows.update(has_old_profile=True)

        assert third_party.authenticate().agreed_to_old_profile is (of == "this")

    def test_a_first_party_has_none_though_it_has_a_consent_from_when_it_was_a_third(self, acme, token):
        with acme.active():
            consents.grant(token.user, token.application, ConsentRequest(("openid", "profile")))
            Consent.objects.update(has_old_profile=True)

        assert token.authenticate().agreed_to_old_profile is False


def test_a_first_party_needs_no_consent_and_no_audience(token):
    token.claims |= {"aud": "https://api.example", PLAIN_EPOCH: 99}

    assert token.authenticate()
