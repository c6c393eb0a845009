from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("users", "0002_search_index")]

    # The triggers that keep it are created after every migrate: identity.users.totals.
    operations = [
        migrations.CreateModel(
            name="UserCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant_id", models.CharField(max_length=36)),
                ("users", models.BigIntegerField()),
            ],
            options={"indexes": [models.Index(fields=["tenant_id"], name="user_count_of_tenant")]},
        ),
    ]
