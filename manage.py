#!/usr/bin/env python
"""Django's command line for Gatehouse."""

import gc
import os
import signal
import sys


def main() -> None:
    """Run one management command. What it writes is for this user alone."""
    os.umask(0o077)
    # With Python's own threshold, a fifth of the start is garbage collection that finds almost nothing.
    gc.set_threshold(100_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["run"]:
        # Ctrl-C ends the process until the command handles it. Python would drop a KeyboardInterrupt that is
        # raised in a callback of an import, and print it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - settings first
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - settings first

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"{error} (docs/configuration.md; DEBUG=true is a development start and needs nothing)")
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say of a program that Ctrl-C ended


if __name__ == "__main__":
    main()
