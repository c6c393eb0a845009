"""The pages for end users: sign-in, registration, consent, account."""
