"""Other people's accounts, taken over by linking an account of one's own."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from identity.users.models import User
from interaction.social.models import SocialIdentity
from tests.support import codes, social
from tests.support.forms import form
from tests.support.openid import OpenIDProvider
from tests.support.providers import Answer, Asked, answer
from tests.support.social_linking import begin_link


@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        ("x@strasse.example", "x@straße.example"),
        ("sam@example.com", "\u017fam@example.com"),
        ("kim@example.com", "\u212aim@example.com"),
        ("x@example.com", "x@\uff45xample.com"),
        ("x@βόλοσ.example", "x@βόλος.example"),
    ],
)
def test_attack_AV07_my_address_folds_to_yours(acme, provider, theirs, mine):
    """I own another domain or mailbox, and my provider vouches for it truthfully."""
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    owner = social.with_proven_email(acme, theirs)
    attacker = acme.browser()

    social.came(attacker, provider, sub="attacker", email=mine, email_verified=True, name="Attacker")

    with acme.active():
        assert not SocialIdentity.objects.filter(user=owner).exists()
        assert User.objects.get(pk=owner.pk).login_count == 0


class LateProvider:
    """Answers the token request when it is told to."""

    def __init__(self, provider: OpenIDProvider) -> None:
        self.asked, self.go = threading.Event(), threading.Event()
        self._answer = provider.token
        provider.web.answers["/token"] = self.token

    def token(self, asked: Asked) -> Answer:
        self.asked.set()
        assert self.go.wait(20)
        return self._answer(asked)


@pytest.mark.parametrize("interruption", ["recovery", "sign-out everywhere"])
def test_attack_AV08_my_link_lands_after_you_took_your_account_back(acme, provider, interruption):
    """I know your old password; my provider answers late, and you recover meanwhile."""
    codes.reachable(acme)
    social.connect(acme, provider.config)
    late = LateProvider(provider)
    email = codes.new_email()
    owner = social.with_proven_email(acme, email)
    attacker, victim = acme.browser(), acme.browser()
    attacker.sign_in(owner)
    query = begin_link(attacker, provider)

    with ThreadPoolExecutor(1) as pool:
        landing = pool.submit(social.back, attacker, query)
        assert late.asked.wait(10)
        if interruption == "recovery":
            codes.proven(victim, email, "forgot_password")
            done = victim.post(codes.RESET, json={"identifier": email, "new_password": "Vict1mpassword"})
            assert done.status_code == 200, done.text
        else:
            victim.sign_in(owner)
            page = victim.get("/account/browsers")
            assert victim.post("/account/browsers", data=form(page).fields | {"end": "others"}).is_redirect
        late.go.set()
        landed = landing.result()

    assert landed.status_code == 400
    with acme.active():
        assert not SocialIdentity.objects.exists()
    returned = acme.browser()
    social.came(returned, provider, sub="attacker")
    with acme.active():
        assert not SocialIdentity.objects.filter(user=owner).exists()


@pytest.mark.parametrize(
    ("in_token", "in_userinfo"),
    [
        ({"email_verified": True}, {"email": "victim@example.com", "email_verified": False}),
        ({"email_verified": True}, {"email": "victim@example.com"}),
        ({"email": "victim@example.com"}, {"email": "mine@example.com", "email_verified": True}),
        ({"email": None}, {"email_verified": True}),
    ],
)
def test_attack_AS01_one_source_vouches_for_the_address_of_another(acme, provider, in_token, in_userinfo):
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    owner = social.with_proven_email(acme, "victim@example.com")
    provider.web.answers["/userinfo"] = answer(200, {"sub": "ada-1"} | in_userinfo)
    attacker = acme.browser()

    social.came(attacker, provider, **in_token)

    with acme.active():
        assert not SocialIdentity.objects.filter(user=owner).exists()


class TestNotices:
    """The owner of the account hears of what was linked to it."""

    def test_decision_N8_linking_and_unlinking_send_a_notice(self, acme, provider):
        codes.reachable(acme)
        social.connect(acme, provider.config)
        email = codes.new_email()
        browser = acme.browser()
        browser.sign_in(social.with_proven_email(acme, email))

        assert social.back(browser, begin_link(browser, provider)).status_code == 303
        linked = codes.message_to(email)
        page = browser.get("/account/linked")
        with acme.active():
            identity = SocialIdentity.objects.get()
        browser.post("/account/linked", data=form(page).fields | {"unlink": str(identity.pk)})

        assert "OpenID Connect" in linked["subject"]
        assert "was unlinked" in codes.message_to(email, number=2)["subject"]

    def test_decision_N8_linking_by_address_sends_a_notice_and_a_new_user_gets_none(self, acme, provider):
        codes.reachable(acme)
        social.connect(acme, provider.config)
        social.allow(acme, automatic_account_linking=True)
        known, new = codes.new_email(), codes.new_email()
        social.with_proven_email(acme, known)

        social.came(acme.browser(), provider, sub="new", email=new, email_verified=True)
        social.came(acme.browser(), provider, sub="known", email=known, email_verified=True)

        assert "was linked" in codes.message_to(known)["subject"]
        assert codes.messages_to(new) == []


class TestSameAddress:
    """What is the same address is linked, however it is written."""

    @pytest.mark.parametrize(
        ("here", "there"),
        [
            ("Ada@Example.com", "ada@eXAMPLE.COM"),
            ("ada@bücher.example", "ADA@xn--bcher-kva.example"),
            ("ada@xn--bcher-kva.example", "ada@bücher.example"),
        ],
    )
    def test_decision_N7_the_same_mailbox_is_linked(self, acme, provider, here, there):
        social.connect(acme, provider.config)
        social.allow(acme, automatic_account_linking=True)
        owner = social.with_proven_email(acme, here)

        landed = social.came(acme.browser(), provider, email=there, email_verified=True)

        assert landed.status_code == 303
        with acme.active():
            assert SocialIdentity.objects.get().user == owner

    def test_decision_N7_an_address_that_is_easily_taken_for_it_is_told_to_sign_in(self, acme, provider):
        social.connect(acme, provider.config)
        social.allow(acme, automatic_account_linking=True)
        social.with_proven_email(acme, "x@strasse.example")

        landed = social.came(acme.browser(), provider, email="x@straße.example", email_verified=True)

        assert landed.status_code == 403
        assert "You already have an account here" in landed.text
