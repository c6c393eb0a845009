"""The account page and its subpages: one page for each change."""
