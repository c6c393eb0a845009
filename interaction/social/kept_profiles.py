"""Profiles of accounts at providers, as texts that an attempt encrypts."""

from dataclasses import asdict, replace

import orjson

from interaction.connectors.providers.base import AccountName, Profile


def dump(profile: Profile) -> str:
    """Return a profile as a text."""
    return orjson.dumps(asdict(profile)).decode()


def load(text: str) -> Profile:
    """Return the profile of a text."""
    profile = Profile(**orjson.loads(text))
    alias = AccountName(*profile.alias) if profile.alias else None
    return replace(profile, alias=alias)
