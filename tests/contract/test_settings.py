"""Settings: every one is explained, a bad one stops the start by name, secrets stay secret."""

from __future__ import annotations

import ast
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from openjarvis_web.databases import database_settings
from openjarvis_web.environment import (
    BadSetting,
    Environment,
    kept_secret_key,
    prepare_data_folder,
)
from openjarvis_web.settings import env
from tests.product import ROOT

FILE_SUFFIX = "_FILE"
PACKAGES = ("openjarvis_web", "tools_app", "scheduler_app", "nodes_app")


def documented() -> set[str]:
    """Return the names that docs/settings.md explains."""
    text = (ROOT / "docs" / "settings.md").read_text()
    return set(re.findall(r"^\| `([A-Z_]+)`", text, re.M)) | set(
        re.findall(r"Also `([A-Z_]+)`", text)
    )


def start(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Read the settings in a process of its own, as every command does first."""
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "check"],
        env={"PATH": "/usr/bin:/bin", "OPENJARVIS_DATA_DIR": str(tmp_path / "data"), **variables},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )


def test_every_setting_that_is_read_is_explained_and_the_other_way_round():
    assert env.declared == documented()


def test_only_the_environment_module_reads_the_environment():
    """A setting read elsewhere would escape the list."""
    sources = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    readers = [
        str(file.relative_to(ROOT))
        for file in sources
        if file.name != "environment.py" and reads_environment(ast.parse(file.read_text()))
    ]
    assert readers == []


def reads_environment(tree: ast.AST) -> bool:
    """Say whether code looks up a variable of the environment by name."""
    for node in ast.walk(tree):
        looked_in = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            looked_in = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_in = node.func.value if node.func.attr == "get" else node.func
        if looked_in is not None and ast.unparse(looked_in) in ("os.environ", "os.getenv"):
            return True
    return False


@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("OPENJARVIS_PORT", "http", "whole number from 1 to 65535"),
        ("OPENJARVIS_PORT", "0", "whole number from 1 to 65535"),
        ("OPENJARVIS_PORT", "65536", "whole number from 1 to 65535"),
        ("OPENJARVIS_WORKERS", "-1", "whole number from 1 to 256"),
        ("OPENJARVIS_DEBUG", "perhaps", "true or false"),
        ("OPENJARVIS_TABLE_SET", "2020.1.1", "one of default, 2026.2.22, 2026.2.26"),
        ("OPENJARVIS_LOG_LEVEL", "LOUD", "one of DEBUG"),
        ("OPENJARVIS_FILE_ROOTS", "/does/not/exist", "is not a folder"),
        ("OPENJARVIS_TRUSTED_ORIGINS", "example.org", "must start with https://"),
        ("OPENJARVIS_SECRET_KEY", "short", "at least 32 characters"),
        ("OPENJARVIS_SECRET_KEY_FILE", "/does/not/exist", "cannot read the file"),
        ("DATABASE_URL", "mysql://u:hidden-password@h/d", "postgres://user:password@host"),
        ("REDIS_URL", "http://u:hidden-password@h", "must be a URL that starts with redis://"),
        ("CELERY_BROKER_URL", "sqs://hidden-password", "must be a URL that starts with"),
    ],
)
def test_a_bad_value_stops_the_start_by_name(tmp_path: Path, name: str, value: str, form: str):
    done = start(tmp_path, **{name: value})

    assert done.returncode == 1
    assert done.stderr.startswith(f"Setting {name}: ")
    assert form in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden-password" not in done.stderr


def test_a_good_value_starts(tmp_path: Path):
    assert start(tmp_path, OPENJARVIS_PORT="65535", OPENJARVIS_DEBUG="no").returncode == 0


def test_a_secret_may_come_from_a_file(tmp_path: Path):
    (tmp_path / "password").write_text("from a file\n")
    environment = Environment({"NAME_FILE": str(tmp_path / "password")})

    assert environment.secret("NAME") == "from a file"
    assert environment.declared == {"NAME", "NAME_FILE"}


def test_a_secret_given_twice_is_refused(tmp_path: Path):
    (tmp_path / "password").write_text("one")
    environment = Environment({"NAME": "other", "NAME_FILE": str(tmp_path / "password")})

    with pytest.raises(BadSetting, match="not both"):
        environment.secret("NAME")


def test_an_empty_secret_file_is_refused(tmp_path: Path):
    (tmp_path / "password").write_text("\n")

    with pytest.raises(BadSetting, match="NAME_FILE: the file is empty"):
        Environment({"NAME_FILE": str(tmp_path / "password")}).secret("NAME")


def test_an_empty_variable_counts_as_not_set():
    assert Environment({"NAME": "  "}).whole("NAME", 7, at_least=1, at_most=9) == 7


@pytest.mark.parametrize("number", [1, 9])
def test_limits_belong_to_the_allowed_values(number: int):
    environment = Environment({"NAME": str(number)})

    assert environment.whole("NAME", 5, at_least=1, at_most=9) == number


def test_the_secret_key_is_made_once_for_its_owner_alone(tmp_path: Path):
    key = kept_secret_key(tmp_path / "secret_key")

    assert len(key) >= 50
    assert kept_secret_key(tmp_path / "secret_key") == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret_key"]


def test_a_damaged_secret_key_is_not_used(tmp_path: Path):
    (tmp_path / "secret_key").write_text("abc")

    with pytest.raises(BadSetting, match="too short"):
        kept_secret_key(tmp_path / "secret_key")


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "data").write_text("")

    with pytest.raises(BadSetting, match=r"OPENJARVIS_DATA_DIR: cannot write to .*/data"):
        prepare_data_folder(tmp_path / "data")


def test_the_data_folder_is_its_owners_alone(tmp_path: Path):
    folder = prepare_data_folder(tmp_path / "data")

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_sqlite_is_set_up_for_parallel_writers(tmp_path: Path):
    options = database_settings("", tmp_path / "db.sqlite3")["OPTIONS"]

    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "journal_mode=WAL" in options["init_command"]


@pytest.mark.parametrize("url", ["postgres://", "postgres://h", "sqlite", "postgres://u:p@h:x/d"])
def test_a_database_url_without_a_database_is_refused(tmp_path: Path, url: str):
    with pytest.raises(BadSetting, match="DATABASE_URL"):
        database_settings(url, tmp_path / "db.sqlite3")
