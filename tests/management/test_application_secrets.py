"""/applications/:id/secrets: several secrets, so that one can be replaced without an outage."""

import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from audit.models import Entry
from database import ids
from identity.core import expiry, tenancy
from oidc.applications import expiry as declared
from oidc.applications.models import Application, ApplicationSecret
from tests.support.admin_pages import operate
from tests.support.management import connection, refusal_of, result_of
from tests.support.operators import text_of
from tests.support.threads import at_once

NOT_CONFIDENTIAL = "SPA and Native applications get no further secrets, because they cannot keep them"


def created(admin, application_type="MachineToMachine"):
    return admin.created("/applications", name="Robot", type=application_type)


def path_of(application, secret_id=None):
    path = f"/applications/{application['id']}/secrets"
    return path if secret_id is None else f"{path}/{secret_id}"


def get_token(world, application, secret) -> httpx.Response:
    return connection().post(
        f"{world.address}/oidc/token",
        data={"grant_type": "client_credentials"},
        auth=(application["client_id"], secret),
    )


def opens(world, application, secret):
    """Whether a secret opens, asked twice: the second request finds the client in the cache."""
    statuses = {get_token(world, application, secret).status_code for _ in range(2)}
    assert len(statuses) == 1
    return statuses == {200}


def in_days(days):
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def expire(world, secret_id, seconds=0):
    with world.active():
        ended = datetime.now(UTC) - timedelta(seconds=seconds)
        ApplicationSecret.objects.filter(pk=secret_id).update(expires_at=ended)


class TestCreation:
    def test_decision_Q13_answers_the_value_once(self, acme, admin):
        robot, expires_at = created(admin), in_days(30)

        answer = admin.post(path_of(robot), name="next", expires_at=expires_at)

        secret = result_of(answer)
        assert set(secret) == {"id", "name", "client_secret", "created_at", "expires_at"}
        assert secret["name"] == "next"
        assert secret["expires_at"][:19] == expires_at[:19]
        assert len(secret["client_secret"]) == 43
        assert answer.headers["Cache-Control"] == "no-store"
        assert secret["client_secret"] not in admin.get(path_of(robot)).text

    def test_decision_Q13_needs_neither_name_nor_expiry(self, admin):
        secret = admin.created(path_of(created(admin)))

        assert (secret["name"], secret["expires_at"]) == ("", None)

    def test_decision_Q13_all_secrets_open(self, acme, admin):
        robot = created(admin)
        secret = admin.created(path_of(robot))

        assert opens(acme, robot, robot["client_secret"])
        assert opens(acme, robot, secret["client_secret"])
        assert not opens(acme, robot, "another")
        assert not opens(acme, robot, "")

    def test_decision_Q13_a_server_that_remembers_the_application_takes_a_new_secret_at_once(
        self, acme, admin
    ):
        robot = created(admin)
        assert opens(acme, robot, robot["client_secret"])

        secret = admin.created(path_of(robot))

        assert opens(acme, robot, secret["client_secret"])

    def test_decision_Q13_lists_all_newest_first_and_the_first_secret_with_the_application_s_id(self, admin):
        robot = created(admin)
        made = [admin.created(path_of(robot), name=f"no. {number}") for number in (2, 3)]

        listed = result_of(admin.get(path_of(robot)))

        assert [secret["id"] for secret in listed] == [made[1]["id"], made[0]["id"], robot["id"]]
        assert listed[-1] == {
            "id": robot["id"],
            "name": "",
            "created_at": robot["created_at"],
            "expires_at": None,
        }
        assert all(set(secret) == {"id", "name", "created_at", "expires_at"} for secret in listed)

    def test_decision_Q13_five_are_enough(self, acme, admin):
        robot = created(admin)
        made = [admin.created(path_of(robot)) for _ in range(4)]

        assert "five" in refusal_of(admin.post(path_of(robot)), 400)
        expire(acme, made[0]["id"])
        admin.created(path_of(robot))
        assert "five" in refusal_of(admin.post(path_of(robot)), 400)

    def test_decision_Q13_at_once_no_more_than_five(self, admin):
        robot = created(admin)

        answers = at_once(8, lambda _: admin.post(path_of(robot)))

        assert sorted(answer.status_code for answer in answers) == [200] * 4 + [400] * 4
        assert len(result_of(admin.get(path_of(robot)))) == 5

    @pytest.mark.parametrize("application_type", ["SPA", "Native"])
    def test_decision_Q14_a_public_application_gets_none(self, admin, application_type):
        public = created(admin, application_type)

        assert refusal_of(admin.post(path_of(public)), 400) == NOT_CONFIDENTIAL
        assert [secret["id"] for secret in result_of(admin.get(path_of(public)))] == [public["id"]]

    def test_attack_AP36_the_latest_expiry_is_shown_in_every_time_zone(self, acme, admin, operator):
        robot, latest = created(admin), datetime.now(UTC) + timedelta(days=36_500, minutes=-1)
        page = f"/admin/applications/application/{robot['id']}/change/"
        assert operator.submit("/admin/preferences/", time_zone="Pacific/Kiritimati").status_code == 303

        for late in ("9999-12-31T23:59:59Z", (latest + timedelta(minutes=2)).isoformat()):
            message = refusal_of(admin.post(path_of(robot), expires_at=late), 400)
            assert message == "expires_at: must be at most 36,500 days from now"
        secret = admin.created(path_of(robot), expires_at=latest.isoformat())

        assert f"{latest + timedelta(hours=14):%Y-%m-%d %H:%M}" in operator.get(page).text
        with acme.active():  # as an earlier release stored it
            expires_at = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
            ApplicationSecret.objects.filter(pk=secret["id"]).update(expires_at=expires_at)
        assert "9999-12-31 23:59:59 UTC" in operator.get(page).text

    @pytest.mark.parametrize(
        "value",
        [
            *(0, 1.5, True, [], {}, "", "soon", "2020-01-01T00:00:00Z", "2030-13-01T00:00:00Z", "2030"),
            *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 4102444800, "2099-01-01T00:00:00Zz"),
        ],
    )
    def test_decision_Q13_a_bad_expiry_is_refused_by_its_name(self, admin, value):
        message = refusal_of(admin.post(path_of(created(admin)), expires_at=value), 400)

        assert message.startswith("expires_at: must be ")

    @pytest.mark.parametrize("value", [1, True, [], {}, "x" * 257, "a\nb", "\0"])
    def test_decision_Q13_a_bad_name_is_refused_by_its_name(self, admin, value):
        assert refusal_of(admin.post(path_of(created(admin)), name=value), 400).startswith("name: ")


