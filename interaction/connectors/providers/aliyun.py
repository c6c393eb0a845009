"""Requests to Alibaba Cloud, signed with ACS3-HMAC-SHA256."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, describe_refusal, describe_status
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field

_ALGORITHM: Final = "ACS3-HMAC-SHA256"

# The reasons that administrators see, by error code. Other codes are not shown.
_REASONS: Final = {
    "InvalidAccessKeyId.NotFound": gettext_noop("the access_key_id is unknown"),
    "InvalidAccessKeyId.Inactive": gettext_noop("the access_key_id is disabled"),
    "InvalidAccessKeyId": gettext_noop("the access_key_id is unknown"),
    "SignatureDoesNotMatch": gettext_noop("the access_key_secret does not belong to the access_key_id"),
    "InvalidTimeStamp.Expired": gettext_noop("this server's clock is wrong"),
    "Forbidden.RAM": gettext_noop("the access key lacks the permission to send"),
    "NoPermission": gettext_noop("the access key lacks the permission to send"),
    "isp.RAM_PERMISSION_DENY": gettext_noop("the access key lacks the permission to send"),
    "Throttling": gettext_noop("it received too many requests"),
    "Throttling.User": gettext_noop("it received too many requests"),
    "InvalidMailAddress.NotFound": gettext_noop("account_name is not a sender address of this account"),
    "InvalidMailAddressStatus.Malformed": gettext_noop("account_name is not verified yet"),
    "InvalidToAddress": gettext_noop("it does not accept mail for this recipient"),
    "InvalidToAddress.Spam": gettext_noop("it does not accept mail for this recipient"),
    "isv.AMOUNT_NOT_ENOUGH": gettext_noop("the account has no credit left"),
    "isv.OUT_OF_SERVICE": gettext_noop("the service is switched off for this account"),
    "isv.SMS_SIGNATURE_ILLEGAL": gettext_noop("sign_name is not approved"),
    "isv.SMS_TEMPLATE_ILLEGAL": gettext_noop("template_code is not approved"),
    "isv.TEMPLATE_MISSING_PARAMETERS": gettext_noop("the template needs other parameters than code"),
    "isv.MOBILE_NUMBER_ILLEGAL": gettext_noop("it does not accept messages for this number"),
    "isv.BUSINESS_LIMIT_CONTROL": gettext_noop("it has sent too many messages to this number"),
}


def account_fields() -> tuple[Field, ...]:
    """Return the fields of the account, which all products need."""
    return (
        Field(
            name="access_key_id",
            rule=rules.url_safe,
            description=gettext_noop("The access key of a RAM user that has only the permission to send"),
        ),
        Field(
            name="access_key_secret", secret=True, description=gettext_noop("The secret of that access key")
        ),
    )


def endpoint_field() -> Field:
    """Return the field for an endpoint that replaces the one of the region."""
    return Field(
        name="endpoint",
        required=False,
        destination=True,
        rule=rules.https_url,
        description=gettext_noop(
            "Only if the region's default endpoint cannot be used, for example in a VPC"
        ),
    )


def call(  # noqa: PLR0913 - the parts of a request
    config: Config,
    url: str,
    *,
    action: str,
    version: str,
    query: Mapping[str, str],
    form: Mapping[str, str] | None = None,
) -> None:
    """Send a signed request to a product.

    Raises:
        ProviderError: the product refused the request.

    """
    body = _encode(form or {}).encode()
    path = urlsplit(url).path or "/"
    headers = {
        "host": urlsplit(url).netloc.lower(),
        "x-acs-action": action,
        "x-acs-version": version,
        "x-acs-date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "x-acs-signature-nonce": secrets.token_hex(16),
        "x-acs-content-sha256": hashlib.sha256(body).hexdigest(),
    }
    if body:
        headers["content-type"] = "application/x-www-form-urlencoded"
    headers["Authorization"] = authorization(
        config["access_key_id"], config["access_key_secret"], headers, path=path, query=query
    )
    headers["Accept"] = "application/json"
    response = web.request("POST", f"{url.rstrip('?')}?{_encode(query)}", headers, body)
    code = response.json().get("Code", "OK")
    if response.ok and code == "OK":
        return
    reason = _REASONS.get(code) if isinstance(code, str) else None
    raise ProviderError(
        describe_refusal("Alibaba Cloud", reason, code)
        if reason
        else describe_status("Alibaba Cloud", response.status)
    )


def authorization(
    key_id: str, key_secret: str, headers: Mapping[str, str], *, path: str, query: Mapping[str, str]
) -> str:
    """Return the ``Authorization`` header that signs a POST with these headers, path and query."""
    names = sorted(headers)
    signed = ";".join(names)
    canonical = "\n".join(
        [
            "POST",
            path,
            _encode(query),
            *(f"{name}:{headers[name].strip()}" for name in names),
            "",
            signed,
            headers["x-acs-content-sha256"],
        ]
    )
    text = f"{_ALGORITHM}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(key_secret.encode(), text.encode(), "sha256").hexdigest()
    return f"{_ALGORITHM} Credential={key_id},SignedHeaders={signed},Signature={signature}"


def _encode(values: Mapping[str, str]) -> str:
    """Return the values as a percent-encoded query (RFC 3986), sorted by name."""
    return "&".join(f"{quote(name, safe='')}={quote(values[name], safe='')}" for name in sorted(values))
