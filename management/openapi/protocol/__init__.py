"""The OAuth and OpenID Connect endpoints, which are no API views: described by hand."""
