"""Calling Alibaba Cloud: requests signed with ACS3-HMAC-SHA256."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field

_ALGORITHM: Final = "ACS3-HMAC-SHA256"

# What their error codes mean to somebody who fills in a form. Others are not shown.
_REASONS: Final = {
    "InvalidAccessKeyId.NotFound": "it does not know this access_key_id",
    "InvalidAccessKeyId.Inactive": "this access_key_id is disabled",
    "InvalidAccessKeyId": "it does not know this access_key_id",
    "SignatureDoesNotMatch": "this access_key_secret does not belong to this access_key_id",
    "InvalidTimeStamp.Expired": "the clock of this server is wrong",
    "Forbidden.RAM": "this access key may not do this",
    "NoPermission": "this access key may not do this",
    "isp.RAM_PERMISSION_DENY": "this access key may not do this",
    "Throttling": "it was asked too often",
    "Throttling.User": "it was asked too often",
    "InvalidMailAddress.NotFound": "account_name is no sender address of this account",
    "InvalidMailAddressStatus.Malformed": "account_name is not verified yet",
    "InvalidToAddress": "it does not take mail for this recipient",
    "InvalidToAddress.Spam": "it does not take mail for this recipient",
    "isv.AMOUNT_NOT_ENOUGH": "the account has no credit left",
    "isv.OUT_OF_SERVICE": "the service is switched off for this account",
    "isv.SMS_SIGNATURE_ILLEGAL": "sign_name is not approved",
    "isv.SMS_TEMPLATE_ILLEGAL": "template_code is not approved",
    "isv.TEMPLATE_MISSING_PARAMETERS": "the template asks for more than a code",
    "isv.MOBILE_NUMBER_ILLEGAL": "it does not take messages for this number",
    "isv.BUSINESS_LIMIT_CONTROL": "it has sent too many messages to this number",
}


def account_fields() -> tuple[Field, ...]:
    """Return what every product asks for."""
    return (
        Field(name="access_key_id", rule=rules.word, description="Of a RAM user that may only send"),
        Field(name="access_key_secret", secret=True, description="The secret of that access key"),
    )


def endpoint_field() -> Field:
    """Return where to reach it other than by its region."""
    return Field(
        name="endpoint",
        required=False,
        destination=True,
        rule=rules.https_url,
        description="Only where the region's usual address cannot be used, as in a VPC",
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
    """Ask a product of theirs to do something.

    Raises:
        ProviderError: it did not do it.

    """
    body = _encoded(form or {}).encode()
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
    answer = web.request("POST", f"{url.rstrip('?')}?{_encoded(query)}", headers, body)
    code = answer.json().get("Code", "OK")
    if answer.ok and code == "OK":
        return
    reason = _REASONS.get(code) if isinstance(code, str) else None
    raise ProviderError(
        f"Alibaba Cloud refused: {reason} ({code})"
        if reason
        else f"Alibaba Cloud answered with HTTP {answer.status}"
    )


def authorization(
    key_id: str, key_secret: str, headers: Mapping[str, str], *, path: str, query: Mapping[str, str]
) -> str:
    """Return the header that signs a POST with these headers, path and query."""
    names = sorted(headers)
    signed = ";".join(names)
    canonical = "\n".join(
        [
            "POST",
            path,
            _encoded(query),
            *(f"{name}:{headers[name].strip()}" for name in names),
            "",
            signed,
            headers["x-acs-content-sha256"],
        ]
    )
    text = f"{_ALGORITHM}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(key_secret.encode(), text.encode(), "sha256").hexdigest()
    return f"{_ALGORITHM} Credential={key_id},SignedHeaders={signed},Signature={signature}"


def _encoded(values: Mapping[str, str]) -> str:
    """Percent-encode as RFC 3986 says, sorted by name."""
    return "&".join(f"{quote(name, safe='')}={quote(values[name], safe='')}" for name in sorted(values))
