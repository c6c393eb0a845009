"""Codes of one provider in the hands of another."""

from tests.support import social
from tests.support.cast import query_of


def test_attack_AV06_my_provider_is_handed_the_code_of_another(acme, honest, provider):
    """RFC 9700 2.1, 4.4: my connector sends your browser on to theirs, and we get their code."""
    social.connect(acme, social.oauth2_config(honest.web.address), "oauth2")
    social.connect(acme, provider.config)
    attacker, victim = acme.browser(), acme.browser()
    mine = query_of(social.away(attacker, "oauth2"))
    honest.registered.add(mine["redirect_uri"])

    theirs = query_of(social.away(victim, "oidc"))
    # Evil's authorization endpoint answers 302 to honest's, with the challenge of the attacker's trip.
    code = honest.sign_on(mine | {"state": theirs["state"]}, subject="victim")
    refused = victim.get(mine["redirect_uri"], params={"code": code, "state": theirs["state"]})
    stolen = [asked.form["code"] for asked in provider.web.asked if asked.path == "/token"]
    for it in stolen:
        attacker.get(mine["redirect_uri"], params={"code": it, "state": mine["state"]})

    assert stolen == []
    assert not social.is_in(attacker)
    assert refused.status_code == 400
    assert "This sign-in has expired" in refused.text
