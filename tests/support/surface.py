"""What a path below ``/api/v1`` can name: a tenant furnished with one thing of each kind.

A new kind fails here until it has its line.
"""

from collections.abc import Callable
from typing import Any, Final

from database import ids
from identity.factors import browsers
from identity.factors.models import KnownBrowser
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from management.administrators import invitations
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.code_sign_ins import CodeSignIn
from tests.support import management, operators
from tests.support.cast import PASSWORD, World, default_world
from tests.support.management import result_of
from tests.support.management_bodies import BODIES
from tests.support.management_routes import Route
from tests.support.names import new_name


class Estate:
    """One thing of each kind in a tenant, each tied to the others as the paths nest."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.admin = management.superuser(world)
        self._made: dict[str, str] = {}
        self._calls: dict[str, tuple[str, dict[str, Any] | None]] = {}

    def __getitem__(self, collection: str) -> str:
        """The id of the thing of a collection, made when it is asked for."""
        if collection not in self._made:
            self._made[collection] = str(_MAKERS[collection](self))
        return self._made[collection]

    def ids(self, route: Route) -> dict[str, str]:
        """An id for each parameter of a route's path."""
        # The preview is about users. A new client secret of the first application ends its further secrets.
        is_second = "claims-preview" in str(route) or ":secret_pk" in str(route)
        seconds = {"applications": "second application"} if is_second else {}
        if route.path.startswith(("/users/:pk/sessions", "/users/:pk/grants", "/users/:pk/trusted")):
            seconds["users"] = "signed-in user"  # other calls sign the first one out
        return {name: self[seconds.get(collection, collection)] for collection, name in route.parameters}

    def call(self, route: Route) -> tuple[str, dict[str, Any] | None]:
        """A path and a body that are good for a route. Made once: a second use need not be good."""
        if str(route) not in self._calls:
            path = route.filled(self.ids(route))
            self._calls[str(route)] = path, self.body(route) if route.takes_body else None
        return self._calls[str(route)]

    def another_user(self) -> str:
        """Create one more user and return the id."""
        return str(self.admin.created("/users", username=new_name("u"), password="sesame")["id"])

    def body(self, route: Route) -> dict[str, Any]:
        """A body that is good for a write, with every field it takes, and of no other call."""
        return BODIES[str(route)](self)


def _made(path: str, **fields: Any) -> Callable[[Estate], str]:
    return lambda estate: str(estate.admin.created(path, **fields)["id"])


def _a_member(estate: Estate) -> str:
    """The user, whom the organization has as a member."""
    return estate["users"]


def _a_home(estate: Estate) -> str:
    """An organization with the user in it, and the application bound to it."""
    organization = str(estate.admin.created("/organizations", name="Home")["id"])
    result_of(estate.admin.post(f"/organizations/{organization}/users", user_ids=[estate["users"]]))
    result_of(
        estate.admin.post(
            f"/organizations/{organization}/applications", application_ids=[estate["applications"]]
        )
    )
    return organization


def _a_role(estate: Estate) -> str:
    return str(estate.admin.created("/roles", name=new_name("role"), type="User")["id"])


def _a_machine_role(estate: Estate) -> str:
    return str(estate.admin.created("/roles", name=new_name("role"), type="MachineToMachine")["id"])


def _an_organization_role(kind: str) -> Callable[[Estate], str]:
    return lambda estate: str(
        estate.admin.created("/organization-roles", name=new_name("role"), type=kind)["id"]
    )


def _a_resource(estate: Estate) -> str:
    indicator = f"https://{new_name('api')}.example"
    return str(estate.admin.created("/resources", name="API", indicator=indicator)["id"])


def _a_scope(estate: Estate) -> str:
    path = f"/resources/{estate['resources']}/scopes"
    return str(estate.admin.created(path, name=new_name("scope"))["id"])


def _a_session(estate: Estate) -> str:
    with estate.world.active():
        user = User.objects.get(pk=estate["signed-in user"])
        return str(sessions.start(user, amr=["pwd"])[0].pk)


def _a_trusted_device(estate: Estate) -> str:
    with estate.world.active():
        experiences.change({"trusted_device_policy": {"enabled": True}}, is_proven=True)
        user = User.objects.get(pk=estate["signed-in user"])
        browsers.record(user, (), remember=experiences.current().trusted_devices, level=2)
        return str(KnownBrowser.objects.latest("created_at").pk)


def _a_grant(estate: Estate) -> str:
    with estate.world.active():
        session = Session.objects.select_related("user").get(pk=_a_session(estate))
        family = families.new_family(
            family_id=ids.new(),
            application=Application.objects.get(pk=estate["second application"]),
            sign_in=CodeSignIn.of_session(session),
            scope="openid offline_access",
            claims={},
            consent_id=None,
        )
        families.INSERT(family)
        return str(family.pk)


def _a_previous_key(estate: Estate) -> str:
    before = result_of(estate.admin.get("/signing-keys"))
    result_of(estate.admin.post("/signing-keys/rotate"))
    return str(before[0]["id"])


def _an_entry(estate: Estate) -> str:
    return str(result_of(estate.admin.get("/logs"))["data"][0]["id"])


def _a_tenant(_: Estate) -> str:
    root = management.superuser(default_world())
    return str(root.created("/tenants", slug=new_name("t"), name="Passing")["id"])


def _an_invitation(estate: Estate) -> str:
    by, body = operators.administrator(), BODIES["POST /administrator-invitations"](estate)
    return str(invitations.invite(**body, by=by, current_password=PASSWORD).invitation.pk)


def _an_administrator(_: Estate) -> str:
    return str(management.new_administrator().pk)


_MAKERS: Final[dict[str, Callable[[Estate], str]]] = {
    "users": Estate.another_user,
    "signed-in user": Estate.another_user,
    "sessions": _a_session,
    "grants": _a_grant,
    "trusted-devices": _a_trusted_device,
    "members": _a_member,
    "roles": _a_role,
    "machine roles": _a_machine_role,
    "resources": _a_resource,
    "scopes": _a_scope,
    "organizations": _a_home,
    "organization-roles": _an_organization_role("User"),
    "machine organization roles": _an_organization_role("MachineToMachine"),
    "organization-permissions": lambda estate: str(
        estate.admin.created("/organization-permissions", name=new_name("do"))["id"]
    ),
    "applications": _made("/applications", name="Robot", type="MachineToMachine"),
    "second application": _made("/applications", name="Shop", type="Traditional"),
    "secrets": lambda estate: str(
        estate.admin.created(f"/applications/{estate['second application']}/secrets")["id"]
    ),
    "mfa-verifications": lambda estate: str(
        estate.admin.created(f"/users/{estate['users']}/mfa-verifications", type="Totp")["id"]
    ),
    "connectors": _made("/connectors", connector_id="outbox-sms", type="Sms", config={"sign_name": "x"}),
    "signing-keys": _a_previous_key,
    "logs": _an_entry,
    "tenants": _a_tenant,
    "administrators": _an_administrator,
    "administrator-invitations": _an_invitation,
}


def make(collection: str, estate: Estate) -> str:
    """Make one more thing of a collection, and return its id."""
    return _MAKERS[collection](estate)
