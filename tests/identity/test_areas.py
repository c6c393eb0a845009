"""Which paths belong to which interface."""

import pytest

from identity.http import areas


@pytest.mark.parametrize(
    ("path", "is_of_site"),
    [
        ("/admin", True),
        ("/admin/", True),
        ("/admin/login/", True),
        ("/adminx", False),
        ("/api/admin/me", False),
        ("/", False),
    ],
)
def test_paths_of_the_operators_site_begin_with_its_root(path, is_of_site):
    assert areas.is_of_site(path) is is_of_site
