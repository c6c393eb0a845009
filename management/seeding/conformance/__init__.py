"""What the OpenID Foundation's conformance suite needs to find here, and what it needs to be told."""
