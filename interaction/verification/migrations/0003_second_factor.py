from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("verification", "0002_code_epoch")]

    operations = [
        migrations.AlterField(
            "verificationcode",
            "purpose",
            models.CharField(
                choices=[
                    ("sign_in", "Sign In"),
                    ("register", "Register"),
                    ("forgot_password", "Forgot Password"),
                    ("second_factor", "Second Factor"),
                    ("change", "Change"),
                ],
                max_length=32,
            ),
        ),
    ]
