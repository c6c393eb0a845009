"""The rules of the house that no linter knows: which way rows point, what files are named, what is served."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.migrations.loader import MigrationLoader

from tests.support.endpoints import served_endpoints, written_endpoints

ROOT = Path(__file__).resolve().parent.parent

# ── Everything points down ──────────────────────────────────────────────────────────────────────────────────


def layers_of(package: str | None) -> list[set[str]]:
    """The rows of the import order inside a package (None: the top level), highest first."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    containers = [package] if package else []
    for contract in linter["contracts"]:
        if contract["type"] == "layers" and contract.get("containers", []) == containers:
            return [set(re.findall(r"\w+", row)) for row in contract["layers"]]
    return []


def listed(name: str, rows: list[set[str]]) -> bool:
    return any(name in row for row in rows)


def depth(name: str, rows: list[set[str]]) -> int:
    return next(number for number, row in enumerate(rows) if name in row)


def is_ours(name: str) -> bool:
    """Whether an app is of the project: its package is a folder of the project."""
    return (ROOT / name.partition(".")[0]).is_dir()


def has_layer(name: str) -> bool:
    """Whether the order names the package of an app and, of an app inside a package, its part of it."""
    package, *part = name.split(".")
    return listed(package, layers_of(None)) and (not part or listed(part[0], layers_of(package)))


def place(label: str) -> list[str]:
    """Return the package of an app and its part of the package, or [] for an app of a dependency."""
    name = apps.get_app_config(label).name
    return name.split(".") if is_ours(name) else []


def points_down(source: str, target: str) -> bool:
    """Whether an app may depend on another; what is not ours lies below everything."""
    above, below = place(source), place(target)
    if source == target or not above or not below:
        return True
    shared = above[0] if above[0] == below[0] else None
    rows, level = layers_of(shared), 1 if shared else 0
    return depth(above[level], rows) < depth(below[level], rows)


def test_every_app_of_the_project_has_its_place_in_the_written_order():
    names = [config.name for config in apps.get_app_configs() if is_ours(config.name)]
    assert len(names) > 5
    assert [name for name in names if not has_layer(name)] == []


@pytest.mark.parametrize(
    "parts", [("invented",), ("identity", "invented"), ("invented", "users"), ("audit", "users")]
)
def test_an_app_without_a_place_in_the_order_is_found(parts):
    assert not has_layer(".".join(parts))


@pytest.mark.parametrize(
    ("source", "target", "down"),
    [
        ("organizations", "users", True),
        ("users", "organizations", False),
        ("grants", "users", True),
        ("users", "grants", False),
        ("organizations", "roles", False),  # neither may know the other
    ],
)
def test_what_points_up_is_found(source, target, down):
    assert points_down(source, target) is down


def test_foreign_keys_point_down_the_import_order():
    relations = [
        (model, field)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey | models.ManyToManyField) and place(model._meta.app_label)
    ]
    assert relations
    assert [
        f"{model._meta.label}.{field.name} → {field.related_model._meta.label}"
        for model, field in relations
        if not points_down(model._meta.app_label, field.related_model._meta.app_label)
    ] == []


def test_migrations_point_down_the_import_order():
    on_disk = MigrationLoader(None).disk_migrations
    ours = {key: migration for key, migration in on_disk.items() if place(key[0])}
    assert ours
    assert [
        f"{label}.{name} → {dependency[0]}"
        for (label, name), migration in ours.items()
        for dependency in migration.dependencies
        if dependency[0] != "__setting__" and not points_down(label, dependency[0])
    ] == []


# ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────


def sources() -> list[Path]:
    places = [
        "audit",
        "bench",
        "config",
        "database",
        "docs",
        "identity",
        "interaction",
        "management",
        "oidc",
        "tests",
    ]
    missing = [place for place in places if not (ROOT / place).is_dir()]
    assert missing == []
    return [path for place in places for path in (ROOT / place).rglob("*.py")]


@pytest.mark.parametrize("drawer", ["utils", "helpers", "common", "misc"])
def test_no_file_or_folder_is_a_junk_drawer(drawer):
    assert [path for path in sources() if drawer in {path.stem, *path.relative_to(ROOT).parts}] == []


