"""Change the decisions about tokens, grants and permissions one at a time, and list the changes that no test
notices. Results are written to var/mutation.tsv. docs/security/mutation.md explains the method.
"""

import argparse
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutation.mutants import ROOT

_RESULTS = ROOT / "var/mutation.tsv"
# What is changed, and the tests that should notice. A group has few tests, since a survivor runs them all.
_GROUPS = {
    "clients": (("oidc/provider/client_authentication.py",), ("tests/oidc/test_client_authentication.py",)),
    "checks": (
        ("oidc/provider/authorization/checks.py", "oidc/provider/authorization/request.py"),
        (
            "tests/oidc/test_authorization_checks.py",
            "tests/oidc/authorize",
            "tests/oidc/test_claims_parameter.py",
        ),
    ),
    "steps": (
        ("oidc/provider/authorization/steps.py",),
        (
            "tests/oidc/authorize/test_prompt.py",
            "tests/oidc/authorize/test_id_token_hint.py",
            "tests/security/attacks/test_consent_silent.py",
            "tests/security/attacks/test_relying_party_questions.py",
        ),
    ),
    "codes": (
        ("oidc/provider/token/authorization_code.py", "oidc/grants/codes.py"),
        ("tests/oidc/test_authorization_code.py",),
    ),
    "refresh": (
        ("oidc/provider/token/refresh_token.py", "oidc/grants/families.py"),
        ("tests/oidc/test_refresh_token.py",),
    ),
    "targets": (
        (
            "oidc/provider/target.py",
            "oidc/provider/grant_consent.py",
            "oidc/grants/consents.py",
            "identity/organizations/memberships.py",
        ),
        ("tests/oidc/test_resources_and_organizations.py", "tests/security/attacks/test_consent.py"),
    ),
    "bearers": (
        ("oidc/provider/bearer.py",),
        ("tests/oidc/test_userinfo.py", "tests/security/attacks/test_consent.py"),
    ),
    "sign-out": (
        ("oidc/provider/sign_out.py", "oidc/provider/id_token_hint.py"),
        ("tests/oidc/end_session",),
    ),
    "permissions": (
        (
            "management/api/permissions.py",
            "management/administrators/support_rights.py",
            "oidc/provider/client_principal.py",
        ),
        ("tests/management/test_access.py", "tests/management/test_members_m2m.py"),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"by default all: {', '.join(_GROUPS)}")
    parser.add_argument("--seconds", type=int, default=300, help="for each group (default: 300)")
    parser.add_argument("--jobs", type=int, default=2, help="groups at a time (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(_GROUPS):
        parser.error(f"unknown group: {', '.join(sorted(unknown))}")

    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text("")
    with ThreadPoolExecutor(options.jobs) as jobs:
        statuses = list(jobs.map(lambda name: _run(name, options), options.groups or _GROUPS))
    return max(*statuses, _report(_RESULTS))


def _run(name: str, options: argparse.Namespace) -> int:
    files, tests = _GROUPS[name]
    arguments = [f"--seed={options.seed}", f"--seconds={options.seconds}", f"--results={_RESULTS}"]
    arguments += [f"--mutants-of={path}" for path in files]
    plugin = ("-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-q", "--tb=no")
    command = [sys.executable, "-m", "pytest", *plugin, *arguments, *tests]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode


def _report(results: Path) -> int:
    """Print the survivors and the counts. Return 1 if there are survivors."""
    rows = [line.split("\t") for line in results.read_text().splitlines()]
    for result, key, function, text in rows:
        if result == "survived":
            print(f"survived: {key} in {function}: {text}")
    counts = Counter(row[0] for row in rows)
    print(", ".join(f"{number} {result}" for result, number in sorted(counts.items())) or "no results")
    return int(counts["survived"] > 0)


if __name__ == "__main__":
    sys.exit(main())
