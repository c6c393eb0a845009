"""The steps of the checklist about applications and administrators."""

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from identity.core import tenancy
from identity.operator_kit import routes
from identity.operator_kit.checklist import Step, register
from management.administrators.models import Administrator
from oidc.applications.models import Application


def _has_colleague(administrator: Administrator) -> bool:
    here = Q(is_superuser=True) | Q(tenants=tenancy.active_id())
    return Administrator.objects.filter(here).exclude(pk=administrator.pk).exists()


register(
    Step(
        1, _("Register an application"), _("Your users sign in to it with OpenID Connect."),
        "applications.change_application", lambda: routes.operation_url(Application, "create", None),
        lambda _: Application.objects.exists(), "quick-start",
    ),
    Step(
        5, _("Invite a colleague"), _("A second administrator can help if you lose access."),
        "administrators.change_administrator", lambda: routes.operation_url(Administrator, "invite", None),
        _has_colleague, "admin",
    ),
    Step(
        6, _("Turn on two-step sign-in"), _("It protects your account if somebody learns your password."),
        "users.view_user", lambda: reverse("admin:two-step"),
        lambda administrator: bool(administrator.second_step_since), "admin",
    ),
)  # fmt: skip
