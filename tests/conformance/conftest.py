"""A Gatehouse behind TLS, the suite's own site, and the configuration that ``seed_conformance`` prints."""

import json
import ssl
from collections.abc import Generator, Iterator
from typing import Any

import httpx
import pytest

from tests.conformance import sheet
from tests.conformance.agents import Agent, Scripted, Window
from tests.conformance.suite import Suite
from tests.conformance.verdict import Failure, Skipped, Verdict
from tests.support import second, stage, tls
from tests.support.callback import Site

ALIAS = "gatehouse"
_verdicts = pytest.StashKey[list[Verdict]]()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tls.Authority:
    return tls.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def trust(authority: tls.Authority) -> ssl.SSLContext:
    return authority.trust()


@pytest.fixture(scope="session")
def gatehouse(database: None, authority: tls.Authority) -> Iterator[str]:
    """A server of its own, which is told that its address is https."""
    with tls.listening() as front:
        address = f"https://localhost:{front.getsockname()[1]}"
        port = second.free_port()
        with (
            second.running(PORT=str(port), BASE_URL=address),
            tls.terminated(front, authority.identity(), port),
        ):
            yield address


@pytest.fixture(scope="session")
def base(authority: tls.Authority) -> Iterator[str]:
    """The suite's own site: another host than ours, as it is in the world."""
    with tls.listening() as front, Site() as site:
        port = int(site.origin.rpartition(":")[2])
        with tls.terminated(front, authority.identity(), port):
            yield f"https://suite.localhost:{front.getsockname()[1]}"


@pytest.fixture(scope="session")
def config(gatehouse: str, base: str) -> dict[str, Any]:
    """What one pastes into the suite."""
    command = ["seed_conformance", "--suite", base, "--alias", ALIAS, "--json"]
    environment = {"BASE_URL": gatehouse, "DJANGO_SETTINGS_MODULE": "config.settings"}
    found: dict[str, Any] = json.loads(stage.manage(environment, *command))
    return found


@pytest.fixture
def verdict(request: pytest.FixtureRequest) -> Verdict:
    """What comes of the module that a test is named after."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")
    return Verdict(name)


@pytest.fixture(params=["scripted"])
def agent(
    request: pytest.FixtureRequest, verdict: Verdict, config: dict[str, Any], base: str, trust: ssl.SSLContext
) -> Iterator[Agent]:
    """A browser without cookies, with what the configuration says of this module."""
    automation = config["override"].get(verdict.module, config)["browser"]
    if request.param == "chromium":
        # The scripted browser has looked at the certificate; this one cannot be told of the authority.
        page = request.getfixturevalue("screens").open(ignore_https_errors=True)
        yield Window(base, automation, page=page)
    else:
        with httpx.Client(verify=trust) as http:
            yield Scripted(base, automation, http=http)


@pytest.fixture
def suite(
    verdict: Verdict, config: dict[str, Any], base: str, agent: Agent, trust: ssl.SSLContext
) -> Iterator[Suite]:
    """The suite, with a running module: discovery document and keys are read."""
    with httpx.Client(verify=trust) as http:
        yield Suite(config, base, verdict, agent, http)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Turn what a module finds into its result, and compare that with the sheet."""
    suite = pyfuncitem.funcargs.get("suite")
    if not isinstance(suite, Suite):
        return (yield)
    verdict = suite.verdict
    try:
        suite.start()
        yield
    except Failure as failure:
        verdict.failures.append(str(failure))
    except Skipped as skipped:
        verdict.skipped = str(skipped)
    pyfuncitem.config.stash.setdefault(_verdicts, []).append(verdict)
    sheet.compare(verdict)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the sheet as this run found it."""
    verdicts = config.stash.get(_verdicts, [])
    if verdicts:
        terminalreporter.section("OpenID conformance")
        for line in sheet.printed(verdicts):
            terminalreporter.write_line(line)
