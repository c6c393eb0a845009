from django.db import migrations
from django.db.models import BooleanField, Case, Q, Value, When

PIECE = 1000


def _set_proven(apps, schema_editor):
    """Say of each stored address whether it is proven, a piece of the table at a time. Can be repeated.

    What is verified is proven. What is not is unproven if the person registered, or if the members API
    made the user: of all who did not register, only its users and imported ones have no username. It is
    proven of everybody else, since an administrator or an operator set it.
    """
    User = apps.get_model("users", "User")
    by_members_api = Q(username_key=None, phone_key__isnull=False) & ~Q(custom_data__has_key="imported")
    last = None
    while True:
        rows = User.objects.order_by("pk") if last is None else User.objects.filter(pk__gt=last).order_by("pk")
        piece = list(rows.values_list("pk", flat=True)[:PIECE])
        if not piece:
            return
        last = piece[-1]
        for kind in ("email", "phone"):
            stored = User.objects.filter(pk__in=piece, **{f"{kind}_proven": None, f"{kind}_key__isnull": False})
            unproven = Q(**{f"{kind}_verified": False}) & (Q(self_registered=True) | by_members_api)
            stored.update(
                **{
                    f"{kind}_proven": Case(
                        When(unproven, then=Value(False)), default=Value(True), output_field=BooleanField()
                    )
                }
            )


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("users", "0006_proven_identifiers")]

    operations = [migrations.RunPython(_set_proven, migrations.RunPython.noop)]
