"""A tenant with an API, an organization and a user, whose roles open both in part."""

from tests.support import management
from tests.support.management import result_of

INDICATOR = "https://orders.example"


class Setting:
    """A user with a system role and a role in an organization, and an API that both open in part."""

    def __init__(self, world):
        self.world = world
        self.admin = admin = management.superuser(world)
        self.user = world.user()
        self.api = admin.created("/resources", name="Orders", indicator=INDICATOR, access_token_ttl=600)
        self.scopes = {
            name: admin.created(f"/resources/{self.api['id']}/scopes", name=name)["id"]
            for name in ("read", "write", "delete")
        }
        self.role = admin.created("/roles", name="Reader", type="User")
        self.machine_role = admin.created("/roles", name="Robot", type="MachineToMachine")
        for role in (self.role, self.machine_role):
            result_of(admin.put(f"/roles/{role['id']}/scopes", scope_ids=[self.scopes["read"]]))
        result_of(admin.put(f"/users/{self.user.pk}/roles", role_ids=[self.role["id"]]))
        self.organization = admin.created("/organizations", name="Org")
        self.member = f"/organizations/{self.organization['id']}/users/{self.user.pk}"
        result_of(admin.post(f"/organizations/{self.organization['id']}/users", user_ids=[str(self.user.pk)]))
        self.permission = admin.created("/organization-permissions", name="doc:edit")
        self.organization_role = admin.created("/organization-roles", name="editor")
        held = f"/organization-roles/{self.organization_role['id']}"
        result_of(admin.put(f"{held}/scopes", scope_ids=[self.permission["id"]]))
        result_of(admin.put(f"{held}/resource-scopes", scope_ids=[self.scopes["write"]]))
        result_of(admin.put(f"{self.member}/roles", organization_role_ids=[self.organization_role["id"]]))
