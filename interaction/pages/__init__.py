"""The pages an end user meets: sign-in, consent, account, sign-out."""
