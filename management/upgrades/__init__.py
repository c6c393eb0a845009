"""Upgrades of the database while nodes serve. docs/upgrades.md describes them."""
