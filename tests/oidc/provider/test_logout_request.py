"""Hints of ID tokens and sign-out requests: whom they name, and what they end."""

from typing import Any

import pytest

from database import ids
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from oidc.provider import id_token_hint, logout_request, tokens
from oidc.provider.errors import Unanswerable
from oidc.provider.id_token_hint import Forged
from oidc.provider.parameters import Parameters
from tests.support.grant_rows import new_session


@pytest.fixture
def session(acme):
    user = acme.user()
    with acme.active():
        return new_session(user)


@pytest.fixture
def sign(acme, application, session):
    """Sign an ID token of the session for the application, with changes. None leaves a claim out."""

    def sign(typ=tokens.ID_TOKEN_TYPE, **changes: Any) -> str:
        claims = {"iss": acme.issuer, "sub": str(session.user_id), "sid": str(session.pk)}
        claims |= {"aud": application.client_id, "iat": 2**31} | changes
        present = {name: value for name, value in claims.items() if value is not None}
        with acme.active():
            return signing.sign(present, typ=typ, key_id=SigningKey.objects.active().get().pk)

    return sign


def read(world, token):
    with world.active():
        return id_token_hint.read(token)


class TestHint:
    def test_names_the_user_the_session_and_the_application(self, acme, application, session, sign):
        hint = read(acme, sign())

        assert (hint.subject, hint.session_id) == (str(session.user_id), str(session.pk))
        assert (hint.client_id, hint.application) == (application.client_id, application)
        assert hint.issued_at == 2**31

    @pytest.mark.parametrize("iat", [None, "1", 1.5, 0, -1, 2**32])
    def test_without_a_time_that_can_be_stored_was_issued_at_0(self, acme, sign, iat):
        assert read(acme, sign(iat=iat)).issued_at == 0

    @pytest.mark.parametrize("iat", [1, 2**32 - 1])
    def test_keeps_every_other_time(self, acme, sign, iat):
        assert read(acme, sign(iat=iat)).issued_at == iat

    def test_case_E11_of_a_key_that_was_deleted_is_forged(self, acme, sign):
        token = sign()
        with acme.active():
            SigningKey.objects.all().delete()

        with pytest.raises(Forged):
            read(acme, token)

    def test_case_E11_of_a_deleted_key_is_forged_though_it_was_read_before(self, acme, sign):
        token = sign()
        read(acme, token)
        with acme.active():
            signed = SigningKey.objects.get()
            keys.rotate()
            signed.delete()

        with pytest.raises(Forged):
            read(acme, token)

    def test_of_another_issuer_or_type_is_forged(self, acme, sign):
        for token in (sign(iss="https://other.example"), sign(tokens.ACCESS_TOKEN_TYPE)):
            with pytest.raises(Forged):
                read(acme, token)

    def test_is_stored_as_its_subject(self, acme, session, sign):
        with acme.active():
            stored, forged = id_token_hint.to_stored(sign()), id_token_hint.to_stored("forged")

            assert id_token_hint.get_subject(stored, is_stored=True) == str(session.user_id)
            for hint, is_stored in ((stored, False), (forged, True), ("forged", True)):
                with pytest.raises(Forged):
                    id_token_hint.get_subject(hint, is_stored=is_stored)

    def test_a_stored_id_token_of_an_earlier_release_counts(self, acme, session, sign):
        with acme.active():
            assert id_token_hint.get_subject(sign(), is_stored=True) == str(session.user_id)


class TestLogoutRequest:
    @pytest.fixture
    def validate(self, acme):
        def validate(**values: str):
            with acme.active():
                return logout_request.validate(Parameters(values, frozenset()))

        return validate

    @pytest.mark.parametrize("is_third_party", [False, True])
    def test_decision_N10_only_a_first_party_ends_its_session_silently(
        self, acme, session, sign, validate, is_third_party
    ):
        with acme.active():
            Application.objects.update(is_third_party=is_third_party)
            other = new_session(session.user)

        request = validate(id_token_hint=sign())

        assert request.is_silent(session) is not is_third_party
        assert not request.is_silent(other)

    def test_decision_Q5_a_third_party_ends_no_session_from_a_server(self, acme, session, sign, validate):
        with acme.active():
            Application.objects.update(is_third_party=True)

            logout_request.end_session_of_hint(validate(id_token_hint=sign()))

            assert Session.objects.live().get() == session

    def test_decision_Q3_a_first_party_ends_the_session_that_the_hint_names(
        self, acme, session, sign, validate
    ):
        with acme.active():
            other = new_session(session.user)

            logout_request.end_session_of_hint(validate(id_token_hint=sign()))

            assert Session.objects.live().get() == other

    @pytest.mark.parametrize("claim", ["sub", "sid"])
    def test_decision_Q3_a_hint_of_another_user_or_session_ends_nothing(
        self, acme, session, sign, validate, claim
    ):
        with acme.active():
            for value in ("x", str(ids.new())):
                logout_request.end_session_of_hint(validate(id_token_hint=sign(**{claim: value})))

            assert Session.objects.live().get() == session

    def test_decision_O11_a_target_of_any_application_counts_if_nobody_is_named(self, acme, sign, validate):
        target = "https://rp.example/out"
        with acme.active():
            Application.objects.update(post_logout_redirect_uris=[target], redirect_uris=[])
        gone = sign(aud="gone")

        for named in ({"client_id": "gone"}, {"id_token_hint": gone}):
            with pytest.raises(Unanswerable, match="not registered"):
                validate(post_logout_redirect_uri=target, **named)

    @pytest.mark.parametrize("target", ["https://rp.example/#a", "com.example.app:/out", "/out"])
    def test_decision_O11_only_a_web_address_without_a_fragment_has_an_origin(
        self, acme, application, validate, target
    ):
        with acme.active():
            uris = ["https://rp.example/cb", "com.example.app:/cb"]
            Application.objects.update(redirect_uris=uris, post_logout_redirect_uris=[])

        with pytest.raises(Unanswerable, match="not registered"):
            validate(post_logout_redirect_uri=target, client_id=application.client_id)
