"""Migrates the throw-away database and fills it with the product's own services.

Run by ``run.py`` with the product's environment; prints what clients have to know, as JSON.
"""

import json
import secrets

import django
from django.core.management import call_command

USERS = 64


def main() -> None:
    """Make everything that the rows need."""
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)

    # The apps can be imported only now.
    from identity.core import tenancy  # noqa: PLC0415
    from identity.tenants import services as tenants  # noqa: PLC0415
    from identity.users import services as users  # noqa: PLC0415
    from management.seeding import bootstrap  # noqa: PLC0415
    from oidc.applications import services as applications  # noqa: PLC0415

    bootstrap.prepare()
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = tenants.provision(slug="bench", name="Benchmark").to_active()
    redirect_uri = "https://rp.example/callback"
    password = secrets.token_urlsafe(12)
    names = [f"person{number}" for number in range(USERS)]
    with tenancy.using(tenant):
        machine, machine_secret = applications.register(name="Machine", type="MachineToMachine")
        web, web_secret = applications.register(name="Web", type="Traditional", redirect_uris=[redirect_uri])
        for name in names:
            users.create(username=name, password=password, name=name.title(), email=f"{name}@rp.example")
    print(
        json.dumps(
            {
                "prefix": tenant.prefix,
                "issuer": tenant.issuer,
                "machine": [machine.client_id, machine_secret],
                "web": [web.client_id, web_secret],
                "redirect_uri": redirect_uri,
                "usernames": names,
                "password": password,
            }
        )
    )


if __name__ == "__main__":
    main()
