"""AS04: an account elsewhere still has an address that has since passed to another person.

Providers that let people register with any address verify it once. Google and Microsoft document for which
addresses they speak later, too.
"""

from dataclasses import replace
from typing import Any

import pytest

from identity.users.models import User
from interaction.connectors import provider_keys, relying_party
from interaction.connectors.providers import google, microsoft
from interaction.social.models import SocialIdentity
from tests.support import codes, openid, social
from tests.support.cast import World
from tests.support.in_process import InProcessWorld
from tests.support.openid import OpenIDProvider

PERSONAL, DIRECTORY = "9188040d-6c67-4c5b-b112-36a304b66dad", "72f988bf-86f1-41af-91ab-2d7cd011db47"
FORMER = "ada@company.example"
AUTHORITATIVE = [
    ("ada@gmail.com", {}),
    ("Ada@GoogleMail.com", {}),
    (FORMER, {"hd": "company.example"}),
    ("ada@sales.example", {"hd": "company.example"}),
]
NOT_AUTHORITATIVE: list[tuple[str, dict[str, Any]]] = [
    (FORMER, {}),
    (FORMER, {"hd": ""}),
    (FORMER, {"hd": None}),
    (FORMER, {"hd": True}),
    (FORMER, {"hd": ["company.example"]}),
    ("ada@notgmail.com", {}),
    ("ada@gmail.com.example", {}),
    ("ada@mail.gmail.com", {}),
    ("ada@gmail.com", {"email_verified": "true"}),
    (FORMER, {"hd": "company.example", "email_verified": False}),
]


@pytest.fixture
def here(acme: World) -> World:
    relying_party._cache.clear()
    provider_keys._cache.clear()
    return InProcessWorld.of(acme)


@pytest.fixture(params=["google", "oidc"])
def connector_id(request: pytest.FixtureRequest, here: World, provider: Any, monkeypatch: Any) -> str:
    """Google by its own connector, and by that for any OpenID provider."""
    monkeypatch.setattr(google, "ISSUER", provider.issuer)
    config = provider.config if request.param == "oidc" else openid.CLIENT
    social.connect(here, config, request.param)
    return str(request.param)


@pytest.fixture
def microsoft_host(provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microsoft, "HOST", provider.issuer)


def come(world: World, provider: OpenIDProvider, connector_id: str, email: str, **claims: Any) -> int:
    browser = world.browser()
    away = social.away(browser, connector_id)
    person = {"sub": "former", "name": "Former owner", "email": email, "email_verified": True} | claims
    return social.back(browser, provider.approve(away, **person)).status_code


@pytest.mark.parametrize(("email", "claims"), NOT_AUTHORITATIVE)
def test_attack_AS04_a_former_owner_of_your_address_at_google_gets_your_account(
    here, provider, connector_id, email, claims
):
    social.allow(here, automatic_account_linking=True)
    owner = social.with_proven_email(here, email)

    come(here, provider, connector_id, email, **claims)

    with here.active():
        assert not SocialIdentity.objects.filter(user=owner).exists()
        assert User.objects.get(pk=owner.pk).login_count == 0


def test_attack_AS04_a_former_owner_at_google_takes_the_address_from_an_account(here, provider, connector_id):
    """I registered with the address, whose code is on its way."""
    registered = here.browser()
    fields = {"username": "ada", "email": FORMER, "password": "Aa1passpass!"}
    assert registered.post(codes.REGISTER, json=fields).status_code == 200

    come(here, provider, connector_id, FORMER)

    with here.active():
        assert User.objects.get(username="ada").email == FORMER
        assert SocialIdentity.objects.get().user.email == ""


@pytest.mark.parametrize(("email", "claims"), AUTHORITATIVE)
def test_google_is_believed_for_the_addresses_that_it_hosts(here, provider, connector_id, email, claims):
    social.allow(here, automatic_account_linking=True)
    owner = social.with_proven_email(here, email)

    assert come(here, provider, connector_id, email, **claims) == 303

    with here.active():
        assert SocialIdentity.objects.get().user == owner


@pytest.mark.parametrize(
    ("directory", "email", "is_owner"),
    [
        (PERSONAL, FORMER, False),
        (PERSONAL, "ada@outlook.com.example", False),
        (PERSONAL, "Ada@Outlook.com", True),
        (DIRECTORY, FORMER, True),
    ],
)
@pytest.mark.usefixtures("microsoft_host")
def test_attack_AS04_a_personal_account_of_microsoft_has_your_address(
    here, provider, directory, email, is_owner
):
    """``xms_edov`` is true for every address of a personal account."""
    answers = provider.web.answers
    answers["/common/discovery/v2.0/keys"] = answers["/jwks"]
    # Microsoft's connector sends its secret in the form.
    answers["/common/oauth2/v2.0/token"] = lambda asked: provider.token(
        replace(asked, headers={"authorization": ""})
    )
    provider.lie = {"iss": f"{provider.issuer}/{directory}/v2.0", "tid": directory, "xms_edov": True}
    social.connect(here, openid.CLIENT, "microsoft")
    social.allow(here, automatic_account_linking=True)
    owner = social.with_proven_email(here, email)
    browser = here.browser()
    away = social.away(browser, "microsoft")
    query = provider.approve(away.replace("/common/oauth2/v2.0/authorize", "/authorize"), email=email)

    social.back(browser, {name: value for name, value in query.items() if name != "iss"})

    with here.active():
        assert SocialIdentity.objects.filter(user=owner).exists() is is_owner
