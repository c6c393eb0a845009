"""What a session reaches when its user proves something again."""

import pytest

from audit import log
from identity.sessions import renewal
from identity.sessions import services as sessions
from identity.sessions.models import Session


def test_decision_M14_no_session_is_stepped_up_without_its_audit_entry(acme, monkeypatch):
    user = acme.user()
    with acme.active():
        session, _ = sessions.start(user, amr=["pwd"])
        before = Session.objects.values("level", "amr", "token_hash").get(pk=session.pk)
        monkeypatch.setattr(log, "record", _fail)

        with pytest.raises(RuntimeError):
            renewal.step_up(session, amr=["pwd", "otp", "mfa"], level=2)

        assert Session.objects.values("level", "amr", "token_hash").get(pk=session.pk) == before


def _fail(*_, **__):
    raise RuntimeError
