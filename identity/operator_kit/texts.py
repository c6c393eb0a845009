"""The type of texts that the operators' site shows in the administrator's language."""

from typing import TypeAlias

from django.utils.functional import Promise

# What a declaration marks with gettext_lazy is a Promise. It becomes a str, in the language of the request,
# where a page shows it; code that joins, compares or encodes it calls str() within the request.
Text: TypeAlias = str | Promise
