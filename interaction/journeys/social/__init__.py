"""Signing in with an account at another provider, and linking one."""
