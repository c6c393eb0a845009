"""docs/clients.md says what ran. This test is the last of its folder."""

import pytest

from tests.support import clients, clients_page


def test_the_page_says_what_ran(request, refusals):
    idle = [client.title for client in clients.ALL if not client.done]
    if idle or not refusals:
        pytest.skip(f"not everything ran: {', '.join(idle)}")
    page = clients_page.written(refusals)

    if request.config.getoption("--write-clients", default=False):
        clients_page.PAGE.write_text(page)

    assert clients_page.PAGE.read_text() == page, "write it: .venv/bin/pytest tests/interop --write-clients"
