"""Every kind of token, good and bad, that a request to the API may have, and the refusals."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock
from uuid import UUID

from joserfc import jwt as joserfc_jwt
from joserfc.jwk import OctKey

from identity.organizations import services as organizations
from management.administrators import tokens
from management.administrators.models import Administrator
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast, management
from tests.support.cast import World
from tests.support.independent import claims_of
from tests.support.management import Caller, connection, result_of
from tests.support.management_routes import Route, all_routes
from tests.support.names import new_name
from tests.support.surface import Estate

GROUPS = ("management", "root", "members")
CHALLENGE = 'Bearer realm="gatehouse"'
INSUFFICIENT = f'{CHALLENGE}, error="insufficient_scope"'


@dataclass(frozen=True)
class Place:
    """A tenant with one thing of each kind, and another tenant, whose tokens are not valid here."""

    estate: Estate
    elsewhere: Estate

    @property
    def world(self) -> World:
        return self.estate.world

    @property
    def admin(self) -> Caller:
        return self.estate.admin

    @property
    def organization(self) -> str:
        return self.estate["organizations"]


def routes_of(group: str) -> list[Route]:
    found = [route for route in all_routes() if route.group == group]
    assert len(found) > 4, group
    return found


def signed_anew(world: World, token: str, **changes: object) -> str:
    """Return an access token with changed claims and a valid signature."""
    with world.active():
        key = SigningKey.objects.default().get()
        return signing.sign(claims_of(token) | changes, typ="at+jwt", key_id=key.pk)


def signed_with_the_public_key(place: Place) -> str:
    """An application's claims, signed HS256 with what everybody can read (RFC 8725 section 2.1)."""
    key = place.world.get("/.well-known/jwks.json").json()["keys"][0]
    claims = claims_of(machine_token(place))
    secret = OctKey.import_key(json.dumps(key))
    return joserfc_jwt.encode({"alg": "HS256", "kid": key["kid"], "typ": "at+jwt"}, claims, secret)


def administrator_claims_signed_by_a_tenant_key(place: Place) -> str:
    claims = claims_of(management.superuser(place.world).token or "")
    with place.world.active():
        key = SigningKey.objects.default().get()
        return signing.sign(claims, typ="admin+jwt", key_id=key.pk)


def machine_token(place: Place) -> str:
    return management.machine(place.world).token or ""


def manager_token(place: Place) -> str:
    return management.member_manager(place.world, place.organization).token or ""


def good_token(place: Place, group: str) -> str:
    return manager_token(place) if group == "members" else machine_token(place)


def expired_administrator(place: Place) -> str:
    yesterday = time.time() - 86_401
    with mock.patch("management.administrators.tokens.time.time", return_value=yesterday):
        return tokens.issue(Administrator.objects.filter(is_superuser=True).earliest("pk"))


def removed_administrator(place: Place) -> str:
    row = management.new_administrator(place.world)
    token = tokens.issue(row)
    row.delete()
    return token


def administrator_with_a_newer_password(place: Place) -> str:
    row = management.new_administrator(place.world)
    token = tokens.issue(row)
    root = management.superuser(cast.default_world())
    result_of(root.patch(f"/administrators/{row.pk}", password="quite another"))
    return token


def stranger_administrator(place: Place) -> str:
    return management.administrator(place.elsewhere.world).token or ""


def local_administrator(place: Place) -> str:
    return management.administrator(place.world).token or ""


def superuser(place: Place) -> str:
    return place.admin.token or ""


def foreign(token: Callable[[Place], str]) -> Callable[[Place], str]:
    """The same kind of token, of the other tenant."""
    return lambda place: token(Place(place.elsewhere, place.estate))


def user_tokens(place: Place, **parameters: Any) -> dict[str, str]:
    user = place.world.user()
    with place.world.active():
        organizations.add_members(UUID(place.organization), [str(user.pk)])
    client = place.world.application()
    return client.tokens_for(user, **parameters)


def end_user(place: Place) -> str:
    return user_tokens(place)["access_token"]


def id_token(place: Place) -> str:
    return user_tokens(place)["id_token"]


def user_in_organization(place: Place) -> str:
    return user_tokens(place, organization_id=place.organization)["access_token"]


def machine_in_another_organization(place: Place) -> str:
    other = place.admin.created("/organizations", name="Other")["id"]
    return management.member_manager(place.world, other).token or ""


