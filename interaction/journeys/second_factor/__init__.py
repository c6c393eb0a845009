"""Between the first factor and the session: what a sign-in still needs, and proving or setting it up."""
