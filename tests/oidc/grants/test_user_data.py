"""The grants that end when an account changes its owner."""

from datetime import UTC, datetime

from django.db import transaction

from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from oidc.grants.user_data import USER_DATA
from tests.support.grant_rows import new_code, new_family, new_session


def test_all_grants_of_this_user_end(acme):
    user, other, application = acme.user(), acme.user(), acme.application().application
    before = datetime.now(UTC)
    with acme.active():
        for person in (user, other):
            session = new_session(person)
            consents.grant(person, application, ConsentRequest(("openid",)))
            new_code(application, session)
            new_family(application, session)
        session = new_session(user)
        redeemed = new_code(application, session, consumed_at=before)
        ended = new_family(application, session, ended_at=before, end_reason="revoked")

        with transaction.atomic():
            for kind in USER_DATA:
                kind.end(user)

        assert list(AuthorizationCode.objects.filter(user=user)) == [redeemed]
        assert not Consent.objects.filter(user=user).exists()
        families = RefreshFamily.objects.filter(user=user).exclude(pk=ended.pk)
        assert [(row.end_reason, row.ended_at is None) for row in families] == [("owner_changed", False)]
        ended.refresh_from_db()
        assert (ended.end_reason, ended.ended_at) == ("revoked", before)
        assert AuthorizationCode.objects.filter(user=other).exists()
        assert Consent.objects.filter(user=other).exists()
        assert RefreshFamily.objects.get(user=other).ended_at is None
