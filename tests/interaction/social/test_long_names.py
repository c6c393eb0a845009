"""Names of providers and their members: at most 256 characters, in the API, on the site and at a sign-in."""

from typing import Any

import pytest
from django.conf import settings

from interaction.connectors import config_encryption
from interaction.connectors.models import Connector
from interaction.social.models import SocialIdentity
from tests.support import management
from tests.support.cast import World
from tests.support.management import refusal_of
from tests.support.openid import CLIENT, OpenIDProvider
from tests.support.operators import Operator, administrator
from tests.support.social import came, connect, oauth2_config
from tests.support.social_pages import ADA, only_user

pytestmark = pytest.mark.usefixtures("development")

LONGEST = "n" * 256
TOO_LONG = "n" * 257
MEMBERS = ("display_name", "id_member", "email_member", "email_verified_member", "name_member")
OIDC = CLIENT | {"issuer": "https://login.acme.example"}
SITE = "/admin/connectors/connector"


def create(world: World, connector_id: str, **config: str) -> Any:
    return management.superuser(world.at(settings.BASE_URL)).post(
        "/connectors", connector_id=connector_id, type="Social", config=config
    )


@pytest.mark.parametrize("member", MEMBERS)
def test_decision_H10_a_longer_name_is_400_and_names_the_field(acme, member):
    config = oauth2_config("https://idp.example") | {"display_name": "Acme"}

    answer = create(acme, "oauth2", **config | {member: TOO_LONG})

    assert refusal_of(answer, 400) == f"config.{member}: must have at most 256 characters"
    assert create(acme, "oauth2", **config | {member: LONGEST}).status_code == 200


def test_decision_H10_the_site_names_the_field_too(acme):
    operator = Operator(administrator())
    operator.sign_in()
    operator.choose(acme)

    answer = operator.submit(f"{SITE}/do/create-oidc/", **OIDC, display_name=TOO_LONG)

    assert answer.status_code == 400
    assert "256 characters" in answer.text
    with acme.active():
        assert not Connector.objects.exists()


def lengthen(world: World, connector: Connector) -> None:
    """Give a connector a longer name, as releases until 0.5.0 stored it."""
    with world.active():
        config = connector.config() | {"display_name": "n" * 300}
        sealed = config_encryption.encrypt(config, tenant_id=str(world.tenant.pk), pk=connector.pk)
        Connector.objects.filter(pk=connector.pk).update(sealed_config=sealed)


def test_a_connector_with_a_longer_name_of_an_earlier_release_signs_users_in(
    acme: World, provider: OpenIDProvider
):
    lengthen(acme, connect(acme, provider.config))

    assert [came(acme.browser(), provider, **ADA).status_code for _ in range(2)] == [303, 303]

    with acme.active():
        assert SocialIdentity.objects.get().provider_name == LONGEST


def test_a_longer_name_of_a_user_is_cut(acme: World, provider: OpenIDProvider):
    connect(acme, provider.config)

    assert came(acme.browser(), provider, **ADA | {"name": "Ada " * 100}).status_code == 303

    assert only_user(acme).name == ("Ada " * 64).strip()
