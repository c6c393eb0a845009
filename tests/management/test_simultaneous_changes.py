"""Changes at the same moment: none is lost, and no result is half of each."""

from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings

from management.administrators.models import Administrator
from tests.support import cast, management
from tests.support.cast import World
from tests.support.management import new_resource, new_user, refusal_of, result_of
from tests.support.management_routes import writes
from tests.support.names import new_name, new_phone
from tests.support.surface import Estate
from tests.support.threads import call_at_once, rounds

ROUNDS = rounds(8)


def codes(answers: list[httpx.Response]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


@pytest.fixture
def estate(acme: World) -> Estate:
    return Estate(acme)


@pytest.fixture
def only_superuser(address: str) -> Iterator[int]:
    """The first administrator, who is a superuser again afterwards, and the only one."""
    first, epoch = Administrator.objects.values_list("pk", "epoch").get(username=settings.ADMIN_USERNAME)
    others = Administrator.objects.filter(is_superuser=True).exclude(pk=first)
    others.update(is_superuser=False)
    yield first
    # The epoch of the token that other tests share.
    Administrator.objects.filter(pk=first).update(is_superuser=True, epoch=epoch)
    others.update(is_superuser=False)


class TestTwoAtOnce:
    def test_with_one_tag_one_wins(self, estate, admin):
        path = f"/organizations/{estate['organizations']}"
        for turn in range(5):
            caller = admin.saying(if_match=admin.get(path).headers["ETag"])
            names = [f"{turn} by {number}" for number in range(4)]

            answers = call_at_once([lambda name=name, c=caller: c.patch(path, name=name) for name in names])

            assert codes(answers) == [200, 412, 412, 412]
            winner = next(answer for answer in answers if answer.status_code == 200)
            assert result_of(admin.get(path))["name"] == result_of(winner)["name"]

    def test_who_change_different_fields_of_a_user_both_have_their_way(self, estate, admin):
        path = f"/users/{estate['users']}"
        for turn in range(10):
            email, name = f"{new_name()}@example.com", f"Name {turn}"

            answers = call_at_once(
                [lambda e=email: admin.patch(path, email=e), lambda n=name: admin.patch(path, name=n)]
            )

            assert codes(answers) == [200, 200]
            user = result_of(admin.get(path))
            assert (user["email"], user["name"]) == (email, name)
            found = [
                result_of(admin.get("/users", **query))["total"]
                for query in ({"primary_email": email}, {"search": email}, {"search": name})
            ]
            assert found == [1, 1, 1]

    def test_who_change_different_keys_of_one_object_both_have_their_way(self, admin):
        for turn in range(10):
            logo, icon = (f"https://example.com/{kind}/{turn}" for kind in ("logo", "icon"))

            answers = call_at_once(
                [
                    lambda u=logo: admin.patch("/sign-in-experience", branding={"logo_url": u}),
                    lambda u=icon: admin.patch("/sign-in-experience", branding={"favicon": u}),
                ]
            )

            assert codes(answers) == [200, 200]
            branding = result_of(admin.get("/sign-in-experience"))["branding"]
            assert (branding["logo_url"], branding["favicon"]) == (logo, icon)

    @pytest.mark.parametrize(
        "path", ["/users", "/roles", "/resources", "/organization-roles", "/organization-permissions"]
    )
    def test_who_create_one_name_one_wins_and_the_other_is_told_why(self, estate, admin, path):
        route = next(r for r in writes() if (r.method, r.path) == ("POST", path))
        body = {k: v for k, v in estate.body(route).items() if k not in {"email", "phone"}}
        before = result_of(admin.get(path))["total"]

        answers = call_at_once([lambda: admin.post(path, **body)] * 4)

        assert codes(answers) == [200, 400, 400, 400]
        messages = {answer.json()["message"] for answer in answers if answer.status_code == 400}
        assert messages <= {f"{field}: already exists" for field in ("username", "name", "indicator")}
        assert result_of(admin.get(path))["total"] == before + 1

    def test_who_create_one_scope_one_wins(self, estate, admin):
        path = f"/resources/{estate['resources']}/scopes"

        answers = call_at_once([lambda: admin.post(path, name="read:x")] * 4)

        assert codes(answers) == [200, 400, 400, 400]

    def test_case_M11_who_replace_a_set_leave_one_of_the_sets_and_no_mix(self, estate, admin):
        sets = [
            {admin.created("/roles", name=new_name(), type="User")["id"] for _ in range(20)} for _ in range(2)
        ]
        path = f"/users/{estate['users']}/roles"
        for _ in range(ROUNDS):
            answers = call_at_once([lambda s=s: admin.put(path, role_ids=list(s)) for s in sets * 2])

            assert codes(answers) == [200] * 4
            assert {row["id"] for row in result_of(admin.get(path))} in sets

    def test_with_one_tag_one_replaces_the_set(self, estate, admin):
        roles = [admin.created("/roles", name=new_name(), type="User")["id"] for _ in range(2)]
        path = f"/users/{estate['users']}/roles"
        caller = admin.saying(if_match=admin.get(path).headers["ETag"])

        answers = call_at_once([lambda r=r: caller.put(path, role_ids=[r]) for r in roles])

        assert codes(answers) == [200, 412]

    def test_who_replace_one_relation_from_its_two_ends_do_not_block_each_other(self, estate, admin):
        users = [new_user(admin) for _ in range(4)]
        roles = [admin.created("/roles", name=new_name(), type="User")["id"] for _ in range(4)]

        answers = call_at_once(
            [
                *(lambda u=u: admin.put(f"/users/{u}/roles", role_ids=roles) for u in users),
                *(lambda r=r: admin.put(f"/roles/{r}/users", user_ids=users) for r in roles),
            ]
        )

        assert {answer.status_code for answer in answers} <= {200, 400}
        assert not [answer.text for answer in answers if answer.status_code != 200]

    def test_who_delete_one_thing_one_is_told_that_it_is_gone(self, admin):
        for _ in range(5):
            path = f"/organizations/{admin.created('/organizations', name='Doomed')['id']}"

            answers = call_at_once([lambda p=path: admin.delete(p)] * 3)

            assert codes(answers) == [200, 404, 404]

    def test_case_M10_a_scope_does_not_outlive_its_resource(self, admin):
        for _ in range(ROUNDS):
            path = f"/resources/{new_resource(admin)}"

            added, removed = call_at_once(
                [lambda p=path: admin.post(f"{p}/scopes", name="read:x"), lambda p=path: admin.delete(p)]
            )

            assert removed.status_code == 200
            assert added.status_code in {200, 404}
            refusal_of(admin.get(f"{path}/scopes"), 404)

    def test_a_link_to_what_is_deleted_at_this_moment_is_refused(self, estate, admin):
        for _ in range(ROUNDS):
            role = admin.created("/roles", name=new_name(), type="User")["id"]

            given, removed = call_at_once(
                [
                    lambda r=role: admin.put(f"/users/{estate['users']}/roles", role_ids=[r]),
                    lambda r=role: admin.delete(f"/roles/{r}"),
                ]
            )

            assert removed.status_code == 200
            assert given.status_code in {200, 400}
            assert result_of(admin.get(f"/users/{estate['users']}/roles")) == []

    def test_who_join_one_user_by_phone_and_by_id_are_both_answered(self, estate, admin):
        organization = estate["organizations"]
        for number in range(ROUNDS):
            if number % 50 == 0:  # one application may add 60 existing users an hour
                manager = management.member_manager(estate.world, organization)
            phone = new_phone()
            user = new_user(admin, phone=phone)

            by_id, by_phone = call_at_once(
                [
                    lambda u=user: admin.post(f"/organizations/{organization}/users", user_ids=[u]),
                    lambda p=phone, m=manager: m.post(f"/m2m/organizations/{organization}/members", phone=p),
                ]
            )

            assert by_phone.status_code == 200
            assert by_id.status_code in {200, 400}
            members = result_of(admin.get(f"/organizations/{organization}/users", page_size=100))["data"]
            assert [row["id"] for row in members].count(user) == 1

    def test_who_make_two_resources_the_default_leave_one(self, admin):
        made = [new_resource(admin, is_default=True) for _ in range(2)]
        rows = result_of(admin.get("/resources"))["data"]
        assert [row["id"] for row in rows if row["is_default"]] == made[1:]
        for _ in range(4):
            answers = call_at_once(
                [lambda r=r: admin.patch(f"/resources/{r}", is_default=True) for r in made]
            )

            assert codes(answers) == [200, 200]
            rows = result_of(admin.get("/resources"))["data"]
            assert len([row for row in rows if row["is_default"]]) == 1

    def test_case_M16_who_change_and_test_a_connector_never_meet_half_of_a_change(self, admin):
        made = admin.created(
            "/connectors", connector_id="made-up", type="Email", config={"host": "a", "sender": "a"}
        )
        path = f"/connectors/{made['id']}"
        for _ in range(ROUNDS):
            changed = call_at_once(
                [
                    *(
                        lambda v=v: admin.patch(path, config={"host": v, "sender": v, "secret": v})
                        for v in ("a", "b")
                    ),
                    *[lambda: admin.get(path)] * 2,
                    lambda: admin.post(f"{path}/test", to="x@example.com"),
                ]
            )

            # Nobody can test a provider that we do not know, and that is no failure (decision X8).
            assert codes(changed) == [200] * 4 + [400]
            for answer in [*changed[:4], admin.get(path)]:
                config = result_of(answer)["config"]
                assert config["host"] == config["sender"]
                assert config.get("secret", "***") == "***"

    def test_case_M14_who_rotate_a_secret_leave_the_last_one(self, acme, admin):
        made = admin.created("/applications", name="Robot", type="MachineToMachine")

        form = {"grant_type": "client_credentials"}

        for _ in range(ROUNDS):
            answers = call_at_once([lambda: admin.post(f"/applications/{made['id']}/secret")] * 3)

            secrets_ = [result_of(answer)["client_secret"] for answer in answers]
            good = [
                acme.post("/oidc/token", data=form, auth=(made["client_id"], secret)).status_code
                for secret in secrets_
            ]
            assert sorted(good) == [200, 401, 401]

    def test_case_M07_who_rotate_keys_leave_one_active(self, admin):
        answers = call_at_once([lambda: admin.post("/signing-keys/rotate")] * 6)

        assert codes(answers) == [200] * 6
        keys = result_of(admin.get("/signing-keys"))
        assert [key["status"] for key in keys].count("active") == 1
        assert len(keys) == 7

    def test_case_M09_G20_superusers_who_demote_each_other_leave_one(self, only_superuser):
        root = management.superuser(cast.default_world())
        pair = [
            root.created(
                "/administrators", username=new_name("a"), password="open sesame 1", is_superuser=True
            )
            for _ in range(2)
        ]
        everybody = [only_superuser, *(made["id"] for made in pair)]

        answers = call_at_once(
            [lambda i=i: root.patch(f"/administrators/{i}", is_superuser=False) for i in everybody]
        )

        # The caller is one of them: who demoted themselves first is not let in again.
        demoted = codes(answers).count(200)
        assert set(codes(answers)) <= {200, 400, 401, 403}
        assert demoted in {1, 2}
        left = Administrator.objects.filter(pk__in=everybody, is_superuser=True)
        assert left.count() == len(everybody) - demoted
