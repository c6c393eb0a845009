"""A rotation in its order (prepare, wait, rotate, wait, delete), and what the API says on the way."""

import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from identity.core import records
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey, SigningKeyUsage
from oidc.provider import client_authentication as clients
from tests.support import management
from tests.support.independent import claims_of, header_of, key_set, kids, verified
from tests.support.management import refusal_of, result_of

PATH = "/signing-keys"
NOTHING = {"last_token_expires_at": None, "safe_to_delete_at": None}


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def prepared(admin):
    return result_of(admin.post(f"{PATH}/prepare"))


def rotated(admin):
    return result_of(admin.post(f"{PATH}/rotate"))


def detail(admin, key):
    return result_of(admin.get(f"{PATH}/{key['id']}"))


def listed(admin):
    return result_of(admin.get(PATH))


def machine_token(machine, **form):
    answer = machine.token(grant_type="client_credentials", **form)
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def moment(text):
    return datetime.fromisoformat(text).timestamp()


def events(acme):
    written = Entry.objects.filter(tenant_id=acme.tenant.pk, key__startswith="SigningKey.")
    return [(entry.key, entry.payload["kid"]) for entry in written.order_by("pk")]


class TestPrepare:
    def test_decision_K1_publishes_a_key_that_signs_nothing_yet(self, acme, admin):
        machine = acme.application("MachineToMachine")
        [active] = listed(admin)

        key = prepared(admin)

        assert (key["status"], key["activated_at"], key["retired_at"]) == ("next", None, None)
        assert key["published_at"] == key["created_at"]
        assert kids(acme) == [active["id"], key["id"]]
        assert {header_of(machine_token(machine))["kid"] for _ in range(4)} == {active["id"]}

    def test_decision_K1_answers_with_the_key_that_waits_already(self, acme, admin):
        first, again = prepared(admin), prepared(admin)

        assert first == again
        assert events(acme) == [("SigningKey.Prepare", first["id"])]

    def test_decision_K1_the_database_itself_holds_one_next_key(self, acme, admin):
        prepared(admin)

        with acme.active(), pytest.raises(IntegrityError, match=r"(?i)unique"), transaction.atomic():
            signing.generate().save(force_insert=True)

    @pytest.mark.parametrize(
        "dates",
        [
            {"status": "next", "activated_at": timezone.now()},
            {"status": "previous", "activated_at": None, "retired_at": timezone.now()},
            {"status": "active", "activated_at": None},
        ],
    )
    def test_the_database_itself_holds_phases_to_their_dates(self, acme, admin, dates):
        key = prepared(admin)

        with acme.active():
            SigningKey.objects.active().delete()
            with pytest.raises(IntegrityError, match=r"(?i)check"), transaction.atomic():
                SigningKey.objects.filter(pk=key["id"]).update(**dates)

    def test_decision_T2_is_of_one_tenant(self, acme, rival, admin):
        theirs = kids(rival)

        key = prepared(admin)

        assert kids(rival) == theirs
        refusal_of(admin.at(rival).get(f"{PATH}/{key['id']}"), 404)
        refusal_of(admin.at(rival).delete(f"{PATH}/{key['id']}"), 404)
        assert prepared(admin.at(rival))["id"] != key["id"]

    def test_says_that_the_tenant_is_gone(self, acme):
        with acme.active():
            acme.tenant.delete()

            for change in (keys.prepare, keys.rotate):
                with pytest.raises(records.Gone):
                    change()


