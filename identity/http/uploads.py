"""Uploaded files: only the operators' site takes them, in memory."""

from typing import Any

from django.core.files.uploadhandler import MemoryFileUploadHandler

from identity.http import areas


class SiteUploads(MemoryFileUploadHandler):
    """Keeps files that are sent to the operators' site, whose body size is limited. Others are discarded."""

    def handle_raw_input(self, *args: Any, **options: Any) -> Any:
        super().handle_raw_input(*args, **options)
        path = self.request.path_info if self.request else ""
        self.activated = self.activated and areas.is_of_site(path)
