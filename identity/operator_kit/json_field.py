"""A form field for JSON that is as strict as the management API."""

import json
from typing import Any

import orjson
from django import forms

from identity.core import storable_json
from identity.core.storable_json import NotStorable


class StrictDecoder(json.JSONDecoder):
    """Decodes JSON that every database can store: no NaN, no lone surrogate, no NUL, no deep nesting."""

    def decode(self, s: str, *_: Any) -> Any:
        """Return the value.

        Raises:
            json.JSONDecodeError: the text is not JSON, or no database can store it.

        """
        value = orjson.loads(s)
        try:
            storable_json.check({"value": value})
        except NotStorable as error:
            raise json.JSONDecodeError(str(error), s, 0) from None
        return value


class JSONField(forms.JSONField):
    """JSON that ``StrictDecoder`` accepts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"decoder": StrictDecoder, **options})
