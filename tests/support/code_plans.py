"""Clients that redeem codes, and whether a plan answered them."""

from typing import Any

from identity.users.models import User
from oidc.grants.models import AuthorizationCode
from oidc.provider.token.endpoint import STEPS
from tests.support.call_order import recorded
from tests.support.cast import RelyingParty


class Redeeming:
    """A client that redeems code after code of one user, and says whether a plan answered the last request.

    ``form`` is changed in each token request, and ``asked`` in each authorization request.
    """

    def __init__(
        self, client: RelyingParty, user: User, asked: dict[str, str | None] | None = None, **form: Any
    ) -> None:
        self.client, self.user, self.form = client, user, form
        self.asked = asked or {}
        self.browser = client.world.browser()

    def new_code(self, **asked: str | None) -> str:
        return self.browser.code_for(self.client, self.user, **(self.asked | asked))

    @property
    def last_row(self) -> AuthorizationCode:
        with self.client.world.active():
            return AuthorizationCode.objects.filter(application=self.client.application).latest("pk")

    def send(self, code: str | None = None, **changes: Any) -> Any:
        code = self.new_code() if code is None else code
        with recorded(*STEPS) as steps:
            answer = self.client.redeem(code, **(self.form | changes))
        self.is_planned = not steps
        return answer

    def __call__(self, code: str | None = None, **changes: Any) -> dict[str, Any]:
        answer = self.send(code, **changes)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def refusal(self, code: str | None = None, **changes: Any) -> tuple[int, str]:
        answer = self.send(code, **changes)
        assert not self.is_planned
        return answer.status_code, answer.json().get("error")
