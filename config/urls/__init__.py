"""All routes. Each tenant has the same routes below ``/t/{slug}``."""

from django.contrib import admin
from django.urls import include, path

from config.urls.api import api
from config.urls.pages import people
from config.urls.protocol import oidc
from management.observability import views as observability
from management.site.site import entrance

machines = [
    path("healthz", observability.healthz, name="healthz"),
    path("readyz", observability.readyz, name="readyz"),
    path("metrics", observability.prometheus, name="metrics"),
]

# These exist only at the root: management.site.middleware returns 404 below a tenant.
operators = [
    path("admin", entrance, name="site"),
    path("admin/", admin.site.urls),
]

urlpatterns = [
    path("", include((machines, "operations"))),
    path("", include((oidc, "oidc"))),
    path("", include((api, "api"))),
    path("", include((people, "pages"))),
    *operators,
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
