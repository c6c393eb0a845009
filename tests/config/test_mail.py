"""The mail server for administrators, as the environment describes it."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import mail
from config.mail import MailServer

SENDER = "gatehouse@example.com"


def read(monkeypatch, url, sender=SENDER):
    monkeypatch.setenv("MAIL_URL", url)
    monkeypatch.setenv("MAIL_FROM", sender)
    return mail.read("MAIL_URL", "MAIL_FROM")


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("", MailServer()),
        ("smtps://mail.example.com", MailServer("mail.example.com", 465, tls=True, sender=SENDER)),
        ("smtp://mail.example.com", MailServer("mail.example.com", 587, starttls=True, sender=SENDER)),
        ("smtp://127.0.0.1:25?starttls=off", MailServer("127.0.0.1", 25, sender=SENDER)),
        (
            "smtps://me%40example.com:p%3Aw@mail.example.com:2465/",
            MailServer("mail.example.com", 2465, "me@example.com", "p:w", tls=True, sender=SENDER),
        ),
    ],
)
def test_a_url_says_how_to_connect(monkeypatch, url, server):
    assert read(monkeypatch, url) == server


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.com",
        "http://mail.example.com",
        "smtp://",
        "smtp://mail.example.com:port",
        "smtp://mail.example.com/inbox",
        "smtp://mail.example.com?starttls=maybe",
        "smtp://mail.example.com?tls=off",
        "smtp://user:hunter2@mail.example.com:99999",
    ],
)
def test_anything_else_is_refused_without_repeating_a_password(monkeypatch, url):
    with pytest.raises(ImproperlyConfigured, match="MAIL_URL") as refused:
        read(monkeypatch, url)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("sender", ["", "gatehouse", "a@b@c", "a b@example.com"])
def test_it_needs_a_sender(monkeypatch, sender):
    with pytest.raises(ImproperlyConfigured, match="MAIL_FROM"):
        read(monkeypatch, "smtp://mail.example.com", sender)


def test_a_sender_may_have_a_name(monkeypatch):
    assert read(monkeypatch, "smtp://mail.example.com", f"Gatehouse <{SENDER}>").sender.endswith(">")
