"""Key rotations that are refused, or made at the same time, to use the server's processors (AP42)."""

import time

import pytest

from identity.core.errors import ServiceError
from oidc.keys import previous_keys, signing
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support.threads import at_once


@pytest.fixture
def generated(monkeypatch):
    generate, made = signing.generate, []

    def noted(algorithm):
        made.append(algorithm)
        return generate(algorithm)

    monkeypatch.setattr(signing, "generate", noted)
    return made


@pytest.mark.parametrize("change", [keys.rotate, keys.prepare])
def test_attack_AP42_a_change_that_is_refused_generates_no_key(acme, monkeypatch, generated, change):
    monkeypatch.setattr(previous_keys, "_MAX_NUMBER", 1)
    with acme.active():
        keys.ensure("RS256")
        keys.rotate("RS256")
        generated.clear()

        with pytest.raises(previous_keys.TooMany):
            change("RS256")

    assert generated == []


def test_attack_AP42_one_rsa_key_is_generated_at_a_time(acme, monkeypatch):
    generate, inside, most = signing.generate, [], []

    def slow(algorithm):
        inside.append(algorithm)
        most.append(len(inside))
        time.sleep(1)
        inside.pop()
        return generate("ES256") if algorithm == "ES256" else generate(algorithm)

    def work(index):
        with acme.active():
            try:
                keys.rotate(("RS256", "PS256")[index % 2])
            except ServiceError as refusal:
                return refusal.status, refusal.headers.get("Retry-After")
        return 200, None

    monkeypatch.setattr(signing, "generate", slow)

    answers = at_once(4, work)

    assert max(most) == 1
    assert (503, "2") in answers
    assert (200, None) in answers


def test_keys_of_other_algorithms_do_not_wait(acme):
    def work(_):
        with acme.active():
            return keys.rotate("ES256").pk

    assert len(set(at_once(4, work))) == 4
    with acme.active():
        assert SigningKey.objects.active().count() == 1
