"""The paths of routes, which are searched once."""

from django.urls import reverse, set_script_prefix

from identity.http import paths


def test_are_below_the_prefix_of_each_tenant():
    found = []
    for prefix in ("/t/acme/", "/", "/t/rival/"):
        set_script_prefix(prefix)
        found.append((paths.get("oidc:authorize"), reverse("oidc:authorize")))
    set_script_prefix("/")

    assert found == [
        ("/t/acme/oidc/authorize", "/t/acme/oidc/authorize"),
        ("/oidc/authorize", "/oidc/authorize"),
        ("/t/rival/oidc/authorize", "/t/rival/oidc/authorize"),
    ]
