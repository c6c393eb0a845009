"""R7: keys rotate every five seconds under load; tokens are verified with the keys of the other node."""

import time
from typing import Any

import httpx

from tests.support.independent import bearer, header_of, verified
from tests.support.installation import check_nothing_is_lost, check_one_branch

_ROTATIONS = 6
_PAUSE = 5  # seconds


class Verifier:
    """Keeps a key set, and looks again on an unknown key, once a second at most."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._keys: dict[str, Any] = {"keys": []}
        self._looked = 0.0
        self.looks = 0

    def check(self, token: str) -> None:
        if not self._knows(token):
            time.sleep(max(0.0, self._looked + 1 - time.monotonic()))
            self._keys = httpx.get(f"{self._address}/.well-known/jwks.json", timeout=30).json()
            self._looked = time.monotonic()
            self.looks += 1
        verified(token, self._keys)

    def _knows(self, token: str) -> bool:
        return header_of(token)["kid"] in {key["kid"] for key in self._keys["keys"]}


def test_fault_R7_keys_rotate_every_five_seconds(installation, measured):
    installation.serve(WEB_CONCURRENCY="1")
    other = installation.serve(WEB_CONCURRENCY="1")
    seen = installation.witness()
    headers = bearer(seen.shop.administrator)
    verifier = Verifier(other.address)
    checked = 0

    with (
        httpx.Client(base_url=installation.address, headers=headers, timeout=30) as http,
        seen.going(seen.refreshing, seen.signing_in, seen.asking_for_tokens, each=2),
    ):
        for _ in range(_ROTATIONS):
            began = time.monotonic()
            assert http.post("/api/v1/signing-keys/rotate").status_code == 200
            while time.monotonic() < began + _PAUSE:
                for token in seen.tokens[checked:]:
                    verifier.check(token)
                    checked += 1
                time.sleep(0.1)
        listed = http.get("/api/v1/signing-keys").json()["result"]
        oldest = listed[-1]["id"]
        signed = [token for token in seen.tokens if header_of(token)["kid"] == oldest]
        deleted = http.delete(f"/api/v1/signing-keys/{oldest}")
        assert deleted.status_code == 200, deleted.text
        time.sleep(1)
        for node in installation.nodes:
            for token in signed[:4]:
                answer = httpx.get(f"{node.address}/oidc/userinfo", headers=bearer(token), timeout=30)
                assert answer.status_code == 401
        seen.goes_on(40)

    measured(rotations=_ROTATIONS, verified=checked, looks=verifier.looks, answers=seen.summary())
    assert checked > 50
    unexpected = [each for each in seen.wrong() if "/oidc/userinfo: 401" not in each.outcome]
    assert unexpected == []
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