@pytest.mark.parametrize("name", ["audit.clock", "identity.core.ids"])
def test_a_name_that_is_kept_for_migrations_is_imported_by_them_alone(name):
    package, _, module = name.rpartition(".")
    imported = re.compile(
        rf"^\s*(from {re.escape(package)} import .*\b{module}\b|(from|import) {re.escape(name)}\b)",
        re.MULTILINE,
    )
    importers = [path for path in sources() if imported.search(path.read_text())]
    assert importers
    assert [path for path in importers if "migrations" not in path.parts] == []


# ── Addresses ───────────────────────────────────────────────────────────────────────────────────────────────


_MOST_LINES = 250
_MOST_LINES_OF_TESTS = 430
_PACKAGES = ("audit", "config", "database", "identity", "interaction", "management", "oidc")


def product_files() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from (path for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts)


def test_no_file_is_long():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in product_files()}

    assert {name: lines for name, lines in lengths.items() if lines > _MOST_LINES} == {}


def test_no_file_of_tests_is_long():
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / "tests").rglob("*.py")
    }

    assert {name: lines for name, lines in lengths.items() if lines > _MOST_LINES_OF_TESTS} == {}


def imports_from_tests(code: str) -> bool:
    """Whether a module imports from a file of tests, or imports such a file as a whole."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    paths = [module.split(".") for module in modules]
    places = [path for path in paths if path[0] in {"tests", ""}]
    return any(
        (ROOT / "/".join(path[:end])).with_suffix(".py").is_file()
        for path in places
        for end in range(1, len(path) + 1)
        if path[end - 1].startswith("test_")
    )


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("from tests.test_house import ROOT", True),
        ("from tests import test_house", True),
        ("import tests.test_house", True),
        ("from tests.support.endpoints import written_endpoints", False),
        ("from django.test import test_house", False),
    ],
)
def test_an_import_from_a_file_of_tests_is_found(code, is_found):
    assert imports_from_tests(code) is is_found


def test_helpers_of_tests_live_in_support():
    files = (ROOT / "tests").rglob("*.py")

    assert [str(path.relative_to(ROOT)) for path in files if imports_from_tests(path.read_text())] == []


# The views that catch errors, and why no renderer of errors can do it for them.
_CATCHING = {
    "audit/viewsets.py": "a time that cannot be parsed is reported by the name of its parameter",
    "interaction/pages/views/": "the page shows its form again, or the way back, with the error",
    "management/members/viewsets.py": "an error of an organization has another code in the members API",
}


def is_view(path: Path) -> bool:
    return (
        "views" in path.parts
        or path.stem in {"views", "viewsets"}
        or path.parent == ROOT / "interaction" / "api"
    )


def used_names(code: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(code)))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


def catches_errors(code: str) -> bool:
    handlers = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ExceptHandler)]
    return bool(handlers) or "suppress" in used_names(code)


def test_views_open_no_transaction_and_catch_errors_only_where_said():
    views = {str(path.relative_to(ROOT)): path.read_text() for path in product_files() if is_view(path)}
    catching = {name for name, code in views.items() if catches_errors(code)}

    assert [name for name, code in views.items() if "atomic" in used_names(code)] == []
    assert [name for name in catching if not name.startswith(tuple(_CATCHING))] == []
    assert [place for place in _CATCHING if not any(name.startswith(place) for name in catching)] == []


# ── Locks ───────────────────────────────────────────────────────────────────────────────────────────────────


def locks_of_users(code: str) -> list[str]:
    """The calls that lock rows of users."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return [text for text in map(ast.unparse, calls) if text.startswith("User.objects.select_for_update(")]


def test_no_lock_on_a_user_stops_inserts_that_refer_to_the_user():
    # Each insert of a row that refers to the user would wait for such a lock, whatever else it holds.
    calls = [call for path in product_files() for call in locks_of_users(path.read_text())]

    assert len(calls) >= 3
    assert [call for call in calls if "no_key=True" not in call] == []


# ── The doctor ──────────────────────────────────────────────────────────────────────────────────────────────


def test_every_finding_of_the_doctor_is_in_a_test():
    # config/settings names findings of Django.
    product = [path.read_text() for path in product_files() if "settings" not in path.parts]
    ids = {id_ for code in product for id_ in re.findall(r'"([a-z_]+\.[EWI]\d{3})"', code)}
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))

    assert len(ids) > 50
    assert {id_ for id_ in ids if id_ not in tests} == set()


