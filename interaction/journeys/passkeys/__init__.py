"""Passkeys: signing in with one, using one as the second factor, and setting one up."""
