"""An example for every operation, built from its schema and a table of values by field name."""

from collections.abc import Iterator
from typing import Any, Final

from management.openapi.responses import Schema

ID: Final = "01890a5d-ac96-774b-bcce-b302099a8057"
_TIMESTAMP: Final = "2030-01-31T12:00:00.000Z"

# By field name, or by schema and field name where the name has several meanings.
_VALUES: Final[dict[str, Any]] = {
    "access_token": "eyJ…",
    "access_token_ttl": 3600,
    "audit_retention_days": 365,
    "algorithm": "ES256",
    "allowed_scopes": ["read:orders"],
    "application_ids": [ID],
    "avatar": "https://cdn.example.com/ada.png",
    "client_id": "4f7c1d0e9a",
    "client_secret": "2hQ9…",
    "connector_id": "smtp",
    "birthdate": "1815-12-10",
    "claims": ["roles"],
    "country": "GB",
    "custom_claims": [{"name": "plan", "source": "user.custom_data.plan", "into": ["access_token"]}],
    "custom_data": {"plan": "gold"},
    "dark_logo_url": "https://cdn.example.com/dark.svg",
    "dark_primary_color": "#8ea6ff",
    "email": "ada@example.com",
    "end_time": "2030-02-01T00:00:00Z",
    "expires_in": 86400,
    "family_name": "Lovelace",
    "favicon": "https://cdn.example.com/favicon.svg",
    "gender": "female",
    "given_name": "Ada",
    "grant_types": ["authorization_code", "refresh_token"],
    "hosts": ["apps.example.com"],
    "identifier": "ada",
    "indicator": "https://api.example.com",
    "interaction": ID,
    "ip": "192.0.2.7",
    "key": "User.Create",
    "login_count": 12,
    "locale": "en-GB",
    "logo_url": "https://cdn.example.com/logo.svg",
    "member_count": 3,
    "metadata": {"plan": "gold"},
    "min_length": 8,
    "organization_role_ids": [ID],
    "page": 1,
    "page_size": 20,
    "password": "correct horse battery staple",
    "payload": {"id": ID, "fields": ["name"]},
    "phone": "+442079460018",
    "phone_number": "+442079460018",
    "post_logout_redirect_uris": ["https://app.example.com/"],
    "primary_color": "#3a5bc7",
    "primary_email": "ada@example.com",
    "primary_phone": "+442079460018",
    "privacy_policy_url": "https://example.com/privacy",
    "redirect_hosts": ["app.example.com"],
    "profile_fields": ["given_name", "family_name"],
    "redirect_to": "/account",
    "redirect_uris": ["https://app.example.com/callback"],
    "client_uri": "https://app.example.com",
    "logo_uri": "https://app.example.com/logo.svg",
    "policy_uri": "https://app.example.com/privacy",
    "tos_uri": "https://app.example.com/terms",
    "contacts": ["support@example.com"],
    "initiate_login_uri": "https://app.example.com/login",
    "default_acr_values": ["urn:service:acr:2fa"],
    "required_acr": "urn:service:acr:2fa",
    "resource_name": "Orders",
    "role_ids": [ID],
    "roles": ["Editor"],
    "scope_count": 2,
    "scope_ids": [ID],
    "scopes": ["openid", "profile"],
    "search": "ada",
    "slug": "acme",
    "start_time": "2030-01-01T00:00:00Z",
    "subject": ID,
    "tenant_id": "default",
    "tenants": ["acme"],
    "terms_of_use_url": "https://example.com/terms",
    "total": 1,
    "website": "https://ada.example.com/",
    "zoneinfo": "Europe/London",
    "Profile.profile": "https://people.example.com/ada",
    "user_agent": "Mozilla/5.0",
    "user_ids": [ID],
    "username": "ada",
    "Administrator.id": 1,
    "AdministratorWrite.id": 1,
    "AdministratorWrite.is_superuser": False,
    "AcrAlias.value": "https://refeds.org/profile/mfa",
    "AcrAlias.level": "phr",
    "Application.is_third_party": False,
    "Application.name": "Web shop",
    "ExplainedClaims.access_token": {"scope": {"value": "openid", "source": "protocol"}},
    "ExplainedClaims.id_token": {"name": {"value": "Ada Lovelace", "source": "scope profile"}},
    "ExplainedClaims.omitted": [],
    "ExplainedClaims.userinfo": {"name": {"value": "Ada Lovelace", "source": "scope profile"}},
    "CodeSent.expires_in": 300,
    "Code.identifier": "ada@example.com",
    "Code.identifier_type": "email",
    "Code.interaction_type": "sign_in",
    "EnteredCode.identifier": "ada@example.com",
    "EnteredCode.identifier_type": "email",
    "EnteredCode.interaction_type": "sign_in",
    "EnteredCode.code": "042137",
    "PageText.key": "sign_in_heading",
    "PageText.language": "en",
    "PageText.text": "Sign in to {application}",
    "NewPassword.identifier": "ada@example.com",
    "NewPassword.new_password": "correct horse battery staple 1",
    "Connector.config": {
        "host": "smtp.example.com",
        "port": 587,
        "from": "id@example.com",
        "password": "***",
    },
    "ConnectorFactory.connector_id": "smtp",
    "ConnectorFactory.name": "SMTP",
    "ConnectorTested.message": "sent to ada@example.com",
    "ConnectorTested.result": "ok",
    "ConnectorTest.to": "ada@example.com",
    "ConfigField.name": "host",
    "ConfigField.choices": [],
    "ConfigField.default": None,
    "ContextTenant.id": "default",
    "ContextTenant.slug": "default",
    "ContextUser.updated_at": 1896091200,
    "ContextApplication.type": "SPA",
    "Entry.user_id": None,
    "Entry.application_id": None,
    "Method.identifier": "username",
    "Method.password": True,
    "Method.verification_code": False,
    "OrganizationPermission.name": "document:edit",
    "OrganizationRole.name": "Editor",
    "Organization.name": "Analytical Engines",
    "BriefOrganization.name": "Analytical Engines",
    "Resource.name": "Orders",
    "Role.name": "Support",
    "Scope.name": "read:orders",
    "BriefScope.name": "read:orders",
    "RoleScope.name": "read:orders",
    "SignUp.password": True,
    "SignUp.identifiers": ["username"],
    "AskedCaptcha.connector_id": "turnstile",
    "AskedCaptcha.site_key": "0x4AAAAAAAAAAAAAAAAAAAAA",
    "Connector.redirect_uri": "",
    "SocialConnector.connector_id": "google",
    "SocialConnector.name": "Google",
    "SocialConnector.type": "Social",
    "Tenant.id": ID,
    "Tenant.name": "Acme",
    "User.is_suspended": False,
}
_USER_SCHEMAS: Final = ("User", "Member", "RoleUser", "ContextUser", "OrganizationMember", "Enrol")
_LEFT_OUT: Final = {"password_hash", "primary_email", "primary_phone", "interaction", "captcha_token"}


