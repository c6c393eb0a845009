"""Importing users from the export files of other systems."""
