"""Requests to Amazon Web Services, signed with AWS4-HMAC-SHA256 (Signature Version 4)."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from interaction.connectors.outbound import web
from interaction.connectors.providers.base import Config

_ALGORITHM: Final = "AWS4-HMAC-SHA256"


def post_json(config: Config, url: str, *, service: str, body: bytes) -> web.Response:
    """POST a JSON document to a service in the configured region and return the response.

    Raises:
        ProviderError: the service does not respond.

    """
    now = datetime.now(UTC)
    headers = {
        "content-type": "application/json",
        "host": urlsplit(url).netloc.lower(),
        "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
        "x-amz-date": now.strftime("%Y%m%dT%H%M%SZ"),
    }
    scope = f"{now:%Y%m%d}/{config['region']}/{service}/aws4_request"
    headers["Authorization"] = authorization(
        config["access_key_id"], config["secret_access_key"], scope, method="POST", url=url,
        headers=headers, body=body,
    )  # fmt: skip
    return web.request("POST", url, headers | {"Accept": "application/json"}, body)


def authorization(  # noqa: PLR0913 - what a signature covers
    key_id: str, key: str, scope: str, *, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> str:
    """Return the ``Authorization`` header that signs a request with these headers, in lower case.

    The scope is ``date/region/service/aws4_request``. The URL has no parameter twice, and its path no
    character that needs encoding.
    """
    names = sorted(headers)
    signed = ";".join(names)
    canonical = "\n".join(
        [
            method,
            quote(urlsplit(url).path or "/", safe="/"),
            "&".join(sorted(urlsplit(url).query.split("&"))),
            *(f"{name}:{headers[name].strip()}" for name in names),
            "",
            signed,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"{_ALGORITHM}\n{headers['x-amz-date']}\n{scope}\n{digest}"
    signature = _hmac(_signing_key(key, scope), text).hex()
    return f"{_ALGORITHM} Credential={key_id}/{scope}, SignedHeaders={signed}, Signature={signature}"


def _signing_key(key: str, scope: str) -> bytes:
    derived = f"AWS4{key}".encode()
    for part in scope.split("/"):
        derived = _hmac(derived, part)
    return derived


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), "sha256").digest()
