"""A tenant, and the root, with several rows in every list that the management API has."""

from typing import Any, Final

from identity.core.models import EditableModel
from identity.organizations import services as organizations
from identity.resources.models import Scope
from identity.users.models import User
from tests.support import cast, management
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.management_routes import Route, all_routes
from tests.support.surface import Estate, make

ROWS: Final = 5
_MOST: Final = {"/applications/:pk/secrets": 3}  # with the first one, and one that a path names


def crowded() -> dict[str, Estate]:
    """Return the tenant of each group of routes, with rows in all of its lists."""
    tenant = _furnished(Estate(cast.new_world("Crowd")), "management")
    root = _furnished(Estate(cast.default_world()), "root")
    return {"management": tenant, "members": tenant, "root": root}


def path_of(estate: Estate, route: Route) -> str:
    """Return the path of a route, with ids of things that have rows."""
    ids = estate.ids(route)
    if route.path == "/roles/:pk/applications":
        ids[":pk"] = estate["machine roles"]  # the kind that applications have
    return route.filled(ids)


def is_assignment(route: Route) -> bool:
    return route.method == "PUT"


def assignment_of(route: Route) -> Any:
    return getattr(route.view.cls, "assignment", organizations.MEMBER_ROLES)


def items_for(world: World, route: Route, number: int) -> list[str]:
    """The ids of so many new things that the set of a route can hold."""
    assignment = assignment_of(route)
    model: type[EditableModel] = assignment.items
    with world.active():
        rows = [model(**assignment.item_filter, **_own_fields(model, world)) for _ in range(number)]
        for row in rows:
            setattr(row, "username" if model is User else "name", f"thing {row.pk}")
        model._default_manager.bulk_create(rows)
    return [str(row.pk) for row in rows]


def _own_fields(model: type[EditableModel], world: World) -> dict[str, Any]:
    """What a row of this kind cannot be without, besides its name."""
    if model is not Scope:
        return {}
    return {"resource_id": Scope.objects.values_list("resource_id", flat=True).first()}


def _furnished(estate: Estate, group: str) -> Estate:
    """Put several rows into every list of a group."""
    routes = [route for route in all_routes() if route.group == group]
    lists = {route.path for route in routes if route.method == "GET"}
    for route in routes:
        if route.method == "POST" and route.path in lists:
            for _ in range(_MOST.get(route.path, ROWS)):
                path = route.filled(estate.ids(route))
                result_of(estate.admin.post(path, **estate.body(route)))
        elif is_assignment(route) and group != "members":
            fields = dict.fromkeys(estate.body(route), items_for(estate.world, route, ROWS))
            result_of(estate.admin.put(route.filled(estate.ids(route)), **fields))
    if group == "management":
        _join_more(estate)
    for _ in range(ROWS):
        management.new_administrator(estate.world)
    return estate


def _join_more(estate: Estate) -> None:
    """What one call of each kind does not: many organizations of a user, many machines of an organization."""
    for _ in range(ROWS):
        make("sessions", estate)
        make("grants", estate)
        make("trusted-devices", estate)
        result_of(estate.admin.post("/signing-keys/rotate"))
        other = estate.admin.created("/organizations", name="Other")["id"]
        result_of(estate.admin.post(f"/organizations/{other}/users", user_ids=[estate["users"]]))
        machine = estate.admin.created("/applications", name="Other", type="MachineToMachine")["id"]
        result_of(estate.admin.put(f"/applications/{machine}/roles", role_ids=[estate["machine roles"]]))
        path = f"/organizations/{estate['organizations']}/applications"
        result_of(estate.admin.post(path, application_ids=[machine]))