class TestRotate:
    def test_decision_K1_promotes_the_key_that_waits(self, acme, admin):
        machine = acme.application("MachineToMachine")
        [old] = listed(admin)
        waiting = prepared(admin)
        known_before = key_set(acme)

        active = rotated(admin)

        assert (active["id"], active["status"]) == (waiting["id"], "active")
        assert active["published_at"] == waiting["published_at"] < active["activated_at"]
        token = machine_token(machine)
        assert header_of(token)["kid"] == active["id"]
        # Who fetched the key set before the rotation needs no second look.
        assert verified(token, known_before)["client_id"] == machine.client_id
        assert [(key["id"], key["status"]) for key in listed(admin)] == [
            (active["id"], "active"),
            (old["id"], "previous"),
        ]

    def test_decision_K1_makes_a_key_where_none_waits(self, acme, admin):
        [old] = listed(admin)

        active = rotated(admin)

        assert active["id"] != old["id"]
        assert listed(admin)[1]["retired_at"] is not None
        assert events(acme) == [("SigningKey.Rotate", active["id"])]

    def test_lists_active_next_and_previous_newest_first_as_the_key_set_does(self, acme, admin):
        [first] = listed(admin)
        second = rotated(admin)
        waiting = prepared(admin)
        third = rotated(admin)
        fourth = prepared(admin)

        in_order = [key["id"] for key in listed(admin)]

        assert waiting["id"] == third["id"]
        assert in_order == [third["id"], fourth["id"], second["id"], first["id"]]
        assert kids(acme) == in_order

    def test_dates_follow_each_other(self, admin):
        prepared(admin)
        rotated(admin)

        rotated(admin)

        active, retired, first = listed(admin)
        assert retired["published_at"] < retired["activated_at"] < retired["retired_at"]
        assert first["retired_at"] <= retired["activated_at"]
        assert retired["retired_at"] <= active["activated_at"]
        assert active["retired_at"] is None

    def test_case_K08_refuses_a_key_that_does_not_open_and_leaves_the_active_one(self, acme, admin):
        machine = acme.application("MachineToMachine")
        [old] = listed(admin)
        waiting = prepared(admin)
        with acme.active():
            sealed_elsewhere = SigningKey.objects.get(pk=old["id"]).sealed_private_key
            SigningKey.objects.filter(pk=waiting["id"]).update(sealed_private_key=sealed_elsewhere)

        message = refusal_of(admin.post(f"{PATH}/rotate"), 400)

        assert "ENCRYPTION_KEYS" in message
        assert header_of(machine_token(machine))["kid"] == old["id"]
        result_of(admin.delete(f"{PATH}/{waiting['id']}"))
        active = rotated(admin)
        assert header_of(machine_token(machine))["kid"] == active["id"] != waiting["id"]


class TestDelete:
    def test_decision_K1_a_key_that_was_never_used_may_go(self, acme, admin):
        [active] = listed(admin)
        waiting = prepared(admin)

        result_of(admin.delete(f"{PATH}/{waiting['id']}"))

        assert kids(acme) == [active["id"]]
        refusal_of(admin.delete(f"{PATH}/{waiting['id']}"), 404)
        assert events(acme) == [("SigningKey.Prepare", waiting["id"]), ("SigningKey.Delete", waiting["id"])]
        assert prepared(admin)["id"] != waiting["id"]

    def test_case_F18_the_active_key_stays_while_another_waits(self, acme, admin):
        [active] = listed(admin)
        prepared(admin)

        refusal_of(admin.delete(f"{PATH}/{active['id']}"), 400)

        assert active["id"] in kids(acme)

    def test_decision_K2_a_key_with_unexpired_tokens_may_go_too(self, acme, admin):
        machine = acme.application("MachineToMachine")
        machine_token(machine)
        [old] = listed(admin)
        rotated(admin)
        assert moment(detail(admin, old)["safe_to_delete_at"]) > time.time()

        result_of(admin.delete(f"{PATH}/{old['id']}"))

        assert old["id"] not in kids(acme)

    def test_a_token_request_whose_key_vanishes_is_signed_with_the_new_one(self, acme, monkeypatch):
        client = acme.application("MachineToMachine")
        found_by = clients.find

        def too_slow(client_id):
            """Rotate and delete between the statement that names the key and the signature."""
            application: Any = found_by(client_id)
            monkeypatch.undo()
            keys.rotate()
            keys.remove(SigningKey.objects.get(pk=application.default_key_id))
            return application

        monkeypatch.setattr(clients, "find", too_slow)
        answer = Client().generic(
            "POST",
            f"/t/{acme.tenant.slug}/oidc/token",
            f"grant_type=client_credentials&client_id={client.client_id}&client_secret={client.secret}",
            content_type="application/x-www-form-urlencoded",
        )

        assert answer.status_code == 200, answer.content
        [published] = key_set(acme)["keys"]
        assert header_of(answer.json()["access_token"])["kid"] == published["kid"]


