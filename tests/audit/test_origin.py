"""Whose address an entry shows: the peer's, unless a trusted proxy says for whom it speaks."""

import httpx
import pytest
from django.test import RequestFactory

from audit.client_address import client_address
from audit.models import Entry
from tests.support import second

SIGN_IN = "/api/interaction/sign-in"
LIES = {
    "X-Forwarded-For": "192.0.2.66",
    "X_Forwarded_For": "192.0.2.66",
    "X-Real-IP": "192.0.2.66",
    "X-Client-IP": "192.0.2.66",
    "True-Client-IP": "192.0.2.66",
    "CF-Connecting-IP": "192.0.2.66",
    "Forwarded": "for=192.0.2.66",
    "Remote-Addr": "192.0.2.66",
    "REMOTE_ADDR": "192.0.2.66",
    "Via": "1.1 192.0.2.66",
}


def address_of(peer, forwarded=None):
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers))


def address_written(world, place=None, **headers):
    """Fail to sign in, and return the address that the entry shows."""
    place = place or world.address
    answer = httpx.post(f"{place}{SIGN_IN}", json={"identifier": "x", "password": "y"}, headers=headers)
    assert answer.status_code == 401, answer.text
    entry = Entry.objects.filter(tenant_id=world.tenant.pk, key="SignIn.Password").latest("created_at")
    assert entry.request_id == answer.headers["X-Request-Id"]
    return entry.ip


class TestWithoutTrustedProxies:
    @pytest.mark.parametrize("header", LIES)
    def test_case_I08_what_a_client_says_of_itself_does_not_count(self, acme, header):
        assert address_written(acme, **{header: LIES[header]}) == "127.0.0.1"

    def test_case_I08_nor_all_of_it_together(self, acme):
        assert address_written(acme, **LIES) == "127.0.0.1"

    @pytest.mark.parametrize("forwarded", ["192.0.2.1", "127.0.0.1, 192.0.2.1", "", ",", "\x7f", "x" * 4_000])
    def test_decision_X6_the_peer_counts(self, forwarded):
        assert address_of("198.51.100.7", forwarded) == "198.51.100.7"


class TestBehindTrustedProxies:
    @pytest.fixture(autouse=True)
    def _trusted(self, settings):
        settings.TRUSTED_PROXIES = {"10.0.0.1", "10.0.0.2", "2001:db8::1"}

    @pytest.mark.parametrize(
        ("peer", "forwarded", "address"),
        [
            ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
            ("10.0.0.1", "192.0.2.1, 10.0.0.2", "192.0.2.1"),
            ("10.0.0.1", "192.0.2.1,10.0.0.2 , 10.0.0.1", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::77", "2001:db8::77"),
        ],
    )
    def test_decision_X6_the_right_most_hop_that_is_no_proxy_of_ours_counts(self, peer, forwarded, address):
        assert address_of(peer, forwarded) == address

    @pytest.mark.parametrize(
        "forwarded",
        [
            "127.0.0.1, 192.0.2.1",
            "10.0.0.1, 192.0.2.1",
            "203.0.113.9, 192.0.2.1, 10.0.0.2",
            "unknown, 192.0.2.1",
            "' OR 1=1, <script>, 192.0.2.1",
        ],
    )
    def test_case_I08_what_the_client_put_in_front_does_not(self, forwarded):
        assert address_of("10.0.0.1", forwarded) == "192.0.2.1"

    @pytest.mark.parametrize("peer", ["198.51.100.7", "10.0.0.3", "127.0.0.1", "", "10.0.0.11"])
    def test_case_I08_from_any_other_peer_nothing_is_believed(self, peer):
        assert address_of(peer, "192.0.2.1, 10.0.0.1") == peer

    @pytest.mark.parametrize("forwarded", [None, "", " ", ",", ", ,"])
    def test_a_proxy_that_says_nothing_is_shown_itself(self, forwarded):
        assert address_of("10.0.0.1", forwarded) == "10.0.0.1"

    def test_a_chain_of_proxies_alone_ends_at_the_first_of_them(self):
        assert address_of("10.0.0.1", "10.0.0.2, 10.0.0.1") == "10.0.0.2"

    @pytest.mark.parametrize("hop", ["x" * 4_000, "not-an-address", "192.0.2.1:4711", "<script>", "\xe9"])
    def test_what_is_no_address_fits_the_column_all_the_same(self, hop):
        assert len(address_of("10.0.0.1", hop)) <= 64


@pytest.fixture(scope="module")
def behind_a_proxy(address):
    with second.running(TRUSTED_PROXIES="127.0.0.1") as served:
        yield served


class TestAServerBehindOne:
    """Over HTTP: the test itself is the proxy."""

    @pytest.fixture
    def behind(self, acme, behind_a_proxy):
        return acme.at(behind_a_proxy).address

    def test_decision_X6_believes_its_proxy(self, acme, behind):
        assert address_written(acme, behind, **{"X-Forwarded-For": "192.0.2.1"}) == "192.0.2.1"
        assert address_written(acme, behind, **{"X-Forwarded-For": "6.6.6.6, 192.0.2.1"}) == "192.0.2.1"
        assert address_written(acme, behind) == "127.0.0.1"

    def test_case_I08_believes_it_nothing_else(self, acme, behind):
        others = {name: value for name, value in LIES.items() if name != "X-Forwarded-For"}

        assert address_written(acme, behind, **others) == "127.0.0.1"

    def test_case_K01_and_still_nothing_of_host_scheme_and_tenant(self, acme, rival, behind):
        issuer = behind
        headers = {
            "X-Forwarded-For": "192.0.2.1",
            "X-Forwarded-Host": "evil.example",
            "X-Forwarded-Proto": "https",
            "X-Forwarded-Prefix": f"/t/{rival.tenant.slug}",
            "SCRIPT_NAME": f"/t/{rival.tenant.slug}",
        }

        document = httpx.get(f"{behind}/.well-known/openid-configuration", headers=headers).json()

        assert document["issuer"] == issuer

    def test_two_lines_of_the_header_are_one_list(self, acme, behind):
        answer = httpx.post(
            f"{behind}{SIGN_IN}",
            json={"identifier": "x", "password": "y"},
            headers=[("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")],
        )

        entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get()
        assert entry.ip == "192.0.2.1"


@pytest.mark.parametrize(
    "names", [("X-Forwarded-For", "X_Forwarded_For"), ("X_Forwarded_For", "X-Forwarded-For")]
)
def test_case_I08_a_name_with_an_underscore_is_another_header(acme, behind_a_proxy, names):
    values = {"X-Forwarded-For": "192.0.2.7", "X_Forwarded_For": "192.0.2.66"}

    written = address_written(acme, acme.at(behind_a_proxy).address, **{name: values[name] for name in names})

    assert written == "192.0.2.7"
