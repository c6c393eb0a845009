"""WeChat: its documented contract, and which of its two names for an account counts (decision X17)."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from identity.core.errors import ServiceError
from identity.users.models import User
from interaction.connectors import configs, masking, relying_party, services
from interaction.connectors.errors import ProviderError
from interaction.connectors.models import Connector
from interaction.connectors.outbound import addresses
from interaction.connectors.providers import registry, wechat
from interaction.social.models import SocialIdentity
from tests.support.cast import Browser, World, new_secret, query_of
from tests.support.connectors import check, create
from tests.support.in_process import InProcessWorld
from tests.support.providers import Answer, Asked, WebProvider, answer
from tests.support.social import away, back, connect, is_in
from tests.support.social_pages import NOT_BELIEVED, Refusal, entry, find_refusal, only_user

CONFIG = {"app_id": "wxbdc5610cc59c1631", "app_secret": "the app secret"}
OPENID, UNIONID = "oLVPpjqs9BhvzwPj5A-vTYAX3GLc", "o6_bmasdasdsad6_2sgVt7hMZOPfL"
TOKEN = "/sns/oauth2/access_token"
REFUSED = answer(200, {"errcode": 40029, "errmsg": "invalid code, rid: 1"})


@dataclass
class WeChatServer:
    """Answers as WeChat's reference says, 200 to everything."""

    web: WebProvider
    codes: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=lambda: {"openid": OPENID, "unionid": UNIONID})
    person: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.web.answers |= {TOKEN: self.token, "/sns/userinfo": self.userinfo}

    def approve(self, address: str) -> dict[str, str]:
        """Let somebody scan the QR code; return what the browser goes back with."""
        assert address.startswith(f"{self.web.address}/connect/qrconnect?appid=")
        assert address.endswith("#wechat_redirect")
        asked = query_of(address.partition("#")[0])
        assert list(asked) == ["appid", "redirect_uri", "response_type", "scope", "state"]
        assert (asked["appid"], asked["response_type"], asked["scope"]) == (
            CONFIG["app_id"],
            "code",
            "snsapi_login",
        )
        code = new_secret()
        self.codes.add(code)
        return {"code": code, "state": asked["state"]}

    def token(self, asked: Asked) -> Answer:
        assert (asked.method, asked.query["grant_type"]) == ("GET", "authorization_code")
        if asked.query["appid"] != CONFIG["app_id"]:
            return answer(200, {"errcode": 40013, "errmsg": "invalid appid"})
        if asked.query["secret"] != CONFIG["app_secret"]:
            return answer(200, {"errcode": 40125, "errmsg": "invalid appsecret"})
        if asked.query["code"] not in self.codes:
            return REFUSED
        self.codes.remove(asked.query["code"])
        document = {"access_token": "theirs", "expires_in": 7200, "scope": "snsapi_login"}
        return answer(200, document | self.names)

    def userinfo(self, asked: Asked) -> Answer:
        assert asked.query == {"access_token": "theirs", "openid": self.names["openid"]}
        person = {
            "nickname": "张三 🐼",
            "sex": 1,
            "country": "CN",
            "headimgurl": "https://thirdwx.qlogo.cn/mmopen/x/0",
            "privilege": [],
        }
        return answer(200, person | self.names | self.person)


@pytest.fixture
def server(web_provider: WebProvider, monkeypatch: pytest.MonkeyPatch) -> WeChatServer:
    relying_party._cache.clear()
    monkeypatch.setattr(wechat, "PLATFORM", web_provider.address)
    monkeypatch.setattr(wechat, "API", web_provider.address)
    return WeChatServer(web_provider)


@pytest.fixture
def here(acme: World, server: WeChatServer) -> World:
    return InProcessWorld.of(acme)


@pytest.fixture
def connector(here: World) -> Connector:
    return connect(here, CONFIG, "wechat")


def come(browser: Browser, server: WeChatServer) -> httpx.Response:
    return back(browser, server.approve(away(browser, "wechat")))


def find_users(world: World) -> int:
    with world.active():
        return User.objects.count()