# ── Libraries ───────────────────────────────────────────────────────────────────────────────────────────────


def test_decision_M1_one_module_of_the_product_imports_the_library_of_webauthn():
    folders = ("audit", "config", "database", "identity", "interaction", "management", "oidc")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    imports = re.compile(r"^\s*(?:from|import) fido2\b", re.MULTILINE)

    found = [str(file.relative_to(ROOT)) for file in files if imports.search(file.read_text())]

    assert found == ["identity/factors/webauthn.py"]


# ── Sessions ────────────────────────────────────────────────────────────────────────────────────────────────

# Where a session may start or reach a higher level: after the second factor is proven, or not needed.
_STARTS_SESSIONS = {
    "interaction/journeys/second_factor/starting.py": {"start"},
    "interaction/journeys/second_factor/session_proofs.py": {"step_up", "record_password"},
    # Of made-up users. No browser has them.
    "management/seeding/demo_data/live_sessions.py": {"Session", "bulk_create"},
}
_SESSION_MODULES = {f"identity.sessions.{name}" for name in ("services", "models", "renewal")}
_MAKES_SESSIONS = {
    "start",
    "step_up",
    "record_password",
    "Session",
    "create",
    "bulk_create",
    "get_or_create",
    "save",
}


def session_calls(code: str) -> set[str]:
    """What a module calls that makes a session, by whatever name it imported it."""
    tree = ast.parse(code)
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in _SESSION_MODULES or node.module in _SESSION_MODULES:
                    names[alias.asname or alias.name] = alias.name
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            parts = ast.unparse(node.func).split(".")
            if parts[0] in names and len(parts) == 1:
                called.add(names[parts[0]])
            elif parts[0] in names:
                called.add(parts[-1])
    return called & _MAKES_SESSIONS


@pytest.mark.parametrize(
    ("code", "called"),
    [
        ("from identity.sessions import services\nservices.start(user)", {"start"}),
        ("from identity.sessions import services as s\ns.step_up(row)", {"step_up"}),
        ("from identity.sessions.services import start as begin\nbegin(user)", {"start"}),
        ("from identity.sessions.models import Session\nSession(user=user)", {"Session"}),
        ("from identity.sessions.models import Session\nSession.objects.create()", {"create"}),
        ("from identity.sessions import services\nservices.end(row)", set()),
        ("from identity.sessions.models import Session\nSession.objects.filter(pk=pk)", set()),
    ],
)
def test_a_call_that_makes_a_session_is_found(code, called):
    assert session_calls(code) == called


def test_decision_M10_one_place_starts_sessions():
    found = {str(path.relative_to(ROOT)): session_calls(path.read_text()) for path in product_files()}
    found.pop("identity/sessions/services.py")

    assert {name: calls for name, calls in found.items() if calls} == _STARTS_SESSIONS


def test_decision_M10_only_the_decision_reaches_that_place():
    tree = ast.parse((ROOT / "interaction/journeys/second_factor/starting.py").read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]

    callers = {
        function.name: {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        for function in functions
    }

    assert [name for name, calls in callers.items() if "_start" in calls] == ["start_session_or_store"]
    assert [name for name, calls in callers.items() if "sessions.start" in calls] == ["_start"]
    assert "judge" in callers["start_session_or_store"]
    assert "find_need" in callers["judge"]


def test_the_endpoint_table_has_no_row_twice_and_no_second_name_for_a_path():
    rows = written_endpoints()
    assert len({(row.method, row.path) for row in rows}) == len(rows)
    assert len({(row.path, row.name) for row in rows}) == len({row.path for row in rows})


def test_every_endpoint_of_the_table_is_served():
    assert sorted(set(written_endpoints()) - served_endpoints()) == []


def test_every_endpoint_that_is_served_is_in_the_table():
    assert sorted(served_endpoints() - set(written_endpoints())) == []


def test_no_address_needs_a_trailing_slash():
    assert settings.APPEND_SLASH is False
    assert [row.path for row in written_endpoints() if row.path != "/" and row.path.endswith("/")] == []
