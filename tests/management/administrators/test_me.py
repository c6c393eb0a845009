"""What an administrator's token says of its bearer, and what ends it at once."""

import secrets
from io import StringIO

import httpx
import pytest
from django.conf import settings as configured
from django.core.management import call_command

from identity.core import tenancy
from management.administrators import services as administrators
from management.administrators import tokens
from management.administrators.models import Administrator
from tests.support.administrator_tokens import ME, is_unknown, me, sign_in
from tests.support.cast import PASSWORD
from tests.support.independent import bearer, header_of


class TestMe:
    """GET /api/admin/me."""

    def test_decision_T5_shows_oneself_and_what_one_manages(self, acme, administrator, token):
        limited = administrators.create(
            username=f"b-{secrets.token_hex(4)}", password=PASSWORD, email="b@b.example"
        )
        limited.tenants.add(acme.tenant)

        shown, seen = me(token).json()["result"], me(tokens.issue(limited)).json()["result"]

        assert set(shown) == {
            *("id", "username", "email", "phone", "is_superuser", "tenants", "created_at", "updated_at")
        }
        assert (shown["id"], shown["username"]) == (administrator.pk, administrator.username)
        assert (shown["is_superuser"], shown["tenants"]) == (True, [])
        assert (seen["email"], seen["phone"]) == ("b@b.example", "")
        assert (seen["is_superuser"], seen["tenants"]) == (False, [acme.tenant.slug])

    def test_decision_H6_times_are_utc_with_milliseconds(self, token):
        shown = me(token).json()["result"]

        for name in ("created_at", "updated_at"):
            assert len(shown[name]) == len("2026-01-01T00:00:00.000Z")
            assert shown[name].endswith("Z")

    def test_shows_no_password_in_any_form(self, token):
        text = me(token).text

        assert "password" not in text
        assert "argon2" not in text

    def test_decision_T5_one_token_works_at_the_root_and_under_a_prefix(self, acme, administrator, token):
        for place in (configured.BASE_URL, acme.address):
            assert me(token, place).json()["result"]["id"] == administrator.pk

    def test_a_token_got_under_a_prefix_works_at_the_root(self, acme, administrator):
        got = sign_in(acme.address, username=administrator.username, password=PASSWORD)

        assert me(got.json()["result"]["access_token"]).status_code == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Authorization": ""},
            {"Authorization": "Bearer"},
            {"Authorization": "Basic YWRtaW46eA=="},
            {"Authorization": "Token {token}"},
            {"Authorization": "{token}"},
            {"Authorization": "Bearer {token} x"},
            {"Authorization": "Bearer x {token}"},
            {"Authorization": "Bearer\t{token}x"},
            {"Cookie": "access_token={token}"},
            {"X-Authorization": "Bearer {token}"},
        ],
        ids=range(11),
    )
    def test_case_H01_without_a_token_in_its_place_nobody_is_known(self, token, headers):
        filled = {name: value.replace("{token}", token) for name, value in headers.items()}

        is_unknown(httpx.get(f"{configured.BASE_URL}{ME}", headers=filled))

    def test_case_F24_a_token_in_the_address_is_not_read(self, token):
        is_unknown(httpx.get(f"{configured.BASE_URL}{ME}", params={"access_token": token}))

    def test_the_scheme_is_written_in_any_case(self, token):
        answer = httpx.get(f"{configured.BASE_URL}{ME}", headers={"Authorization": f"bEARER {token}"})

        assert answer.status_code == 200

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    def test_decision_H3_other_methods_are_405(self, token, method):
        answer = httpx.request(method, f"{configured.BASE_URL}{ME}", headers=bearer(token))

        assert (answer.status_code, answer.json()["code"]) == (405, 405)

    @pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
    def test_case_H12_a_method_in_a_header_is_ignored(self, administrator, token, header):
        assert me(token, **{header: "DELETE"}).status_code == 200
        assert Administrator.objects.filter(pk=administrator.pk).exists()


class TestWhatEndsATokenAtOnce:
    def test_case_H11_a_deleted_administrator_is_unknown(self, administrator, token):
        for _ in range(4):
            assert me(token).status_code == 200

        administrator.delete()

        for _ in range(4):
            is_unknown(me(token))

    def test_who_comes_after_under_the_same_id_is_another(self, administrator, token):
        pk = administrator.pk
        administrator.delete()
        successor = Administrator(pk=pk, username=f"d-{secrets.token_hex(4)}")
        successor.set_password(PASSWORD)
        successor.save(force_insert=True)

        is_unknown(me(token))

    def test_a_new_password_ends_the_tokens_of_the_old_one(self, administrator, token):
        administrator.set_password("another password")
        administrator.save()

        for _ in range(4):
            is_unknown(me(token))
        assert sign_in(username=administrator.username, password=PASSWORD).status_code == 401
        again = sign_in(username=administrator.username, password="another password")
        assert me(again.json()["result"]["access_token"]).status_code == 200

    def test_djangos_own_command_for_passwords_ends_them_too(self, administrator, token, monkeypatch):
        monkeypatch.setattr("getpass.getpass", lambda **_: "an0ther passw0rd!")

        call_command("changepassword", administrator.username, stdout=StringIO())

        is_unknown(me(token))
        assert sign_in(username=administrator.username, password="an0ther passw0rd!").status_code == 200

    def test_the_same_password_set_again_ends_them_as_well(self, administrator, token):
        administrator.set_password(PASSWORD)
        administrator.save()

        is_unknown(me(token))

    def test_another_administrators_stay(self, administrator, token):
        other = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)

        other.delete()

        assert me(token).status_code == 200

    def test_a_demotion_counts_at_once(self, administrator, token):
        Administrator.objects.filter(pk=administrator.pk).update(is_superuser=False)

        assert me(token).json()["result"]["is_superuser"] is False

    def test_a_key_dropped_from_the_ring_ends_its_tokens(self, administrator, settings):
        ring = configured.ENCRYPTION_KEYS
        settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))} | ring
        token = tokens.issue(administrator)
        with tenancy.using(tenancy.DEFAULT):
            assert tokens.get_administrator(token) == administrator

            settings.ENCRYPTION_KEYS = ring

            with pytest.raises(tokens.InvalidToken):
                tokens.get_administrator(token)

    def test_a_key_put_in_front_of_the_ring_ends_nothing(self, administrator, token, settings):
        settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))} | configured.ENCRYPTION_KEYS

        with tenancy.using(tenancy.DEFAULT):
            assert tokens.get_administrator(token) == administrator
        assert header_of(tokens.issue(administrator))["kid"] == "feedbeef"
