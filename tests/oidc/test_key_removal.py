"""Which signing keys can be removed, and what that ends."""

import pytest

from audit.models import Entry
from identity.core import records
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import independent
from tests.support.independent import key_set, kids, verified
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("compared")


class TestRemove:
    def test_the_active_key_cannot_be_removed(self, acme):
        with acme.active():
            active = SigningKey.objects.active().get()

            with pytest.raises(keys.KeyIsActive) as refusal:
                keys.remove(active)

        assert (refusal.value.status, refusal.value.reason) == (400, "key_is_active")
        assert kids(acme) == [str(active.pk)]

    def test_a_stale_view_of_the_key_does_not_help(self, acme):
        """The caller read the row as previous; it is active by now, or always was."""
        with acme.active():
            active = SigningKey.objects.active().get()
            active.status = SigningKey.Status.PREVIOUS

            with pytest.raises(keys.KeyIsActive):
                keys.remove(active)

        assert kids(acme) == [str(active.pk)]

    def test_decision_T2_a_key_of_another_tenant_is_not_there_to_be_removed(self, acme, rival):
        with rival.active():
            theirs = SigningKey.objects.get()
            keys.rotate()

        with acme.active(), pytest.raises(records.Gone):
            keys.remove(theirs)

        assert str(theirs.pk) in kids(rival)

    def test_case_F18_what_it_signed_is_refused_at_once_by_every_worker(self, acme):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()
        for _ in range(8):
            # Every worker has the key in its memory by now.
            assert client.userinfo(tokens["access_token"]).status_code == 200

        with acme.active():
            keys.remove(old)

        answers = [client.userinfo(tokens["access_token"]) for _ in range(8)]
        assert {answer.status_code for answer in answers} == {401}
        assert 'error="invalid_token"' in answers[0].headers["WWW-Authenticate"]
        assert str(old.pk) not in kids(acme)

    def test_case_F18_a_refresh_goes_on_under_the_new_key(self, acme):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()
            keys.remove(old)

        refreshed = client.refresh(tokens["refresh_token"])

        assert refreshed.status_code == 200
        assert verified(refreshed.json()["id_token"], key_set(acme))["sub"] == str(user.pk)

    def test_case_F04_a_token_that_names_a_key_of_another_tenant_is_refused(self, acme, rival):
        client, user = acme.application(), acme.user()
        token = client.tokens_for(user)["access_token"]
        with rival.active():
            active = SigningKey.objects.get()
            forged = signing.sign(independent.claims_of(token), typ="at+jwt", key_id=active.pk)

        answer = client.userinfo(forged)

        assert answer.status_code == 401

    def test_decision_A1_is_written_down_once(self, acme):
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()
            keys.remove(old)
            with pytest.raises(records.Gone):
                keys.remove(old)

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SigningKey.Delete")
        assert [entry.payload for entry in entries] == [{"kid": str(old.pk)}]

    def test_a_key_removed_twice_at_once_is_removed_once(self, acme):
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()

        def work(_):
            with acme.active():
                try:
                    keys.remove(old)
                except records.Gone:
                    return False
                return True

        assert sum(at_once(6, work)) == 1
        assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="SigningKey.Delete").count() == 1
