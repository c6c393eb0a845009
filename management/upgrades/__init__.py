"""Moving a database from one release to the next while nodes serve. docs/upgrades.md says how."""
