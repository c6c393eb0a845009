"""What administrators do to each other while their rights are taken, or without a proof (AP22)."""

import secrets

import pytest
from django.db import connection

from management.administrators import invitations
from management.administrators import services as administrators
from management.administrators.models import Administrator, Invitation, ProviderAccount
from tests.support import operators
from tests.support.cast import PASSWORD
from tests.support.demotion import caller, is_ended, sent_meanwhile
from tests.support.operators import administrator, text_of
from tests.support.threads import at_once
from tests.support.two_step_page import set_up

pytestmark = pytest.mark.usefixtures("default_tenant")
PROOF = {"current_password": PASSWORD}
only_postgres = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)


def demote(who):
    administrators.change(Administrator.objects.get(pk=who.pk), {"is_superuser": False})


def delete(who):
    administrators.remove(Administrator.objects.get(pk=who.pk))


@pytest.fixture(params=[demote, delete])
def end(request):
    """How an administrator loses the rights."""
    return request.param


@pytest.fixture
def limited(acme):
    return administrator(tenants=[acme.tenant.slug])


def new_email():
    return f"{secrets.token_hex(5)}@x.example"


@only_postgres
class TestByTheApi:
    def test_attack_AP22_who_loses_the_rights_creates_nobody(self, address, end):
        who, name = administrator(), f"thief-{secrets.token_hex(4)}"
        own = caller(who)

        answer = sent_meanwhile(
            lambda: end(who),
            lambda: own.post(
                "/administrators", username=name, password="the thief's own words", is_superuser=True
            ),
        )

        is_ended(answer)
        assert not Administrator.objects.filter(username=name).exists()

    def test_attack_AP22_nor_invites(self, address, end):
        who, email = administrator(), new_email()
        own = caller(who)

        answer = sent_meanwhile(
            lambda: end(who), lambda: own.post("/administrator-invitations", email=email, is_superuser=True)
        )

        is_ended(answer)
        assert not Invitation.objects.filter(email=email).exists()

    def test_attack_AP22_nor_revokes_an_invitation(self, address, end):
        who = administrator()
        own, by = caller(who), administrator()
        invitation = invitations.invite(email=new_email(), by=by, current_password=PASSWORD).invitation

        answer = sent_meanwhile(
            lambda: end(who), lambda: own.delete(f"/administrator-invitations/{invitation.pk}")
        )

        is_ended(answer)
        assert Invitation.objects.filter(pk=invitation.pk).exists()

    def test_attack_AP22_nor_deletes_one_who_manages_a_tenant(self, limited, end):
        who = administrator()
        own = caller(who)

        answer = sent_meanwhile(lambda: end(who), lambda: own.delete(f"/administrators/{limited.pk}"))

        is_ended(answer)
        assert Administrator.objects.filter(pk=limited.pk).exists()

    def test_attack_AP22_nor_changes_an_email(self, limited, end):
        who = administrator()
        own = caller(who)

        answer = sent_meanwhile(
            lambda: end(who), lambda: own.patch(f"/administrators/{limited.pk}", email=new_email())
        )

        is_ended(answer)
        assert Administrator.objects.get(pk=limited.pk).email == ""

    def test_attack_AP22_of_two_who_delete_each_other_one_stays(self, address):
        for _ in range(3):
            ones = [administrator() for _ in range(2)]
            callers = [caller(one) for one in ones]

            answers = at_once(
                2, lambda i, by=callers, of=ones: by[i].delete(f"/administrators/{of[1 - i].pk}")
            )

            statuses = sorted(answer.status_code for answer in answers)
            assert statuses[0] == 200
            assert statuses[1] in {401, 403}
            assert Administrator.objects.filter(pk__in=[one.pk for one in ones]).count() == 1


@only_postgres
class TestOnTheSite:
    @pytest.mark.parametrize("operation", ["second-step", "delete"])
    def test_attack_AP22_who_loses_the_rights_resets_and_deletes_nobody(self, acme, operation, end):
        victim, operator = operators.at(acme), operators.at(acme)
        set_up(victim)
        path = f"/admin/administrators/administrator/{victim.who.pk}/do/{operation}/"

        answer = sent_meanwhile(lambda: end(operator.who), lambda: operator.submit(path, **PROOF))

        assert answer.status_code == 403
        assert "session has ended meanwhile: sign in again" in text_of(answer)
        assert Administrator.objects.get(pk=victim.who.pk).second_step_since

    def test_attack_AP22_nor_sends_an_invitation_again(self, acme, end):
        operator, by = operators.at(acme), administrator()
        invitation = invitations.invite(email=new_email(), by=by, current_password=PASSWORD).invitation
        path = f"/admin/administrators/invitation/{invitation.pk}/do/renew/"

        answer = sent_meanwhile(lambda: end(operator.who), lambda: operator.submit(path, **PROOF))

        assert answer.status_code == 403
        assert Invitation.objects.get(pk=invitation.pk).invited_by_id == by.pk


def test_attack_AP22_a_session_alone_unlinks_no_single_sign_on(acme, limited):
    operator = operators.at(acme)
    _, recovery_codes = set_up(operator)
    account = ProviderAccount.objects.create(
        administrator=limited, issuer="https://sso.example", subject=secrets.token_hex(5)
    )
    path = f"/admin/administrators/administrator/{limited.pk}/do/unlink/"

    answers = [operator.submit(path), operator.submit(path, **PROOF)]
    is_linked = ProviderAccount.objects.filter(pk=account.pk).exists()
    done = operator.submit(path, **PROOF, current_code=recovery_codes[0])

    assert [answer.status_code for answer in answers] == [400, 403]
    assert is_linked
    assert done.status_code == 303
    assert not ProviderAccount.objects.filter(pk=account.pk).exists()


def test_attack_AP22_a_session_alone_deletes_no_administrator(acme, limited):
    operator = operators.at(acme)
    path = f"/admin/administrators/administrator/{limited.pk}/do/delete/"

    answers = [operator.submit(path), operator.submit(path, current_password="a guess")]
    is_there = Administrator.objects.filter(pk=limited.pk).exists()
    done = operator.submit(path, **PROOF)

    assert [answer.status_code for answer in answers] == [400, 403]
    assert is_there
    assert done.status_code == 303
    assert not Administrator.objects.filter(pk=limited.pk).exists()
