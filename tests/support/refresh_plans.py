"""Clients that refresh, and whether a plan answered them."""

from typing import Any

from audit.models import Entry
from identity.users.models import User
from oidc.grants.models import RefreshFamily
from oidc.provider.token import plan_store
from oidc.provider.token.endpoint import STEPS
from tests.support.call_order import recorded
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld

API = "https://api.example"
REFUSED = (400, "invalid_grant")


class Refreshing:
    """A client that refreshes again and again, and says whether a plan answered the last refresh."""

    def __init__(self, client: RelyingParty, user: User, **form: Any) -> None:
        self.client, self.form = client, form
        self.tokens = client.tokens_for(user)

    @property
    def family(self) -> RefreshFamily:
        with self.client.world.active():
            return RefreshFamily.objects.get(pk=self.tokens["refresh_token"].partition(".")[0])

    def send(self, token: str | None = None, **changes: Any) -> Any:
        token = self.tokens["refresh_token"] if token is None else token
        with recorded(*STEPS) as steps:
            answer = self.client.refresh(token, **(self.form | changes))
        self.is_planned = not steps
        return answer

    def __call__(self) -> dict[str, Any]:
        answer = self.send()
        assert answer.status_code == 200, answer.text
        self.tokens = answer.json()
        return self.tokens

    def refusal(self, token: str | None = None) -> tuple[int, str]:
        answer = self.send(token)
        assert not self.is_planned
        return answer.status_code, answer.json().get("error")


def entries_of(world: SurfacesWorld, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "pk"))


def kept_plans() -> list[Any]:
    """The plans for refreshes in this process. The code of a client that refreshes has a plan, too."""
    kept: list[Any] = [
        plan
        for clients in plan_store._plans.of_tenants.values()
        for plans in clients.values()
        for plan in plans
    ]
    return [plan for plan in kept if plan.request.grant_type == "refresh_token"]
