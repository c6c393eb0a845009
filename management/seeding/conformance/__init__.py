"""The data and the configuration for the OpenID Foundation's conformance suite."""
