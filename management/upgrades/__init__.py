"""Upgrading a database to the next release while nodes serve, as docs/upgrades.md describes."""
