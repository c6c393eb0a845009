"""A write of the management API with a good body, in which a test makes one thing bad."""

from dataclasses import dataclass
from typing import Any

import httpx

from identity.tenants.models import Tenant
from management.administrators.models import Administrator
from tests.support import management
from tests.support.cast import World
from tests.support.management_routes import Route
from tests.support.tenant_rows import rows_of


@dataclass
class Write:
    """A write of a route: its address, a body that is accepted, and the token of a caller who may do it."""

    route: Route
    world: World
    path: str
    good: dict[str, Any]
    token: str

    def send(self, content: bytes, **headers: str) -> httpx.Response:
        return management.connection().request(
            self.route.method,
            f"{self.world.address}/api/v1{self.path}",
            content=content,
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                **headers,
            },
        )

    def rows(self) -> dict[str, list[Any]]:
        """Return all rows that the write could change."""
        rows = rows_of(self.world)
        if self.route.group == "root":
            rows |= {"tenants": list(Tenant.objects.order_by("pk").values_list())}
            rows |= {"administrators": list(Administrator.objects.order_by("pk").values_list())}
        return rows

    def refusal(self, answer: httpx.Response, *codes: int) -> str:
        """Return the message of an answer, which must be a refusal with one of these codes."""
        assert answer.status_code in codes, f"{self.route}: {answer.status_code} {answer.text[:500]}"
        envelope = answer.json()
        management.check_members(envelope)
        assert envelope["code"] == answer.status_code
        assert envelope["result"] == (None if self.route.group == "members" else "")
        assert envelope["message"]
        return str(envelope["message"])