def add(document: Schema) -> None:
    """Add an example to every body and every parameter that has none."""
    samples = _Samples(document)
    for operation in operations(document):
        for parameter in operation.get("parameters", []):
            if "example" not in parameter and (parameter["in"] == "path" or parameter["name"] in _VALUES):
                parameter["example"] = _VALUES.get(parameter["name"], ID)
        for body in _bodies(operation):
            if "example" not in body and body["schema"] != {"type": "string"}:
                body["example"] = samples.build(body["schema"])


def operations(document: Schema) -> Iterator[Schema]:
    for path in document["paths"].values():
        yield from path.values()


def _bodies(operation: Schema) -> Iterator[Schema]:
    yield from operation.get("requestBody", {}).get("content", {}).values()
    for response in operation["responses"].values():
        yield from response.get("content", {}).values()


class _Samples:
    """Builds examples from schemas."""

    def __init__(self, document: Schema) -> None:
        self.schemas: dict[str, Schema] = document["components"]["schemas"]

    def build(self, schema: Schema, schema_name: str = "", name: str = "") -> Any:
        """Return an example of a schema: a value from the table, or one of the schema's type."""
        if "$ref" in schema:
            referred = schema["$ref"].rpartition("/")[2]
            return self.build(
                self.schemas[referred], referred.removesuffix("Request").removeprefix("Patched")
            )
        if "allOf" in schema or ("oneOf" in schema and "properties" not in schema):
            return self.build((schema.get("allOf") or schema["oneOf"])[0], schema_name, name)
        for key in (f"{schema_name}.{name}", name):
            if name and key in _VALUES:
                return _VALUES[key]
        if name == "name" and schema_name in _USER_SCHEMAS:
            return "Ada Lovelace"
        return self._by_type(schema, schema_name, name)

    def _by_type(self, schema: Schema, schema_name: str, name: str) -> Any:
        if "const" in schema or "enum" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        kinds = schema.get("type", "object")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if kind == "object":
            return {
                key: self.build(part, schema_name, key)
                for key, part in schema.get("properties", {}).items()
                if key not in _LEFT_OUT or key in schema.get("required", [])
            }
        if kind == "array":
            return [self.build(schema["items"], schema_name, name)]
        if kind == "string":
            return _text(schema, name)
        return {"integer": 1, "number": 1, "boolean": True, "null": None}[kind]


def _text(schema: Schema, name: str) -> str:
    formats = {"uuid": ID, "date-time": _TIMESTAMP}
    return formats.get(schema.get("format", "")) or {"name": "Example", "description": "An example"}.get(
        name, "…"
    )
