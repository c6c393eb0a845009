"""How the private halves of signing keys lie in the database."""

import base64
import re
from contextlib import contextmanager

import httpx
import pytest
from django.conf import settings as configured

from identity.core import tenancy
from identity.encryption import keyring
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import second
from tests.support.independent import key_set, verified

pytestmark = pytest.mark.usefixtures("compared")


@contextmanager
def forgotten():
    """Work with nothing remembered of any key, as in a worker that has just begun."""
    for cache in (signing._private_key, signing._public_key):
        cache.cache_clear()
    yield
    for cache in (signing._private_key, signing._public_key):
        cache.cache_clear()


class TestAtRest:
    """The private half, as a thief of the database finds it."""

    def test_case_K07_the_row_holds_no_private_key_in_any_spelling(self, acme):
        with acme.active():
            row = SigningKey.objects.get()
            private = signing._private_key(acme.tenant.pk, row.pk).key
        number = private.private_numbers().private_value
        secret = number.to_bytes(32, "big")

        stored = f"{row.sealed_private_key} {row.public_jwk}"
        _, _, sealed = row.sealed_private_key.partition(".")
        raw = base64.urlsafe_b64decode(sealed)

        assert secret not in raw
        assert "PRIVATE KEY" not in stored
        assert "d" not in row.public_jwk
        for spelling in (secret.hex(), base64.b64encode(secret).decode()[:40], str(number)):
            assert spelling not in stored

    def test_case_K07_two_keys_of_one_value_would_not_look_alike(self):
        one = keyring.encrypt(b"the same", purpose="a test", bound_to="here")
        other = keyring.encrypt(b"the same", purpose="a test", bound_to="here")

        assert one != other
        assert keyring.decrypt(one, purpose="a test", bound_to="here") == b"the same"
        assert keyring.decrypt(other, purpose="a test", bound_to="here") == b"the same"

    def test_case_K09_a_private_key_copied_to_another_row_does_not_open(self, acme):
        with acme.active():
            old = SigningKey.objects.get()
            new = keys.rotate()
            SigningKey.objects.filter(pk=new.pk).update(sealed_private_key=old.sealed_private_key)

            with forgotten(), pytest.raises(keyring.UnknownKey):
                signing.sign({}, typ="JWT", key_id=new.pk)

    def test_case_K09_a_row_moved_to_another_tenant_does_not_open(self, acme, rival):
        with acme.active():
            row = keys.rotate()
        with tenancy.using(tenancy.EVERYWHERE):
            SigningKey.objects.filter(tenant=rival.tenant).delete()
            SigningKey.objects.filter(pk=row.pk).update(tenant=rival.tenant)

        with rival.active(), forgotten(), pytest.raises(keyring.UnknownKey):
            signing.sign({}, typ="JWT", key_id=row.pk)

    @pytest.mark.parametrize("purpose", ["refresh tokens", "client secrets", "administrator tokens"])
    def test_case_K09_a_key_of_one_purpose_opens_nothing_of_another(self, purpose):
        sealed = keyring.encrypt(b"signing", purpose="signing keys", bound_to="here")

        with pytest.raises(keyring.UnknownKey):
            keyring.decrypt(sealed, purpose=purpose, bound_to="here")

    @pytest.mark.parametrize("position", [9, 20, 40, -3])
    def test_case_K09_one_altered_character_is_noticed(self, position):
        sealed = keyring.encrypt(b"0" * 40, purpose="a test", bound_to="here")
        other = "A" if sealed[position] != "A" else "B"
        altered = sealed[:position] + other + sealed[position:][1:]

        with pytest.raises(keyring.UnknownKey):
            keyring.decrypt(altered, purpose="a test", bound_to="here")

    def test_case_K08_a_key_put_in_front_opens_what_the_old_one_sealed(self, acme, settings):
        ring = configured.ENCRYPTION_KEYS
        with acme.active():
            old = SigningKey.objects.get()
            settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))} | ring

            with forgotten():
                token = signing.sign({"sub": "x"}, typ="JWT", key_id=old.pk)
                new = keys.rotate()

        assert verified(token, key_set(acme)) == {"sub": "x"}
        assert old.sealed_private_key.startswith(f"{next(iter(ring))}.")
        assert new.sealed_private_key.startswith("feedbeef.")

    def test_case_K08_without_its_key_nothing_opens_and_nothing_is_signed(self, acme, settings):
        with acme.active():
            row = SigningKey.objects.get()
            settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))}

            with forgotten(), pytest.raises(keyring.UnknownKey):
                signing.sign({}, typ="JWT", key_id=row.pk)

    def test_case_K08_a_wrong_key_under_the_right_name_opens_nothing(self, acme, settings):
        with acme.active():
            row = SigningKey.objects.get()
            settings.ENCRYPTION_KEYS = dict.fromkeys(configured.ENCRYPTION_KEYS, bytes(range(32)))

            with forgotten(), pytest.raises(keyring.UnknownKey):
                signing.sign({}, typ="JWT", key_id=row.pk)

    def test_case_K08_a_server_with_another_ring_issues_nothing(self, acme):
        client, user = acme.application("SPA"), acme.user()
        code = acme.browser().code_for(client, user)
        ring = base64.urlsafe_b64encode(bytes(range(32))).decode()

        with second.running(ENCRYPTION_KEYS=ring) as elsewhere:
            answer = httpx.post(
                f"{elsewhere}/t/{acme.tenant.slug}/oidc/token",
                data={
                    "grant_type": "authorization_code",
                    "client_id": client.client_id,
                    "code": code,
                    "redirect_uri": client.application.redirect_uris[0],
                    "code_verifier": client.verifier,
                },
            )

        assert answer.status_code == 500
        assert answer.json()["error"] == "server_error"
        assert "token" not in answer.text
        assert "Traceback" not in answer.text
        # The refused request used nothing up (decision O3).
        assert client.redeem(code, auth=None, client_id=client.client_id).status_code == 200

    def test_case_F25_the_installation_key_has_256_bits(self):
        assert {len(key) for key in configured.ENCRYPTION_KEYS.values()} == {32}
        assert len(keyring.subkey("administrator tokens", keyring.current_id())) == 32

    def test_the_name_of_a_key_does_not_give_it_away(self):
        for name, key in configured.ENCRYPTION_KEYS.items():
            assert re.fullmatch(r"[0-9a-f]{8}", name)
            assert name not in key.hex()
