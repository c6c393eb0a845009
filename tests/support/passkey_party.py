"""The relying party's half of the ceremonies of passkeys, without HTTP."""

import json
from typing import Any
from uuid import uuid4

import pytest

from identity.factors import ceremonies, ceremony_options, credential_json
from identity.factors.ceremonies import StoredPasskey
from identity.factors.ceremony_options import Account, Descriptor
from identity.factors.challenges import Binding, Ceremony
from identity.factors.passkey_refusals import PasskeyRefused

ORIGIN = "https://id.example.com"


class Party:
    """The relying party's half: it asks, and judges the answer."""

    def __init__(self):
        self.user = uuid4()
        self.browser = "a" * 64
        self.stored: Any = None

    def binding(self, ceremony, **changed):
        facts = {"browser": self.browser, "user": "", "session": ""} | changed
        return Binding(ceremony, **facts)

    def creation(self, ceremony=Ceremony.SET_UP, **changed):
        account = Account(self.user.bytes, "ada@example.com", "Ada")
        return ceremony_options.creation_options(self.binding(ceremony, **changed), account, "Acme", ())

    def request(self, ceremony=Ceremony.SIGN_IN, allowed=(), **changed):
        return ceremony_options.request_options(self.binding(ceremony, **changed), map(Descriptor, allowed))

    def registered(self, document, ceremony=Ceremony.SET_UP, **changed):
        answer = credential_json.read_registration(json.loads(json.dumps(document)))
        new = ceremonies.verify_registration(answer, self.binding(ceremony, **changed))
        self.stored = StoredPasskey(
            new.credential_id, new.public_key, new.sign_count, new.backup_eligible, self.user.bytes
        )
        return new

    def proven(self, document, ceremony=Ceremony.SIGN_IN, **changed):
        answer = credential_json.read_assertion(json.loads(json.dumps(document)))
        return ceremonies.verify_assertion(answer, self.stored, [self.binding(ceremony, **changed)])


def refusal(call, *arguments, **options):
    with pytest.raises(PasskeyRefused) as refused:
        call(*arguments, **options)
    assert refused.value.status == 401
    assert refused.value.reason == "passkey_refused"
    assert refused.value.result == {"reason": "passkey_refused"}
    assert str(refused.value) == "the passkey was not accepted"
    return refused.value.audit_facts["check"]
