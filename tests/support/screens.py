"""Windows of a real browser, and the errors and warnings of their consoles."""

import re
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

# Chromium says this of every page that is not a 2xx; the pages that are not are tested for what they are.
_STATUS: Final = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")
# And this of each script and focus of a page in a frame that lets nothing run, as it should.
_STILL: Final = re.compile(r"Blocked (script execution in|autofocusing on) ")
# And this when axe looks for itself in such a frame.
_AXE: Final = re.compile(r"Failed to execute 'postMessage' on 'DOMWindow'.* window's origin \('null'\)")
# The development server of Next.js ends before the windows do.
_RELOADING: Final = re.compile(r"WebSocket connection to '\S+/_next/hmr\S*' failed")


class Screens:
    """Opens windows. ``complaints`` gathers console errors, warnings, and errors of scripts."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def open(self, **options: Any) -> Page:
        """Open a window with cookies of its own."""
        options.setdefault("viewport", {"width": 1280, "height": 800})
        context = self._browser.new_context(**options)
        context.set_default_timeout(10_000)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self._contexts.append(context)
        return context.new_page()

    def _hear(self, message: ConsoleMessage) -> None:
        expected = any(known.match(message.text) for known in (_STATUS, _STILL, _AXE, _RELOADING))
        if message.type in {"error", "warning"} and not expected:
            self.complaints.append(message.text)

    def close(self) -> None:
        while self._contexts:
            self._contexts.pop().close()
