"""Emails that users had before, and how long their keys may be."""

from identity.users.models import FormerEmail
from tests.support import management
from tests.support.cast import PASSWORD
from tests.support.management import result_of

LONG = f"ada@{'.'.join(['ß' * 50] * 4)}.example"  # folding makes two letters of one


def test_an_email_whose_key_is_longer_than_itself_is_kept(acme):
    admin = management.superuser(acme)
    user = admin.created("/users", username="ada", email=LONG, email_verified=True, password=PASSWORD)

    result_of(admin.patch(f"/users/{user['id']}", email="ada@acme.example"))

    with acme.active():
        kept = FormerEmail.objects.get()
    assert kept.email == LONG
    assert len(kept.email_key) > 254
