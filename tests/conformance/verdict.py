"""What a module comes to, in the words of the suite."""

from dataclasses import dataclass, field
from enum import StrEnum


class Result(StrEnum):
    """The suite's results; REVIEW wants a person to look at a picture of a page."""

    PASSED = "PASSED"
    WARNING = "WARNING"
    REVIEW = "REVIEW"
    SKIPPED = "SKIPPED"
    FAILED = "FAILED"
    NOT_RUN = "NOT RUN"


class Failure(Exception):
    """The module cannot go on."""


class Skipped(Exception):
    """The module does not apply to this provider."""


@dataclass
class Verdict:
    """Gathers what a module finds."""

    module: str
    plan: str = ""  # of several plans that have this module
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    skipped: str = ""

    def must(self, holds: object, otherwise: str) -> None:
        """Fail and stop, unless it holds."""
        if not holds:
            raise Failure(otherwise)

    def shall(self, holds: object, otherwise: str) -> None:
        """Fail, unless it holds, but go on."""
        if not holds:
            self.failures.append(otherwise)

    def should(self, holds: object, otherwise: str) -> None:
        """Warn, unless it holds."""
        if not holds:
            self.warnings.append(otherwise)

    def picture(self, of: str) -> None:
        """Note a page that a person would have to look at."""
        self.pictures.append(of)

    def skip(self, reason: str) -> None:
        """Stop, because the module does not apply."""
        raise Skipped(reason)

    @property
    def result(self) -> Result:
        """The worst of what was found."""
        if self.failures:
            return Result.FAILED
        if self.skipped:
            return Result.SKIPPED
        if self.warnings:
            return Result.WARNING
        return Result.REVIEW if self.pictures else Result.PASSED

    @property
    def findings(self) -> str:
        """Why it is that result."""
        found = self.failures + ([self.skipped] if self.skipped else []) + self.warnings + self.pictures
        return "; ".join(found)
