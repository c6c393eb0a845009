"""The end users' pages: sign-in, registration, consent, account."""
