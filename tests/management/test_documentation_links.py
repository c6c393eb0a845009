"""Links from the operators' site to the documentation, if the installation has published it."""

import html
import re
from typing import Any

import httpx
import pytest
from django.conf import settings

from config import documentation
from identity.operator_kit import checklist
from interaction.connectors import services as connectors
from interaction.connectors.providers import registry
from management.site.applications import guides
from tests.support import second
from tests.support.cards import GOOGLE
from tests.support.cast import World
from tests.support.operators import Operator, administrator

SITE = "https://docs.example.com/gatehouse"


def pages(acme: World, operator: Operator) -> dict[str, str]:
    client = acme.application(redirect_uris=["https://shop.example/callback"]).application
    with acme.active():
        connector = connectors.create(connector_id="google", type="Social", config=GOOGLE, is_proven=True)
    paths = {
        "dashboard": "/admin/",
        "connector": f"/admin/connectors/connector/{connector.pk}/change/",
        "new connector": "/admin/connectors/connector/do/create-smtp/",
        "application": f"/admin/applications/application/{client.pk}/change/",
    }
    return {name: operator.get(path).text for name, path in paths.items()}


def test_each_page_leads_to_its_guide(acme: World):
    with second.running(DOCUMENTATION_URL=f"{SITE}/", DEBUG="true") as address:
        operator = Operator(administrator())
        operator.http.base_url = httpx.URL(address)
        operator.sign_in()
        operator.choose(acme)

        found = {
            name: re.findall(rf'href="{SITE}/([^"]+)\.html"', text)
            for name, text in pages(acme, operator).items()
        }

    assert {"index", "quick-start", "how-to/send-mail", "concepts/sign-in-experience", "admin"} == set(
        found["dashboard"]
    )
    assert found["connector"] == ["index", "how-to/sign-in-with-google"]
    assert found["new connector"] == ["index", "how-to/send-mail"]
    assert found["application"][0] == "index"
    assert found["application"][1].startswith("how-to/")


def test_without_the_setting_no_page_has_a_link(acme: World, operator: Operator):
    assert settings.DOCUMENTATION_URL == ""
    for text in pages(acme, operator).values():
        assert "Read the guide" not in text
        assert "The complete guide" not in text
        assert not re.search(r'href="[^"]*how-to/[^"]*\.html"', html.unescape(text))


def test_every_page_that_is_linked_exists():
    named = {"index", *(step.page for step in checklist._steps if step.page)}
    named |= {provider.guide.page for provider in registry.PROVIDERS}
    named |= {f"how-to/{guide.name}" for guide in guides.get_all()}

    missing = [page for page in sorted(named) if not (settings.BASE_DIR / "docs" / f"{page}.md").exists()]

    assert missing == []
    assert len(named) > 10


@pytest.mark.parametrize(
    "value", ["docs.example.com", "ftp://docs.example.com", "https://", "https://x/?q=1", "https://[x"]
)
def test_refuses_what_is_no_address_of_a_website(monkeypatch: Any, value: str):
    monkeypatch.setenv("DOCUMENTATION_URL", value)

    with pytest.raises(Exception, match="DOCUMENTATION_URL"):
        documentation.read("DOCUMENTATION_URL")