@pytest.mark.usefixtures("connector")
class TestSigningIn:
    def test_creates_a_user_without_an_address(self, here, server):
        browser = here.browser()

        assert come(browser, server).status_code == 303

        assert is_in(browser)
        user = only_user(here)
        assert (user.name, user.email, user.avatar) == (
            "张三 🐼",
            "",
            "https://thirdwx.qlogo.cn/mmopen/x/0",
        )

    def test_decision_X17_the_subject_is_the_unionid(self, here, server):
        come(here.browser(), server)

        with here.active():
            identity = SocialIdentity.objects.get()
        assert (identity.provider, identity.subject) == (wechat.PLATFORM, UNIONID)

    def test_decision_X17_or_else_the_openid_of_the_application(self, here, server):
        server.names = {"openid": OPENID}

        come(here.browser(), server)

        with here.active():
            identity = SocialIdentity.objects.get()
        assert identity.provider == f"{wechat.PLATFORM}/{CONFIG['app_id']}"
        assert identity.subject == OPENID

    @pytest.mark.parametrize(
        ("first", "then"),
        [
            ({"openid": OPENID}, {"openid": OPENID, "unionid": UNIONID}),
            ({"openid": OPENID, "unionid": UNIONID}, {"openid": OPENID}),
            ({"openid": OPENID, "unionid": UNIONID}, {"openid": OPENID, "unionid": "another"}),
            ({"openid": OPENID, "unionid": UNIONID}, {"openid": "of another app", "unionid": UNIONID}),
        ],
    )
    def test_decision_X17_an_account_stays_the_same(self, here, server, first, then):
        server.names = first
        come(here.browser(), server)
        with here.active():
            before = SocialIdentity.objects.get().subject
        server.names = then
        browser = here.browser()

        assert come(browser, server).status_code == 303

        assert is_in(browser)
        assert find_users(here) == 1
        with here.active():
            assert SocialIdentity.objects.get().subject == before

    def test_decision_X17_the_openid_decides_between_two_accounts(self, here, server):
        server.names = {"openid": OPENID}
        come(here.browser(), server)
        server.names = {"openid": "of another app", "unionid": UNIONID}
        come(here.browser(), server)
        server.names = {"openid": OPENID, "unionid": UNIONID}

        come(here.browser(), server)

        assert entry(here).payload["result"] == "success"
        with here.active():
            used = SocialIdentity.objects.order_by("-last_used_at")[0]
        assert (used.subject, find_users(here)) == (OPENID, 2)

    def test_another_openid_and_unionid_are_another_user(self, here, server):
        come(here.browser(), server)
        server.names = {"openid": "o2", "unionid": "u2"}

        come(here.browser(), server)

        assert find_users(here) == 2

    def test_a_user_who_refuses_is_sent_back_without_a_code(self, here, server):
        browser = here.browser()
        state = server.approve(away(browser, "wechat"))["state"]

        assert find_refusal(back(browser, {"state": state}), "You didn&#x27;t finish") == Refusal(400)

    @pytest.mark.parametrize(
        ("path", "reply", "reason"),
        [
            (TOKEN, REFUSED, "code_refused"),
            (TOKEN, answer(200, {"errcode": 40163, "errmsg": "code been used"}), "code_refused"),
            (TOKEN, answer(200, {"errcode": -1, "errmsg": "system error"}), "answer"),
            (TOKEN, answer(200, {"openid": OPENID}), "answer"),
            (TOKEN, answer(200, {"access_token": "a\r\nb", "openid": OPENID}), "answer"),
            (TOKEN, answer(200, {"access_token": "theirs"}), "answer"),
            (TOKEN, answer(200, {"access_token": "theirs", "openid": {"x": 1}}), "answer"),
            (TOKEN, answer(502, {}), "answer"),
            (TOKEN, (200, {}, b"<html>"), "answer"),
            ("/sns/userinfo", answer(200, {"errcode": 40003, "errmsg": "invalid openid"}), "answer"),
            ("/sns/userinfo", answer(200, {"openid": "another"}), "answer"),
            ("/sns/userinfo", answer(500, {}), "answer"),
            ("/sns/userinfo", answer(200, {"openid": OPENID, "unionid": ["x"]}), "answer"),
        ],
    )
    def test_an_answer_that_cannot_be_used_is_refused(self, here, server, path, reply, reason):
        browser = here.browser()
        query = server.approve(away(browser, "wechat"))
        if path != TOKEN:
            server.names = {"openid": OPENID}
        server.web.answers[path] = reply

        assert find_refusal(back(browser, query), NOT_BELIEVED) == Refusal(502)

        assert not is_in(browser)
        assert entry(here).payload["reason"] == reason
        assert "theirs" not in str(entry(here).payload)


# ── The configuration ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"app_id": ""}, "app_id"),
        ({"app_id": "wx 1"}, "app_id"),
        ({"app_id": 3}, "app_id"),
        ({"app_secret": ""}, "app_secret"),
        ({"app_secret": "geheim\n"}, "app_secret"),
        ({"app_secret": "密"}, "app_secret"),
    ],
)
def test_a_wrong_configuration_is_refused_by_its_field(changes: dict[str, Any], name: str):
    with pytest.raises(ServiceError, match=f"^config.{name}: "):
        configs.validate(registry.find("wechat"), CONFIG | changes)


def test_the_secret_is_never_shown(acme):
    connector = create(acme, "wechat", "Social", **CONFIG)

    shown = masking.mask(registry.find("wechat"), connector.config())

    assert shown == {"app_id": CONFIG["app_id"], "app_secret": "***"}


def test_the_test_redeems_a_made_up_code(here, connector, server):
    with here.active():
        assert services.test(connector, to="") == "WeChat accepts this configuration"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (answer(200, {"errcode": 40013, "errmsg": "x"}), r"app_id is unknown \(40013\)"),
        (answer(200, {"errcode": 40125, "errmsg": "x"}), "app_secret is wrong"),
        (answer(200, {"errcode": 40164, "errmsg": "invalid ip 1.2.3.4"}), "IP address is not on the list"),
        (answer(200, {"errcode": 45011, "errmsg": "x"}), "too many requests"),
        (answer(200, {"errcode": 99999, "errmsg": "the app secret"}), "refused the request"),
        (answer(200, {"errcode": "40013"}), "refused the request"),
        (answer(200, {"errcode": [1]}), "refused the request"),
        (answer(200, {"access_token": "a surprise"}), "not one of WeChat"),
        (answer(503, {}), "HTTP 503"),
        ((200, {}, b"<html>the app secret"), "not one of WeChat"),
    ],
)
def test_a_failed_test_says_why(server, reply, text):
    server.web.answers[TOKEN] = reply

    with pytest.raises(ProviderError, match=text) as refusal:
        check("wechat", **CONFIG)
    assert "the app secret" not in str(refusal.value)


def test_a_private_network_is_refused(settings, connections, monkeypatch):
    settings.DEVELOPMENT = False
    monkeypatch.setattr(wechat, "API", "https://10.0.0.1")

    with pytest.raises(addresses.NotPublic):
        check("wechat", **CONFIG)
    assert connections == []
