"""Migrate a new database and create a tenant, applications and users with the product's services.

Runs with the product's environment and prints what clients need to know, as JSON.
"""

import json
import secrets

import django
from django.core.management import call_command

_USERS = 64
_PASSKEY_USERS = 16
_RS256_API = "https://rs256.example"
_REDIRECT_URI = "https://rp.example/callback"


def main() -> None:
    """Create everything that the rows need."""
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)

    # The apps can be imported only after setup().
    from identity.core import tenancy  # noqa: PLC0415
    from identity.core.algorithms import Algorithm  # noqa: PLC0415
    from identity.core.proof import NO_ADMINISTRATOR  # noqa: PLC0415
    from identity.resources import services as resources  # noqa: PLC0415
    from identity.tenants import services as tenants  # noqa: PLC0415
    from identity.users import services as users  # noqa: PLC0415
    from interaction.experience import services as experiences  # noqa: PLC0415
    from management.seeding import bootstrap  # noqa: PLC0415
    from oidc.applications import services as applications  # noqa: PLC0415

    bootstrap.prepare()
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = tenants.provision(slug="bench", name="Benchmark").to_active()
        passkeys = tenants.provision(slug="bench-passkeys", name="Benchmark, passkeys").to_active()
    password = secrets.token_urlsafe(12)
    names = [f"person{number}" for number in range(_USERS)]
    with tenancy.using(tenant):
        machine, machine_secret = applications.register(name="Machine", type="MachineToMachine")
        web, web_secret = applications.register(name="Web", type="Traditional", redirect_uris=[_REDIRECT_URI])
        rs256, rs256_secret = applications.register(
            name="Web, RS256",
            type="Traditional",
            redirect_uris=[_REDIRECT_URI],
            id_token_signed_response_alg=Algorithm.RS256,
        )
        resources.create(name="API, RS256", indicator=_RS256_API, access_token_signing_alg=Algorithm.RS256)
        for name in names:
            users.create(username=name, password=password, name=name.title(), email=f"{name}@rp.example")
    with tenancy.using(passkeys):
        experiences.change({"passkey_sign_in": {"enabled": True}}, is_proven=NO_ADMINISTRATOR)
        passkey_web = applications.register(name="Web", type="Traditional", redirect_uris=[_REDIRECT_URI])
        for name in names[:_PASSKEY_USERS]:
            users.create(username=name, password=password, name=name.title(), email=f"{name}@rp.example")
    data = {
        "prefix": tenant.prefix,
        "issuer": tenant.issuer,
        "machine": [machine.client_id, machine_secret],
        "web": [web.client_id, web_secret],
        "web_rs256": [rs256.client_id, rs256_secret],
        "redirect_uri": _REDIRECT_URI,
        "usernames": names,
        "password": password,
        "passkeys": {
            "prefix": passkeys.prefix,
            "issuer": passkeys.issuer,
            "web": [passkey_web[0].client_id, passkey_web[1]],
            "usernames": names[:_PASSKEY_USERS],
        },
    }
    print(json.dumps(data))


if __name__ == "__main__":
    main()
