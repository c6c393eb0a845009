"""The labels of the fields of connectors, and of the values to choose from, in the operators' forms."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from identity.operator_kit.texts import Text

# By the name of the field, which the API and the error messages use.
LABELS: Final[Mapping[str, Text]] = {
    "access_key_id": _("Access key ID"),
    "access_key_secret": _("Access key secret"),
    "account_name": _("Account name"),
    "account_sid": _("Account SID"),
    "api_key": _("API key"),
    "app_id": _("App ID"),
    "app_secret": _("App secret"),
    "auth_token": _("Auth token"),
    "authorization_endpoint": _("Authorization endpoint"),
    "client_id": _("Client ID"),
    "client_secret": _("Client secret"),
    "configuration_set": _("Configuration set"),
    "display_name": _("Display name"),
    "domain": _("Domain"),
    "email_member": _("Email member"),
    "email_verified_member": _("Email verified member"),
    "endpoint": _("Endpoint"),
    "from_email": _("From email"),
    "from_name": _("From name"),
    "host": _("Host"),
    "id_member": _("ID member"),
    "issuer": _("Issuer"),
    "key_id": _("Key ID"),
    "name_member": _("Name member"),
    "password": _("Password"),
    "port": _("Port"),
    "private_key": _("Private key"),
    "region": _("Region"),
    "scope": _("Scope"),
    "secret_access_key": _("Secret access key"),
    "secret_key": _("Secret key"),
    "security": _("Security"),
    "sender": _("Sender"),
    "sign_name": _("Sign name"),
    "site_key": _("Site key"),
    "team_id": _("Team ID"),
    "template_code": _("Template code"),
    "tenant_id": _("Tenant ID"),
    "token_endpoint": _("Token endpoint"),
    "userinfo_endpoint": _("Userinfo endpoint"),
    "username": _("Username"),
}

# By the value that the API and the stored configuration use.
CHOICES: Final[Mapping[str, Text]] = {"starttls": "STARTTLS", "tls": "TLS", "none": _("No encryption")}
