"""Changes that users make to their own account: one module for each."""
