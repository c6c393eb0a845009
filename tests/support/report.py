"""What the faults measured: printed, and kept where FAULTS_REPORT says."""

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measured:
    """The figures of a test."""

    test: str

    def __call__(self, **figures: object) -> None:
        """Say them, for ``pytest --log-cli-level=INFO``."""
        line = json.dumps({"test": self.test} | figures, default=str)
        _logger.info("%s", line)
        if path := os.environ.get("FAULTS_REPORT"):
            with Path(path).open("a") as file:
                file.write(line + "\n")
