"""oidcc-basic-certification-test-plan, with the query of a redirect as the answer."""

from tests.conformance.basic_plan import *  # noqa: F403 - pytest runs the tests of the modules here