class TestDeletion:
    def test_decision_Q14_a_deleted_secret_opens_nothing_from_then_on(self, acme, admin):
        robot = created(admin)
        secret = admin.created(path_of(robot))
        assert opens(acme, robot, secret["client_secret"])

        result_of(admin.delete(path_of(robot, secret["id"])))

        assert not opens(acme, robot, secret["client_secret"])
        assert opens(acme, robot, robot["client_secret"])

    def test_decision_Q13_the_first_secret_can_be_deleted(self, acme, admin):
        robot = created(admin)
        secret = admin.created(path_of(robot))
        assert opens(acme, robot, robot["client_secret"])

        result_of(admin.delete(path_of(robot, robot["id"])))

        assert not opens(acme, robot, robot["client_secret"])
        assert opens(acme, robot, secret["client_secret"])
        assert [row["id"] for row in result_of(admin.get(path_of(robot)))] == [secret["id"]]
        assert refusal_of(admin.delete(path_of(robot, robot["id"])), 404) == "secret not found"

    @pytest.mark.parametrize("application_type", ["Traditional", "MachineToMachine"])
    def test_decision_Q14_the_last_good_one_stays(self, acme, admin, application_type):
        app = created(admin, application_type)
        expired = admin.created(path_of(app))
        expire(acme, expired["id"])

        assert "only secret" in refusal_of(admin.delete(path_of(app, app["id"])), 400)
        assert admin.delete(path_of(app, expired["id"])).status_code == 200
        assert "only secret" in refusal_of(admin.delete(path_of(app, app["id"])), 400)

    def test_decision_Q14_at_once_the_last_two_are_not_deleted(self, admin):
        for _ in range(5):
            robot = created(admin)
            second = admin.created(path_of(robot))["id"]
            paths = [path_of(robot, robot["id"]), path_of(robot, second)]

            answers = at_once(2, lambda number, paths=paths: admin.delete(paths[number]))

            assert sorted(answer.status_code for answer in answers) == [200, 400]
            assert len(result_of(admin.get(path_of(robot)))) == 1

    def test_decision_Q14_a_public_application_may_lose_its_secret(self, acme, admin):
        public = created(admin, "SPA")

        result_of(admin.delete(path_of(public, public["id"])))

        assert result_of(admin.get(path_of(public))) == []

    def test_decision_Q13_unknown_ids_are_unknown(self, admin, rival):
        robot, other = created(admin), created(admin)
        theirs = created(admin.at(rival))
        secret = admin.at(rival).created(path_of(theirs))
        others = admin.created(path_of(other))

        for secret_id in (ids.new(), "x", secret["id"], others["id"], other["id"], "%00"):
            assert refusal_of(admin.delete(path_of(robot, secret_id)), 404)
        for application in (theirs, {"id": ids.new()}, {"id": "x"}):
            assert refusal_of(admin.get(path_of(application)), 404)
            assert refusal_of(admin.post(path_of(application)), 404)
            assert refusal_of(admin.delete(path_of(application, secret["id"])), 404)


