"""An organization's application that adds members."""

from typing import Any

import httpx

from tests.support import management
from tests.support.cast import World
from tests.support.management import Machine, result_of


class Enroller:
    """An organization's application with the members API."""

    def __init__(self, world: World, name: str) -> None:
        self.organization: str = management.superuser(world).created("/organizations", name=name)["id"]
        self.caller: Machine = management.member_manager(world, self.organization)
        self.path = f"/m2m/organizations/{self.organization}/members"

    def post(self, **fields: str) -> httpx.Response:
        return self.caller.post(self.path, **fields)

    def members(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = result_of(self.caller.get(self.path, page_size=100))["result"]
        return found
