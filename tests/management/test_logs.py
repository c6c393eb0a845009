"""/logs of the management API: reading the audit log."""

import pytest

from tests.support import management
from tests.support.management import refusal_of, result_of


class TestLogs:
    def test_lists_the_newest_first_with_the_fields_of_the_interface(self, admin):
        admin.created("/roles", name="A", type="User")
        admin.created("/roles", name="B", type="User")

        page = result_of(admin.get("/logs", key="Role.Create"))

        assert page["total"] == 2
        assert [entry["payload"]["name"] for entry in page["data"]] == ["B", "A"]
        assert set(page["data"][0]) == {
            *("id", "key", "payload", "user_id", "application_id", "ip", "user_agent", "created_at")
        }
        assert result_of(admin.get(f"/logs/{page['data'][0]['id']}")) == page["data"][0]

    def test_decision_A1_says_who_did_it_and_what_changed(self, admin, robot):
        role = admin.created("/roles", name="A", type="User")

        result_of(robot.patch(f"/roles/{role['id']}", name="B", description="x"))
        entry = result_of(admin.get("/logs", key="Role.Update"))["data"][0]
        first = result_of(admin.get("/logs", key="Role.Create"))["data"][0]

        assert entry["payload"] == {"id": role["id"], "fields": ["description", "name"]}
        assert entry["application_id"] == robot.id
        assert isinstance(first["payload"]["administrator_id"], int)
        assert first["ip"] == "127.0.0.1"

    def test_decision_A3_filters_by_time(self, admin):
        admin.created("/roles", name="A", type="User")
        moment = result_of(admin.get("/logs", key="Role.Create"))["data"][0]["created_at"]

        later = result_of(admin.get("/logs", key="Role.Create", start_time="2999-01-01T00:00:00Z"))
        before = result_of(admin.get("/logs", key="Role.Create", end_time=moment))

        assert (later["total"], before["total"]) == (0, 0)
        assert result_of(admin.get("/logs", end_time="2999-01-01T00:00:00Z"))["total"] > 0
        assert "start_time" in refusal_of(admin.get("/logs", start_time="yesterday"), 400)

    def test_log_is_narrowed_to_one_request(self, acme, rival, admin):
        reference = admin.post("/roles", name="Clerk", type="User").headers["X-Request-Id"]
        admin.post("/roles", name="Another", type="User")

        found = result_of(admin.get("/logs", request_id=reference))

        assert [entry["key"] for entry in found["data"]] == ["Role.Create"]
        for none in ("x", "%00", "00000000-0000-7000-8000-000000000000", reference.upper()):
            assert result_of(admin.get("/logs", request_id=none))["data"] == []
        assert result_of(management.superuser(rival).get("/logs", request_id=reference))["data"] == []

    @pytest.mark.parametrize(
        ("time", "status"),
        [
            ("0201-04-12T17:26:33+16:55", 200),
            ("2030-01-01T00:00:00-23:59", 200),
            ("0001-01-01T00:00:00+10:00", 400),
            ("9999-12-31T23:59:59-10:00", 400),
        ],
    )
    def test_decision_A3_a_time_is_read_in_any_zone_and_never_breaks_anything(self, admin, time, status):
        for name in ("start_time", "end_time"):
            assert admin.get("/logs", **{name: time}).status_code == status

    def test_another_tenants_entries_do_not_exist(self, admin, rival):
        admin.at(rival).created("/roles", name="A", type="User")
        entry = result_of(admin.at(rival).get("/logs", key="Role.Create"))["data"][0]

        assert result_of(admin.get("/logs", key="Role.Create"))["total"] == 0
        assert refusal_of(admin.get(f"/logs/{entry['id']}"), 404) == "log entry not found"

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
    def test_are_read_only(self, admin, method):
        entry = result_of(admin.get("/logs"))["data"][0]

        assert admin.request(method, f"/logs/{entry['id']}", json={}).status_code == 405
