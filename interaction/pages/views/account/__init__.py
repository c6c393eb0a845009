"""The account page, and a page for each change of the account."""
