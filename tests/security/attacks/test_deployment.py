"""What somebody finds in the files by which Gatehouse is deployed, and in the cache beside it."""

import os
import pickle
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from django.conf import settings
from django.db import connection
from redis import Redis

from tests.support import nodes, redis_server, second, wrong_redis
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, administrator

COMPOSE: dict[str, Any] = yaml.safe_load((settings.BASE_DIR / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NODES = ("node-1", "node-2")


def networks(service: str) -> set[str]:
    return set(SERVICES[service]["networks"])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nodes behind nginx share PostgreSQL")
@pytest.mark.skipif(not os.environ.get("GATEHOUSE_THOROUGH"), reason="needs nginx: GATEHOUSE_THOROUGH=1")
def test_attack_AP19_the_redirect_to_https_sends_where_the_host_header_says(database, tmp_path):
    with nodes.cluster(tmp_path, 2) as cluster:
        plain = f"http://127.0.0.1:{cluster.proxy.plain_port}/sign-in?a=b"
        answer = httpx.get(plain, headers={"Host": "evil.example"})

    assert (answer.status_code, answer.headers["Location"]) == (308, f"{cluster.address}/sign-in?a=b")


def test_attack_AP19_the_documented_redirect_names_its_host():
    text = (settings.BASE_DIR / "docs/deployment/nginx.conf").read_text()

    assert re.findall(r"return 308 (\S+);", text) == ["https://id.example.com$request_uri"]


def test_attack_AP19_who_breaks_into_nginx_reaches_neither_valkey_nor_the_database():
    for service in ("valkey", "postgres"):
        assert not networks("nginx") & networks(service)
        assert "ports" not in SERVICES[service]
        for network in networks(service):
            assert COMPOSE["networks"][network]["internal"]
    assert "${VALKEY_PASSWORD}" in SERVICES["valkey"]["command"]
    for node in NODES:
        assert SERVICES[node]["environment"]["CACHE_URL"].startswith("redis://:${VALKEY_PASSWORD:?")


def test_attack_AP19_the_first_password_stays_in_no_node():
    assert [name for name, service in SERVICES.items() if "ADMIN_PASSWORD" in str(service)] == ["migrate"]


def test_attack_AP10_in_compose_the_nodes_do_not_own_the_log():
    for node in NODES:
        assert "//gatehouse_serving:" in SERVICES[node]["environment"]["DATABASE_URL"]
        assert "OWNER_PASSWORD" not in str(SERVICES[node])
    for command in ("migrate", "purge"):
        environment = SERVICES[command]["environment"]
        assert "//gatehouse_owner:" in environment["DATABASE_URL"]
        assert environment["DATABASE_SERVING_ROLE"] == "gatehouse_serving"
    assert any("roles.sql:/docker-entrypoint-initdb.d/" in each for each in SERVICES["postgres"]["volumes"])


def test_attack_AP19_the_base_of_the_image_can_be_a_digest():
    dockerfile = (settings.BASE_DIR / "Dockerfile").read_text()
    arguments = SERVICES["node-1"]["build"]["args"]

    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) == {"${PYTHON}"}
    assert arguments["PYTHON"].startswith("${PYTHON_IMAGE:-")


class TestCache:
    """Who may write to the cache can tell lies; that must not become code in a node."""

    def figures(self, address: str, operator: Operator, world: Any) -> httpx.Response:
        operator.http.base_url = httpx.URL(address)
        operator.sign_in()
        answer: httpx.Response = operator.choose(world).get("/admin/")
        return answer

    def test_attack_AP19_a_pickle_in_place_of_the_figures_runs_code(self, acme, tmp_path):
        trace = tmp_path / "it-ran"
        with redis_server.running() as redis, second.running(CACHE_URL=redis.url) as address:
            operator = Operator(administrator())
            assert self.figures(address, operator, acme).status_code == 200
            with Redis.from_url(redis.url) as writer:
                keys = [key for key in writer.scan_iter() if b"figures" in key]
                for key in keys:
                    writer.set(key, pickle.dumps(_Bomb(trace)))
            shown = operator.get("/admin/")

        assert keys
        assert shown.status_code == 200
        assert not trace.exists()

    @pytest.mark.skipif(not os.environ.get("GATEHOUSE_THOROUGH"), reason="starts a server for each answer")
    @pytest.mark.parametrize(
        "answer",
        [
            b"+OK\r\n",
            b"*2\r\n:99\r\n:1\r\n",
            b"*2\r\n$1\r\na\r\n$1\r\nb\r\n",
            b":5\r\n",
            b"$-1\r\n",
            b":abc\r\n",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"\x00\xff" * 40,
            b"*2147483647\r\n",
            b"-NOAUTH Authentication required.\r\n",
        ],
    )
    def test_fault_R5_a_cache_that_answers_nonsense_stops_nobody(self, acme, answer):
        user = acme.user()
        with wrong_redis.running(answer) as url, second.running(CACHE_URL=url) as address:
            signed_in = acme.at(address).browser().sign_in(user, PASSWORD)
            refused = acme.at(address).browser().sign_in(user, "wrong")

        assert (signed_in.status_code, refused.status_code) == (200, 401)


class _Bomb:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {self.trace}",))
