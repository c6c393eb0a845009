"""The account page and what lies behind it: one page a decision."""
