"""Measure Gatehouse. Each command creates what it measures and deletes it at the end."""

import argparse
import signal
import sys

from bench import capacity, fill, flames, flood, run, scale, soak, tenants
from bench.processes import Failed
from bench.wire import UnexpectedAnswer

_COMMANDS = (run, flood, soak, scale, tenants, capacity, flames, fill)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INTERRUPTED = 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        documentation = command.__doc__ or ""
        subparser = commands.add_parser(
            command.__name__.rpartition(".")[2],
            help=documentation.partition("\n")[0],
            description=documentation,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(command=command.main)
    return parser


def main() -> int:
    """Run a command, clean up even if it is interrupted, and return the exit code."""
    arguments = _parser().parse_args()
    for name in _SIGNALS:
        signal.signal(name, _interrupt)
    try:
        code: int = arguments.command(arguments)
    except KeyboardInterrupt:
        print("\nStopped. Nothing is left behind.")
        return _INTERRUPTED
    except (Failed, UnexpectedAnswer) as failure:
        print(f"\nThe measurement failed: {failure}", file=sys.stderr)
        return 1
    return code


def _interrupt(*_: object) -> None:
    """Stop once: further signals are ignored during the cleanup."""
    for name in _SIGNALS:
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
