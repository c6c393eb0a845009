"""Mail to administrators goes to their domain, and not to one that is spelled alike (AP23)."""

import secrets

import pytest
from django.core import mail as django_mail
from django.test import Client

from management.administrators import mail
from management.administrators.models import Administrator
from tests.support import operators

pytestmark = pytest.mark.usefixtures("default_tenant")


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example.com", "gatehouse@example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    sent()  # of earlier tests


def sent():
    """Return the mails that were sent since, when the thread that sends them is done."""
    mail.EXECUTOR.submit(lambda: None).result()
    messages, django_mail.outbox = django_mail.outbox, []
    return messages


def test_attack_AP23_a_recovery_link_is_sent_to_my_domain():
    """I own strasse.example, and the administrator's email is at straße.example."""
    local = secrets.token_hex(5)
    who = operators.administrator(email=f"{local}@straße.example")
    Administrator.objects.filter(pk=who.pk).update(proven_email=who.email)

    Client().post("/admin/recover/", {"email": who.email})

    (message,) = sent()
    assert message.recipients() == [f"{local}@xn--strae-oqa.example"]
    assert "/admin/recover/" in message.body


def test_attack_AP23_a_domain_that_nobody_can_have_gets_no_mail():
    with pytest.raises(mail.NotSent):
        mail.send("ada@☃.example", "Subject", "Body")

    assert sent() == []
