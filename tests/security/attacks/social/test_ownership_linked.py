"""AV01 b: an account elsewhere that is linked before the owner of the address arrives."""

from identity.users.models import User
from tests.support import codes, social
from tests.support.cast import Browser, World
from tests.support.social_linking import begin_link

ATTACKERS = "Attack3rpass!"


def prepared(world: World, mail: str) -> Browser:
    """Register with somebody else's address."""
    browser = world.browser()
    fields = {"username": "mallory", "email": mail, "password": ATTACKERS}
    assert browser.post(codes.REGISTER, json=fields).status_code == 200
    return browser


def test_attack_AV01_b_my_account_elsewhere_is_linked_before_you_come(acme, provider):
    mail = codes.new_email()
    social.connect(acme, provider.config)
    attacker = prepared(acme, mail)
    landed = social.back(attacker, begin_link(attacker, provider))
    assert landed.status_code == 303
    victim = acme.browser()

    # The address is contact data of an account that has an owner: its code goes to nobody.
    assert codes.send(victim, mail, "forgot_password").status_code == 200
    assert codes.messages_to(mail) == []
    codes.experience(acme, sign_up={"identifiers": ["username", "email"]})
    codes.let_time_pass(acme)
    codes.proven(victim, mail, "register")
    mine = {"username": "victim", "email": mail, "password": "Vict1mpassword"}
    assert victim.post(codes.REGISTER, json=mine).status_code == 200

    back = acme.browser()
    social.came(back, provider, sub="attacker")
    assert "mallory" in back.get("/account").text
    assert mail not in back.get("/account").text
    with acme.active():
        assert User.objects.get(username="mallory").email == ""


def test_attack_AV19_b_a_squatted_address_does_not_keep_whom_a_provider_vouches_for_out(acme, provider):
    mail = codes.new_email()
    social.connect(acme, provider.config)
    prepared(acme, mail)
    victim = acme.browser()

    landed = social.came(victim, provider, sub="victim", email=mail, email_verified=True, name="Victim")

    assert landed.status_code == 303
    assert mail in victim.get("/account").text
    assert "mallory" not in victim.get("/account").text
    with acme.active():
        assert User.objects.get(username="mallory").email == ""
        assert User.objects.get(email=mail).email_verified
