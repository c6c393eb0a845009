"""New users where the tenant wants none."""

from identity.users.models import User
from tests.support import codes, social


def test_attack_AV19_registration_is_closed_and_I_come_by_another_provider(acme, provider):
    codes.experience(acme, sign_up={"identifiers": []})
    social.connect(acme, provider.config)
    stranger = acme.browser()

    landed = social.came(stranger, provider, name="Stranger")

    assert landed.status_code == 403
    assert "You don&#x27;t have an account here" in landed.text
    with acme.active():
        assert not User.objects.exists()


def test_decision_N1_a_tenant_may_leave_the_other_door_open_on_purpose(acme, provider):
    codes.experience(acme, sign_up={"identifiers": []})
    social.allow(acme, create_users_while_registration_is_closed=True)
    social.connect(acme, provider.config)

    assert social.came(acme.browser(), provider, name="Stranger").status_code == 303

    social.allow(acme, create_users=False)
    assert social.came(acme.browser(), provider, sub="another").status_code == 403
