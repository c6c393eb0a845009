"""The test data and the configuration of the OpenID Foundation's conformance suite."""