def machine_without_roles(place: Place) -> str:
    return management.machine(place.world, roles=[]).token or ""


def machine_of_another_resource(place: Place) -> str:
    """A scope called ``all``, of another API (its audience is not this one)."""
    resource = place.admin.created(
        "/resources", name="Theirs", indicator=f"https://{new_name('api')}.example"
    )
    scope = place.admin.created(f"/resources/{resource['id']}/scopes", name="all")
    role = place.admin.created("/roles", name=new_name(), type="MachineToMachine")
    result_of(place.admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))
    token = management.machine(place.world, roles=[role["id"]], resource=resource["indicator"]).token or ""
    assert claims_of(token)["scope"] == "all"
    return token


def machine_with_less(place: Place) -> str:
    """The management API's own audience, with its scope that opens nothing but members."""
    resource = next(
        row
        for row in result_of(place.admin.get("/resources", page_size=100))["data"]
        if row["indicator"].startswith("urn:service:management-api:")
    )
    scopes = result_of(place.admin.get(f"/resources/{resource['id']}/scopes"))
    less = next(scope["id"] for scope in scopes if scope["name"] == "manage:organizations")
    role = place.admin.created("/roles", name=new_name(), type="MachineToMachine")
    result_of(place.admin.put(f"/roles/{role['id']}/scopes", scope_ids=[less]))
    token = management.machine(place.world, roles=[role["id"]]).token or ""
    assert claims_of(token)["scope"] == "manage:organizations"
    return token


def manager_without_the_permission(place: Place) -> str:
    made = management.member_manager(place.world, place.organization, permission=new_name("do"))
    return made.token or ""


def manager_with_a_permission_like_it(place: Place) -> str:
    """A scope is a word of its own, in the case it is written in."""
    made = management.member_manager(place.world, place.organization, permission="Manage:organizations")
    return made.token or ""


def machine_whose_role_was_taken_away(place: Place) -> str:
    robot = management.machine(place.world)
    result_of(place.admin.put(f"/applications/{robot.id}/roles", role_ids=[]))
    return robot.token or ""


def manager_whose_role_was_taken_away(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    bound = f"/organizations/{place.organization}/applications/{robot.id}"
    result_of(place.admin.put(f"{bound}/roles", organization_role_ids=[]))
    return robot.token or ""


def manager_who_was_unbound(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    result_of(place.admin.delete(f"/organizations/{place.organization}/applications/{robot.id}"))
    return robot.token or ""


def deleted_application(place: Place) -> str:
    robot = management.machine(place.world)
    result_of(place.admin.delete(f"/applications/{robot.id}"))
    return robot.token or ""


def deleted_manager(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    result_of(place.admin.delete(f"/applications/{robot.id}"))
    return robot.token or ""


def _revoked(robot: management.Machine) -> str:
    answer = connection().post(
        f"{robot.world.address}/oidc/revoke",
        data={"token": robot.token},
        auth=(robot.client_id, robot.secret),
    )
    assert answer.status_code == 200
    return robot.token or ""


def revoked(place: Place) -> str:
    return _revoked(management.machine(place.world))


def revoked_manager(place: Place) -> str:
    return _revoked(management.member_manager(place.world, place.organization))


def expired_machine(place: Place) -> str:
    return signed_anew(place.world, machine_token(place), exp=int(time.time()) - 1)


def expired_manager(place: Place) -> str:
    return signed_anew(place.world, manager_token(place), exp=int(time.time()) - 1)


def signed_by_a_deleted_key(place: Place) -> str:
    token = machine_token(place)
    with place.world.active():
        key = SigningKey.objects.default().get().pk
    result_of(place.admin.post("/signing-keys/rotate"))
    result_of(place.admin.delete(f"/signing-keys/{key}"))
    return token


def is_refusal(answer, group: str, code: int) -> bool:
    """Whether an answer is the envelope of its group with this status, and nothing more."""
    if answer.status_code != code or answer.headers["Content-Type"] != "application/json":
        return False
    challenge = answer.headers.get("WWW-Authenticate", "")
    if code == 403 and challenge != INSUFFICIENT:
        return False
    if code == 401 and challenge not in {CHALLENGE, f'{CHALLENGE}, error="invalid_token"'}:
        return False
    body = answer.json()
    nothing = None if group == "members" else ""
    return (
        set(body) - {"errors"} == {"code", "message", "result"}
        and body["code"] == code
        and body["result"] == nothing
        and bool(body["message"])
    )