class TestUsage:
    """When the last token of a key expires."""

    def test_decision_K2_covers_every_access_and_id_token(self, acme, admin):
        client, user = acme.application(), acme.user()
        machine = acme.application("MachineToMachine")
        [key] = listed(admin)

        tokens = client.tokens_for(user)
        refreshed = client.refresh(tokens["refresh_token"]).json()
        without_openid = client.refresh(refreshed["refresh_token"], scope="profile").json()
        issued = [
            machine_token(machine),
            *(answer[name] for answer in (tokens, refreshed) for name in ("access_token", "id_token")),
            without_openid["access_token"],
        ]

        assert "id_token" not in without_openid
        assert {header_of(token)["kid"] for token in issued} == {key["id"]}
        last = max(claims_of(token)["exp"] for token in issued)
        assert moment(detail(admin, key)["last_token_expires_at"]) == full_hour(last)

    def test_decision_K2_says_when_the_last_of_them_expires(self, acme, admin):
        machine = acme.application("MachineToMachine")
        result_of(admin.put(f"/applications/{machine.application.pk}/roles", role_ids=[long_lived(admin)]))
        [key] = listed(admin)
        exps = [
            claims_of(machine_token(machine, **form))["exp"]
            for form in ({}, {"resource": "https://long.example"})
        ]
        rotated(admin)
        machine_token(machine)

        shown = detail(admin, key)

        assert moment(shown["safe_to_delete_at"]) == full_hour(max(exps)) > time.time() + 2 * 24 * 3600
        assert shown["last_token_expires_at"] == shown["safe_to_delete_at"]

    def test_decision_K2_the_active_key_is_never_safe_and_the_next_signed_nothing(self, acme, admin):
        token = machine_token(acme.application("MachineToMachine"))
        [active], waiting = listed(admin), prepared(admin)

        shown = detail(admin, active)

        assert moment(shown["last_token_expires_at"]) == full_hour(claims_of(token)["exp"])
        assert shown["safe_to_delete_at"] is None
        assert detail(admin, waiting) == waiting | NOTHING

    def test_decision_K2_without_unexpired_tokens_it_is_safe_now(self, acme, admin):
        [key] = listed(admin)
        with acme.active():
            SigningKeyUsage.objects.create(key_id=key["id"], expires_at=timezone.now() - timedelta(seconds=1))
        rotated(admin)

        shown = detail(admin, key)

        assert shown == shown | NOTHING

    def test_decision_T2_tokens_of_another_tenant_do_not_count(self, acme, rival, admin):
        machine_token(rival.application("MachineToMachine"))
        [key] = listed(admin)

        assert detail(admin, key)["last_token_expires_at"] is None
        assert management.superuser(rival).get(f"{PATH}/{key['id']}").status_code == 404

    def test_decision_K2_failures_count_nothing(self, acme, admin):
        machine = acme.application("MachineToMachine")
        [key] = listed(admin)

        answer = machine.token(grant_type="client_credentials", resource="https://unknown.example")

        assert answer.status_code == 400
        assert detail(admin, key)["last_token_expires_at"] is None

    def test_tells_nothing_of_the_private_half(self, admin):
        answer = admin.get(f"{PATH}/{listed(admin)[0]['id']}")

        assert not {"public_jwk", "sealed_private_key"} & set(result_of(answer))


def full_hour(exp):
    """The first full hour that is not before ``exp``."""
    return -(-exp // 3600) * 3600


def long_lived(admin):
    """A machine role with a scope of a resource whose tokens live for three days."""
    resource = admin.created(
        "/resources", name="Long", indicator="https://long.example", access_token_ttl=3 * 24 * 3600
    )
    scope = admin.created(f"/resources/{resource['id']}/scopes", name="read")
    role = admin.created("/roles", name="Reader", type="MachineToMachine")
    result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))
    return role["id"]
