"""The template tag for lists within a line of text, loaded as ``text_lists``."""

from typing import Final

from django import template

from identity.core import text_lists

register: Final = template.Library()
register.simple_tag(text_lists.get_separator, name="separator")
