"""Entity tags: a change that names an earlier version is refused, so that no change is lost unnoticed."""

import pytest

from tests.support import cast, management
from tests.support.cast import World
from tests.support.management import new_user, refusal_of, result_of
from tests.support.management_routes import Route, all_routes
from tests.support.names import new_phone
from tests.support.surface import Estate
from tests.support.tenant_rows import changed, rows_of


@pytest.fixture
def estate(acme: World) -> Estate:
    return Estate(acme)


def guarded_routes(group: str) -> list[Route]:
    changes = [r for r in all_routes() if r.method in {"PATCH", "PUT", "DELETE"}]
    return [r for r in changes if r.group == group]


class TestTheTagOfAnAnswer:
    def test_is_on_every_detail_and_every_assignment(self, estate):
        assignments = [r.path for r in all_routes() if r.method == "PUT"]
        editable = [r.path for r in all_routes() if r.method == "PATCH"]
        manager = management.member_manager(estate.world, estate["organizations"])
        seen = 0
        for route in all_routes():
            if route.method != "GET" or route.path not in assignments + editable or route.group == "root":
                continue
            caller = manager if route.group == "members" else estate.admin

            answer = caller.get(route.filled(estate.ids(route)))

            assert is_strong(answer.headers["ETag"]), answer.headers["ETag"]
            seen += 1
        assert seen > 12

    def test_changes_with_each_edit_and_with_nothing_else(self, estate, admin):
        path = f"/organizations/{estate['organizations']}"
        first = admin.get(path).headers["ETag"]
        again = admin.get(path).headers["ETag"]

        edited = admin.patch(path, name="Renamed")

        assert first == again != edited.headers["ETag"] == admin.get(path).headers["ETag"]

    def test_changes_when_what_it_counts_does(self, estate, admin):
        path = f"/organizations/{estate['organizations']}"
        tags = [admin.get(path).headers["ETag"]]
        user = new_user(admin)
        manager = management.member_manager(estate.world, estate["organizations"])

        for change in (
            lambda: admin.post(f"{path}/users", user_ids=[user]),
            lambda: admin.delete(f"{path}/users/{user}"),
            lambda: manager.post(f"/m2m{path}/members", phone=new_phone()),
        ):
            result_of(change())
            tags.append(admin.get(path).headers["ETag"])

        assert len(set(tags)) == 4

    def test_of_a_resource_changes_when_a_scope_comes(self, estate, admin):
        path = f"/resources/{estate['resources']}"
        before = admin.get(path)

        scope = admin.created(f"{path}/scopes", name="read:x")
        during = admin.get(path)
        result_of(admin.delete(f"{path}/scopes/{scope['id']}"))

        assert [result_of(answer)["scope_count"] for answer in (before, during, admin.get(path))] == [0, 1, 0]
        assert len({before.headers["ETag"], during.headers["ETag"], admin.get(path).headers["ETag"]}) == 3

    def test_is_of_its_own_row_alone(self, admin):
        one, other = (admin.created("/organizations", name="Twin")["id"] for _ in range(2))
        tag = admin.get(f"/organizations/{other}").headers["ETag"]

        answer = admin.saying(if_match=tag).patch(f"/organizations/{one}", name="x")

        refusal_of(answer, 412)


def is_strong(tag: str) -> bool:
    return tag.startswith('"') and tag.endswith('"') and len(tag) > 2


class TestIfMatch:
    @pytest.mark.parametrize("group", ["management", "members"])
    @pytest.mark.parametrize("tag", ['"another"', "", "another", 'W/"{}"', '"{}", W/"another"'])
    def test_with_a_tag_that_is_not_the_row_s_refuses_every_write(self, estate, group, tag):
        caller = estate.admin
        if group == "members":
            caller = management.member_manager(estate.world, estate["organizations"])
        calls = [(route, *estate.call(route)) for route in guarded_routes(group)]
        assert len(calls) >= (2 if group == "members" else 30)
        before = rows_of(estate.world)

        for _route, path, body in calls:
            said = tag.format("no-such-1")
            answer = caller.saying(if_match=said).request(_route.method, path, json=body)

            assert answer.status_code == 412, f"{_route}: {answer.text}"
            assert answer.json()["code"] == 412
            assert answer.json()["result"] == (None if group == "members" else "")

        assert changed(before, rows_of(estate.world)) == {}

    def test_with_a_tag_that_is_not_the_row_s_refuses_at_the_root_too(self, estate):
        root = management.superuser(cast.default_world())
        routes = guarded_routes("root")
        assert len(routes) > 2
        for route in routes:
            path, body = estate.call(route)

            answer = root.saying(if_match='"another"').request(route.method, path, json=body)

            refusal_of(answer, 412)

    @pytest.mark.parametrize("tags", ["{}", '"x", {}', '{}, "x"', 'W/"x",{}', "*"])
    def test_that_names_the_version_lets_the_change_through(self, estate, admin, tags):
        path = f"/organizations/{estate['organizations']}"
        tag = admin.get(path).headers["ETag"]

        answer = admin.saying(if_match=tags.format(tag)).patch(path, name="Renamed")

        assert result_of(answer)["name"] == "Renamed"

    def test_never_takes_a_weak_tag(self, estate, admin):
        path = f"/organizations/{estate['organizations']}"
        tag = admin.get(path).headers["ETag"]

        answer = admin.saying(if_match=f"W/{tag}").patch(path, name="Renamed")

        refusal_of(answer, 412)

    def test_is_not_needed(self, estate, admin):
        assert admin.patch(f"/organizations/{estate['organizations']}", name="x").status_code == 200

    def test_that_was_good_before_the_last_edit_is_refused(self, estate, admin):
        seen = 0
        for route in guarded_routes("management"):
            tagged = {r.path for r in all_routes() if r.method == "GET"}
            if route.path not in tagged or route.method == "DELETE":
                continue
            path, body = estate.call(route)
            tag = admin.get(path).headers["ETag"]
            first = admin.saying(if_match=tag).request(route.method, path, json=body)
            assert first.status_code == 200, f"{route}: {first.text}"

            second = admin.saying(if_match=tag).request(route.method, path, json=body)

            assert second.status_code == 412, f"{route}: {second.text}"
            seen += 1
        assert seen > 12

    def test_keeps_what_was_edited_from_being_deleted(self, estate, admin):
        path = f"/organizations/{estate['organizations']}"
        tag = admin.get(path).headers["ETag"]
        admin.patch(path, name="Still needed")

        refusal_of(admin.saying(if_match=tag).delete(path), 412)

        assert result_of(admin.get(path))["name"] == "Still needed"

    @pytest.mark.parametrize("header", ['"' + "x" * 5000 + '"', '"x"' * 1000, "\x80", '"a"b"c"', ",,,"])
    def test_that_makes_no_sense_matches_nothing(self, estate, admin, header):
        caller = admin.saying(if_match=header.encode("latin-1"))

        refusal_of(caller.patch(f"/organizations/{estate['organizations']}", name="x"), 412)