class TestTheInterfacesOwnRoute:
    def test_decision_Q14_ends_all_others_at_once(self, acme, admin):
        robot = created(admin)
        others = [robot, admin.created(path_of(robot)), admin.created(path_of(robot))]
        assert all(opens(acme, robot, one["client_secret"]) for one in others)

        fresh = result_of(admin.post(f"/applications/{robot['id']}/secret"))

        assert not any(opens(acme, robot, one["client_secret"]) for one in others)
        assert opens(acme, robot, fresh["client_secret"])
        (listed,) = result_of(admin.get(path_of(robot)))
        assert listed["id"] == robot["id"]
        assert listed["created_at"] > robot["created_at"]


class TestExpiry:
    def test_decision_Q14_an_expired_one_opens_nothing_though_the_client_is_remembered(self, acme, admin):
        robot = created(admin)
        soon = (datetime.now(UTC) + timedelta(seconds=3)).isoformat()
        secret = admin.created(path_of(robot), expires_at=soon)
        assert opens(acme, robot, secret["client_secret"])

        time.sleep(3.2)

        assert not opens(acme, robot, secret["client_secret"])
        assert secret["id"] in [row["id"] for row in result_of(admin.get(path_of(robot)))]

    def test_decision_Q14_expired_ones_are_purged(self, acme, admin):
        robot = created(admin)
        old, newer = admin.created(path_of(robot)), admin.created(path_of(robot))
        expire(acme, old["id"], seconds=7200)
        expire(acme, newer["id"], seconds=60)

        (kind,) = declared.EXPIRING
        list(expiry.purge(kind))

        listed = [row["id"] for row in result_of(admin.get(path_of(robot)))]
        assert listed == [newer["id"], robot["id"]]


class TestOtherNodes:
    def test_a_deletion_by_a_node_of_the_release_before_takes_the_secrets_along(self, acme, admin):
        """Such a node does not know the table, so the database deletes its rows."""
        robot = created(admin)
        secret = admin.created(path_of(robot))

        with acme.active():
            Application.objects.filter(pk=robot["id"])._raw_delete("default")  # as if nobody collected rows
            left = ApplicationSecret.objects.filter(pk=secret["id"]).exists()

        assert not left


class TestTheLog:
    def test_decision_Q13_says_who_created_and_deleted_which_secret(self, acme, admin):
        robot = created(admin)
        secret = admin.created(path_of(robot), name="next")
        result_of(admin.delete(path_of(robot, secret["id"])))

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key__startswith="ApplicationSecret.")
        keys = list(entries.order_by("created_at", "pk").values_list("key", flat=True))

        assert keys == ["ApplicationSecret.Create", "ApplicationSecret.Delete"]
        for entry in entries:
            named = (entry.payload["id"], entry.payload["secret_id"], entry.payload["name"])
            assert named == (robot["id"], secret["id"], "next")
            assert entry.payload["administrator_id"]
            assert secret["client_secret"] not in str(entry.payload)

    def test_no_secret_is_stored_in_plain_text(self, acme, admin):
        secret = admin.created(path_of(created(admin)))

        with tenancy.using(tenancy.EVERYWHERE):
            (row,) = ApplicationSecret.objects.filter(pk=secret["id"]).values()

        assert secret["client_secret"] not in str(row)


class TestOperators:
    def row(self, acme, robot):
        with acme.active():
            return Application.objects.get(pk=robot["id"])

    def test_add_a_secret_which_is_shown_once(self, acme, admin, operator):
        robot = created(admin)
        row = self.row(acme, robot)
        path = f"/admin/applications/application/{row.pk}/do/add-secret/"

        made = operate(
            operator, "applications/application", row, "add-secret", name="next", expires_in_days="30"
        )
        shown, again = text_of(operator.get(made.headers["Location"])), text_of(operator.get(path))

        listed = result_of(admin.get(path_of(robot)))
        assert [secret["name"] for secret in listed] == ["next", ""]
        assert listed[0]["expires_at"] > in_days(29)
        assert "Client secret" in shown
        assert "Client secret" not in again
        assert "First secret" in text_of(operator.get(f"/admin/applications/application/{row.pk}/change/"))

    def test_delete_a_secret_but_not_the_last(self, acme, admin, operator):
        robot = created(admin)
        secret = admin.created(path_of(robot))
        row = self.row(acme, robot)

        done = operate(
            operator, "applications/application", row, "delete-secret", secret_id=robot["id"]
        ).status_code
        row = self.row(acme, robot)
        last = operate(operator, "applications/application", row, "delete-secret", secret_id=secret["id"])

        assert (done, last.status_code) == (303, 400)
        assert [one["id"] for one in result_of(admin.get(path_of(robot)))] == [secret["id"]]
