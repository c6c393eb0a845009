"""Made-up users, organizations and audit entries. The same seed gives the same data."""
