"""Hand-written descriptions of the OAuth and OpenID Connect endpoints, which are not API views."""
