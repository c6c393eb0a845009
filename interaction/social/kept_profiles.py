"""Profiles of accounts at providers as JSON, which an attempt stores encrypted."""

from dataclasses import asdict, replace

import orjson

from interaction.connectors.providers.base import AccountName, Profile


def dump(profile: Profile) -> str:
    """Return a profile as JSON."""
    return orjson.dumps(asdict(profile)).decode()


def load(text: str) -> Profile:
    """Return the profile that ``dump`` wrote."""
    profile = Profile(**orjson.loads(text))
    alias = AccountName(*profile.alias) if profile.alias else None
    return replace(profile, alias=alias)
