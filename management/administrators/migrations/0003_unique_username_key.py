from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("administrators", "0002_username_key")]

    # The release before leaves the column empty, and the table is small: the index breaks and stops nobody.
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddConstraint(
                    "administrator",
                    models.UniqueConstraint(
                        condition=models.Q(("username_key__isnull", False)),
                        fields=("username_key",),
                        name="administrator_username_key",
                    ),
                )
            ],
            database_operations=[
                migrations.RunSQL(
                    "CREATE UNIQUE INDEX administrator_username_key ON administrators_administrator "
                    "(username_key) WHERE username_key IS NOT NULL",
                    "DROP INDEX administrator_username_key",
                )
            ],
        )
    ]
