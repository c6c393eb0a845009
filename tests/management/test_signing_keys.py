"""/signing-keys of the management API: rotation, and which key may go."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from oidc.keys import services as keys
from oidc.keys import signing, views
from oidc.keys.models import SigningKey
from tests.support.admin_pages import operate
from tests.support.management import refusal_of, result_of

PREVIOUS = SigningKey.Status.PREVIOUS
MESSAGE = "the algorithm has 20 previous signing keys: delete old ones first"


class TestSigningKeys:
    def test_lists_the_active_key_and_those_before(self, admin):
        keys = result_of(admin.get("/signing-keys"))

        assert [set(key) for key in keys] == [
            {
                *("id", "status", "algorithm", "is_default"),
                *("created_at", "published_at", "activated_at", "retired_at"),
            }
        ]
        assert (keys[0]["status"], keys[0]["algorithm"], keys[0]["is_default"]) == ("active", "ES256", True)

    def test_rotates_and_forgets(self, acme, admin):
        old = result_of(admin.get("/signing-keys"))[0]

        new = result_of(admin.post("/signing-keys/rotate"))
        listed = {key["id"]: key["status"] for key in result_of(admin.get("/signing-keys"))}
        removed = result_of(admin.delete(f"/signing-keys/{old['id']}"))

        assert listed == {old["id"]: "previous", new["id"]: "active"}
        assert removed is None
        assert [key["kid"] for key in acme.get("/.well-known/jwks.json").json()["keys"]] == [new["id"]]

    def test_keeps_the_active_key(self, admin):
        active = result_of(admin.get("/signing-keys"))[0]

        refusal_of(admin.delete(f"/signing-keys/{active['id']}"), 400)

        assert result_of(admin.get("/signing-keys")) == [active]
        assert admin.delete("/signing-keys/x").status_code == 404


def rotate_until_the_limit(world, algorithm="ES256"):
    with world.active():
        keys.ensure(algorithm)
        for _ in range(20):
            keys.rotate(algorithm)
        return SigningKey.objects.filter(algorithm=algorithm, status=PREVIOUS).first()


def count_of(world, **of):
    with world.active():
        return SigningKey.objects.filter(**of).count()


class TestLimit:
    """An algorithm has at most 20 previous keys: each is a part of every response with the key set."""

    def test_decision_K3_a_rotation_and_a_preparation_say_what_to_do(self, acme, admin):
        old = rotate_until_the_limit(acme)

        refused = [refusal_of(admin.post(f"/signing-keys/{verb}"), 400) for verb in ("rotate", "prepare")]
        another = result_of(admin.post("/signing-keys/rotate", algorithm="EdDSA"))
        result_of(admin.delete(f"/signing-keys/{old.pk}"))
        new = result_of(admin.post("/signing-keys/rotate"))

        assert refused == [MESSAGE, MESSAGE]
        assert (another["status"], new["status"]) == ("active", "active")
        assert count_of(acme, status=PREVIOUS) == 20

    def test_decision_K3_a_next_key_that_was_published_before_waits(self, acme, admin):
        with acme.active():
            prepared = keys.prepare()
            for key in (signing.generate() for _ in range(20)):
                key.status, key.activated_at, key.retired_at = PREVIOUS, key.created_at, key.created_at
                key.save()

        again = result_of(admin.post("/signing-keys/prepare"))

        assert again["id"] == str(prepared.pk)
        assert refusal_of(admin.post("/signing-keys/rotate"), 400) == MESSAGE

    def test_decision_K3_retiring_an_algorithm_does_not_exceed_it(self, acme, admin):
        rotate_until_the_limit(acme, "EdDSA")

        refusal = refusal_of(admin.post("/signing-keys/retire", algorithm="EdDSA"), 400)

        assert refusal == MESSAGE
        assert count_of(acme, algorithm="EdDSA", status=PREVIOUS) == 20

    def test_decision_K3_the_operators_site_says_so(self, acme, operator):
        rotate_until_the_limit(acme)

        page = operate(operator, "keys/signingkey", None, "rotate")

        assert page.status_code == 400
        assert MESSAGE in page.text.lower()

    def test_decision_K3_the_command_names_the_tenant_and_rotates_the_others(self, acme, rival):
        rotate_until_the_limit(acme)
        out = StringIO()

        with pytest.raises(CommandError, match="1 failed"):
            call_command(
                *("rotate_keys", "--json", "--tenant", acme.tenant.slug, "--tenant", rival.tenant.slug),
                stdout=out,
            )

        steps = {step["tenant"]: step for step in json.loads(out.getvalue())["tenants"]}
        assert steps[acme.tenant.slug]["error"] == MESSAGE
        assert steps[rival.tenant.slug]["kid"]


def test_attack_key_sets_that_were_replaced_do_not_stay_in_memory(acme, rival):
    """One administrator prepares a key, reads the key set and deletes the key, again and again."""
    views._kept.clear()
    for world in (acme, rival):
        with world.active():
            for _ in range(5):
                key = keys.prepare()
                prepared = views.get_key_set()
                assert str(key.pk) in prepared.body.decode()
                assert views.get_key_set() is prepared
                keys.remove(key)

            assert str(key.pk) not in views.get_key_set().body.decode()

    assert len(views._kept) == 2
