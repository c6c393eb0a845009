"""The browser that the journeys are tested in: Chromium as the machine has it.

The build without a window (Debian: ``chromium-headless-shell``) takes half the CPU time of the whole browser.

``python -m tests.support.chromium`` says which one it is, and fails where there is none.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Return the path of the browser: that of ``CHROMIUM``, or the first that is installed."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else _NAMES
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def running() -> Iterator[Browser]:
    """Run it without a window. Its sandbox needs rights that containers do not give."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    found = find()
    sys.stdout.write(f"{found}\n" if found else "")
    sys.exit(found is None)
