"""Passkeys as rows: whose they are, how many, and that a challenge and a counter count once."""

import pytest
from django.db import connection

from identity.factors import ceremonies, ceremony_options, credential_json, passkeys, services
from identity.factors.ceremony_options import Account
from identity.factors.challenges import Binding, Ceremony
from identity.factors.errors import AlreadyEnrolled, TooManyFactors
from identity.factors.models import Passkey
from identity.factors.passkey_refusals import PasskeyRefused
from identity.submissions.models import UsedOnce
from identity.users.models import User
from tests.support.passkey_device import Device
from tests.support.threads import at_once

BROWSER = "a" * 64


@pytest.fixture
def device(settings):
    return Device(settings.BASE_URL, flags=0, step=1)


def created(user, device, **wrong):
    binding = Binding(Ceremony.SET_UP, BROWSER)
    account = Account(user.pk.bytes, "ada", "")
    document = device.create(ceremony_options.creation_options(binding, account, "Acme", ()), **wrong)
    return ceremonies.verify_registration(credential_json.read_registration(document), binding)


def proven(passkey, document):
    answer = credential_json.read_assertion(document)
    return ceremonies.verify_assertion(answer, passkeys.read(passkey), [Binding(Ceremony.SIGN_IN, BROWSER)])


def request():
    return ceremony_options.request_options(Binding(Ceremony.SIGN_IN, BROWSER), ())


class TestAdding:
    def test_it_is_found_by_its_credential_with_its_user(self, acme, rival, device):
        user = acme.user()
        with acme.active():
            stored = passkeys.add(user, created(user, device), name="Phone")

            found = passkeys.find(stored.credential_id)
            assert found == stored
            assert found is not None
            assert found.user == user
            assert list(passkeys.filter_first_factors(passkeys.usable(user))) == [stored]
            assert User.objects.get(pk=user.pk).factors == 1 | 8
        with rival.active():
            assert passkeys.find(stored.credential_id) is None

    def test_case_MT24_a_known_credential_is_refused_in_this_tenant_only(self, acme, rival, device):
        user, other, stranger = acme.user(), acme.user(), rival.user()
        with acme.active():
            passkeys.add(user, created(user, device, credential_id=b"the same"))
            with pytest.raises(AlreadyEnrolled):
                passkeys.add(other, created(other, device, credential_id=b"the same"))
            with pytest.raises(AlreadyEnrolled):
                passkeys.add(user, created(user, device, credential_id=b"the same"))
        with rival.active():
            other_one = passkeys.add(stranger, created(stranger, device, credential_id=b"the same"))
            assert other_one.user_id == stranger.pk

    def test_decision_M7_a_user_has_at_most_twenty(self, acme, device):
        user = acme.user()
        with acme.active():
            for _ in range(20):
                passkeys.add(user, created(user, device))

            with pytest.raises(TooManyFactors):
                passkeys.add(user, created(user, device))

    def test_decision_M23_a_passkey_of_another_address_is_not_offered(self, acme, device):
        user = acme.user()
        with acme.active():
            stored = passkeys.add(user, created(user, device))
            Passkey.objects.filter(pk=stored.pk).update(rp_id="old.example.com")

            assert list(passkeys.usable(user)) == []

    def test_case_MT19_a_challenge_registers_once(self, acme, device):
        user = acme.user()
        with acme.active():
            new = created(user, device)
            passkeys.add(user, new)
            Passkey.objects.all().delete()

            with pytest.raises(PasskeyRefused) as refused:
                passkeys.add(user, new)
            assert refused.value.check == "challenge_used"


class TestUsing:
    @pytest.fixture
    def stored(self, acme, device):
        user = acme.user()
        with acme.active():
            yield passkeys.add(user, created(user, device))

    def test_decision_M28_the_counter_is_stored(self, stored, device):
        passkeys.record_use(stored, proven(stored, device.get(request())))

        stored.refresh_from_db()
        assert (stored.sign_count, stored.last_used_at is None) == (1, False)

    def test_case_MT19_an_assertion_counts_once(self, stored, device):
        device.step = 0
        document = device.get(request())
        passkeys.record_use(stored, proven(stored, document))

        with pytest.raises(PasskeyRefused) as refused:
            passkeys.record_use(stored, proven(stored, document))
        assert refused.value.check == "challenge_used"
        assert UsedOnce.objects.count() == 2

    def test_case_MT25_two_uses_of_one_counter_are_one(self, stored, device):
        first, second = (proven(stored, device.get(request(), counter=5)) for _ in range(2))
        passkeys.record_use(stored, first)

        with pytest.raises(PasskeyRefused) as refused:
            passkeys.record_use(stored, second)
        assert refused.value.check == "counter"

    def test_a_passkey_that_was_removed_meanwhile_is_unknown(self, stored, device):
        good = proven(stored, device.get(request()))
        Passkey.objects.all().delete()

        with pytest.raises(PasskeyRefused) as refused:
            passkeys.record_use(stored, good)
        assert refused.value.check == "unknown_credential"

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
    )
    def test_decision_M62_one_assertion_eight_times_counts_once(self, acme, stored, device):
        good = proven(stored, device.get(request()))

        def use(_):
            with acme.active():
                try:
                    passkeys.record_use(stored, good)
                except PasskeyRefused as refused:
                    return refused.check
                return None

        assert sorted(map(str, at_once(8, use))) == sorted(["None", *["challenge_used"] * 7])


class TestRenaming:
    def test_only_the_own_ones_have_a_new_name(self, acme, device):
        user, other = acme.user(), acme.user()
        with acme.active():
            stored = passkeys.add(user, created(user, device))

            with pytest.raises(services.NoSuchFactor):
                services.rename(other, stored.pk, "Mine")
            user.refresh_from_db()
            services.rename(user, stored.pk, "Phone")
            assert services.find_named(user, stored.pk).name == "Phone"
