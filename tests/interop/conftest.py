"""What real relying parties need: a server behind TLS, and a person of a tenant there."""

import os
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings

from tests.support import cast, tls
from tests.support.management import Caller, result_of, superuser
from tests.support.relying_parties import Person
from tests.support.tls import Secured


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-clients", action="store_true", help="write docs/clients.md from what works")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """These rounds are long: they fetch packages and start programs. What they found is written last."""
    ours = [item for item in items if "tests/interop/" in item.path.as_posix()]
    if not os.environ.get("GATEHOUSE_THOROUGH") and not config.getoption("--write-clients", default=False):
        for item in ours:
            item.add_marker(pytest.mark.skip(reason="it fetches packages: only with GATEHOUSE_THOROUGH=1"))
    last = [item for item in ours if item.path.name == "test_clients_page.py"]
    items[:] = [item for item in items if item not in last] + last


@pytest.fixture(scope="session")
def refusals() -> dict[str, str]:
    """The errors of clients that expect another algorithm."""
    return {}


@pytest.fixture(scope="session")
def secured(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with tls.running(tmp_path_factory.mktemp("tls")) as server:
        yield server


@pytest.fixture
def acme(secured: Secured) -> cast.World:
    return cast.new_world("Acme").at(secured.address)


@pytest.fixture
def ada(acme: cast.World, secured: Secured) -> Iterator[Person]:
    person = Person(acme, secured, acme.user("ada", name="Ada", email="ada@example.com"))
    yield person
    person.browser.http.close()


@pytest.fixture
def admin(acme: cast.World, address: str) -> Caller:
    """An administrator of the tenant, at the server of the run."""
    return superuser(acme.at(settings.BASE_URL))


@pytest.fixture
def sign_with(admin: Caller) -> Callable[[cast.RelyingParty, str], None]:
    """Choose the algorithm of an application's ID tokens; the empty text is the tenant's default."""

    def choose(client: cast.RelyingParty, algorithm: str) -> None:
        metadata = {"id_token_signed_response_alg": algorithm}
        result_of(admin.patch(f"/applications/{client.application.pk}", oidc_client_metadata=metadata))

    return choose
