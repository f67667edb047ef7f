"""The path guard: what may be opened, what must not, and that nobody learns what lies outside."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools_app.core import ToolError
from tools_app.guards.paths import (
    FileTooLarge,
    NotARegularFile,
    PathDenied,
    PathGuard,
    PathNotFound,
    is_secret_file,
)

LIMIT = 1000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two allowed folders and one outside, with links between them."""
    for name in ("ws/sub/deep", "other", "outside"):
        (tmp_path / name).mkdir(parents=True)
    files = {
        "ws/a.txt": "a",
        "ws/sub/b.txt": "b",
        "ws/sub/deep/c.txt": "c",
        "ws/100%.txt": "percent",
        "ws/back~up.txt": "tilde",
        "ws/.env": "SECRET=1",
        "other/o.txt": "o",
        "outside/secret.txt": "no",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    links = {
        "ws/to_file": "a.txt",
        "ws/to_folder": "sub",
        "ws/sub/up": "../a.txt",
        "ws/absolute": tmp_path / "ws/sub/b.txt",
        "ws/to_other": tmp_path / "other",
        "ws/to_other_relative": "../other/o.txt",
        "ws/chain": "to_folder/../to_file",
        "ws/out_file": "../outside/secret.txt",
        "ws/out_absolute": tmp_path / "outside/secret.txt",
        "ws/out_folder": "../outside",
        "ws/out_missing": "../outside/missing.txt",
        "ws/out_and_back": "../outside/../ws/a.txt",
        "ws/dangling": "missing.txt",
        "ws/notes.txt": ".env",
        "ws/loop": "loop",
        "ws/root": "/",
        "ws/self": "/proc/self/root",
        "outside/back": tmp_path / "ws/a.txt",
        "alias": "ws",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


def guard_of(tree: Path) -> PathGuard:
    return PathGuard([tree / "ws", tree / "other"])


@pytest.mark.parametrize(
    ("path", "text", "resolved"),
    [
        ("ws/a.txt", "a", "ws/a.txt"),
        ("ws//sub/./b.txt", "b", "ws/sub/b.txt"),
        ("ws/sub/deep/../../a.txt", "a", "ws/a.txt"),
        ("ws/to_file", "a", "ws/a.txt"),
        ("ws/to_folder/b.txt", "b", "ws/sub/b.txt"),
        ("ws/to_folder/deep/c.txt", "c", "ws/sub/deep/c.txt"),
        ("ws/to_folder/../a.txt", "a", "ws/a.txt"),
        ("ws/sub/up", "a", "ws/a.txt"),
        ("ws/absolute", "b", "ws/sub/b.txt"),
        ("ws/to_other/o.txt", "o", "other/o.txt"),
        ("ws/to_other_relative", "o", "other/o.txt"),
        ("ws/chain", "a", "ws/a.txt"),
        ("ws/../other/o.txt", "o", "other/o.txt"),
        ("ws/out_and_back", "a", "ws/a.txt"),
        ("ws/100%.txt", "percent", "ws/100%.txt"),
        ("ws/back~up.txt", "tilde", "ws/back~up.txt"),
    ],
)
def test_must_pass(tree: Path, path: str, text: str, resolved: str) -> None:
    content = guard_of(tree).read_file(f"{tree}/{path}", max_bytes=LIMIT)
    assert (content.data.decode(), content.path) == (text, f"{tree}/{resolved}")
    assert content.size_bytes == len(text)


def test_a_relative_path_starts_at_the_first_folder(tree: Path) -> None:
    assert guard_of(tree).read_file("sub/b.txt", max_bytes=LIMIT).data == b"b"
    assert guard_of(tree).read_file("../other/o.txt", max_bytes=LIMIT).data == b"o"


def test_a_folder_may_be_reached_by_a_link(tree: Path) -> None:
    guard = PathGuard([tree / "alias"])
    for path in ("alias/a.txt", "ws/a.txt", "alias/to_folder/b.txt"):
        assert guard.read_file(f"{tree}/{path}", max_bytes=LIMIT).path.startswith(f"{tree}/ws/")


@pytest.mark.parametrize(
    "path",
    [
        "{t}/outside/secret.txt",
        "{t}/outside/missing.txt",
        "{t}/missing.txt",
        "{t}/wsx/a.txt",
        "{t}/outside/back",
        "{t}/ws/../outside/secret.txt",
        "{t}/ws/out_file",
        "{t}/ws/out_absolute",
        "{t}/ws/out_folder/secret.txt",
        "{t}/ws/out_missing",
        "{t}/ws/root/etc/passwd",
        "{t}/ws/self/etc/passwd",
        "{t}/ws/loop",
        "{t}/ws/.env",
        "{t}/ws/.ENV",
        "{t}/ws/notes.txt",
        "{t}/ws",
        "/",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root{t}/ws/a.txt",
        "/dev/fd/0",
        "..",
        "../outside/secret.txt",
        "~/x",
        "~root/../../etc/passwd",
        "a.txt\0.png",
        "sub/%2e%2e/%2e%2e/outside/secret.txt",
        "sub/%252e%252e/a.txt",
        "sub%2fb.txt",
        "..\\..\\outside\\secret.txt",
        "sub\\b.txt",
        "a\udce9.txt\ud800",
        "",
    ],
)
def test_must_block(tree: Path, path: str) -> None:
    expected = NotARegularFile if path == "{t}/ws" else PathDenied
    with pytest.raises(expected):
        guard_of(tree).read_file(path.replace("{t}", str(tree)), max_bytes=LIMIT)


@pytest.mark.parametrize("path", [None, 3, b"a.txt", ["a.txt"]])
def test_a_path_that_is_no_text_is_refused(tree: Path, path: object) -> None:
    with pytest.raises(PathDenied):
        guard_of(tree).read_file(path, max_bytes=LIMIT)  # type: ignore[arg-type]


def test_nobody_learns_what_exists_outside(tree: Path) -> None:
    guard = guard_of(tree)
    messages = set()
    for name in ("secret.txt", "missing.txt", "missing/x.txt", ".env"):
        for path in (f"{tree}/outside/{name}", f"../outside/{name}", f"out_folder/{name}"):
            with pytest.raises(PathDenied) as caught:
                guard.read_file(path, max_bytes=LIMIT)
            messages.add(caught.value.message)
    assert len(messages) == 1


def test_what_is_missing_inside_is_not_found(tree: Path) -> None:
    for path in ("missing.txt", "missing/x.txt", "a.txt/x", "dangling", "sub/../../ws/none"):
        with pytest.raises(PathNotFound):
            guard_of(tree).read_file(path, max_bytes=LIMIT)


def test_no_folder_allowed_means_no_file(tree: Path) -> None:
    with pytest.raises(PathDenied):
        PathGuard([]).read_file(f"{tree}/ws/a.txt", max_bytes=LIMIT)


def test_anywhere_still_means_no_secrets_and_nothing_of_the_kernel(tree: Path) -> None:
    guard = PathGuard(None)
    assert guard.read_file(f"{tree}/ws/to_file", max_bytes=LIMIT).data == b"a"
    for path in (
        f"{tree}/ws/.env",
        f"{tree}/ws/notes.txt",
        "/proc/self/environ",
        "/proc/self/cwd/x",
        "/sys/kernel/notes",
        "/dev/null",
        "/dev/stdin",
        "//proc/self/environ",
        "/tmp/../proc/self/environ",  # noqa: S108 - only a name on the way
        f"{tree}/ws/root/proc/version",
    ):
        with pytest.raises(PathDenied):
            guard.read_file(path, max_bytes=LIMIT)


def test_a_folder_of_the_kernel_cannot_be_allowed() -> None:
    with pytest.raises(PathDenied):
        PathGuard(["/proc/self"]).read_file("status", max_bytes=LIMIT)


def test_a_second_hard_link_is_refused_unless_it_is_allowed(tree: Path) -> None:
    os.link(tree / "outside/secret.txt", tree / "ws/hard.txt")
    with pytest.raises(PathDenied, match="hard link"):
        guard_of(tree).read_file("hard.txt", max_bytes=LIMIT)
    lenient = PathGuard([tree / "ws"], allow_hard_links=True)
    assert lenient.read_file("hard.txt", max_bytes=LIMIT).data == b"no"


def test_only_regular_files_are_opened(tree: Path) -> None:
    os.mkfifo(tree / "ws/pipe")
    (tree / "ws/link_to_pipe").symlink_to("pipe")
    for path in ("sub", "pipe", "link_to_pipe", ".", "sub/.."):
        with pytest.raises(NotARegularFile):
            guard_of(tree).read_file(path, max_bytes=LIMIT)


def test_size_is_limited(tree: Path) -> None:
    (tree / "ws/big.txt").write_bytes(b"x" * LIMIT)
    assert len(guard_of(tree).read_file("big.txt", max_bytes=LIMIT).data) == LIMIT
    with pytest.raises(FileTooLarge, match=f"{LIMIT} bytes.*{LIMIT - 1} bytes"):
        guard_of(tree).read_file("big.txt", max_bytes=LIMIT - 1)


def test_a_folder_without_read_permission_can_be_walked_through(tree: Path) -> None:
    (tree / "ws/sub").chmod(0o311)
    assert guard_of(tree).read_file("sub/b.txt", max_bytes=LIMIT).data == b"b"


WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def write(guard: PathGuard, path: str, data: bytes) -> None:
    with guard.opened(path, WRITE) as file:
        os.write(file.fd, data)


def test_files_are_written_inside(tree: Path) -> None:
    write(guard_of(tree), "new.txt", b"new")
    write(guard_of(tree), "to_file", b"changed")
    write(guard_of(tree), "dangling", b"made")
    assert (tree / "ws/new.txt").read_bytes() == b"new"
    assert (tree / "ws/a.txt").read_bytes() == b"changed"
    assert (tree / "ws/missing.txt").read_bytes() == b"made"
    assert (tree / "ws/new.txt").stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_outside(tree: Path) -> None:
    os.link(tree / "outside/secret.txt", tree / "ws/hard.txt")
    for path in (
        "out_file",
        "out_missing",
        "out_folder/new.txt",
        "../outside/new",
        "hard.txt",
        ".env",
    ):
        with pytest.raises(PathDenied):
            write(guard_of(tree), path, b"overwritten")
    assert (tree / "outside/secret.txt").read_text() == "no"
    assert (tree / "ws/.env").read_text() == "SECRET=1"
    assert sorted(path.name for path in (tree / "outside").iterdir()) == ["back", "secret.txt"]


def test_no_handle_is_left_open(tree: Path) -> None:
    guard = guard_of(tree)
    before = len(os.listdir("/proc/self/fd"))
    for path in ("to_other/o.txt", "chain", "out_file", "loop", "missing", "sub", ".env"):
        try:
            guard.read_file(path, max_bytes=LIMIT)
        except ToolError:
            continue
    assert len(os.listdir("/proc/self/fd")) == before


def test_writing_replaces_what_was_there(tree: Path) -> None:
    write(guard_of(tree), "100%.txt", b"1")
    assert (tree / "ws/100%.txt").read_bytes() == b"1"


def test_a_link_with_a_secret_name_is_refused_wherever_it_leads(tree: Path) -> None:
    (tree / "ws/.ssh").symlink_to("sub")
    (tree / "ws/prod.env").symlink_to("a.txt")
    for path in (".ssh/b.txt", "prod.env"):
        with pytest.raises(PathDenied, match="sensitive"):
            guard_of(tree).read_file(path, max_bytes=LIMIT)


def test_a_kernel_file_system_mounted_elsewhere_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mounting needs rights a test does not have, so the folder's own device stands for it."""
    device = frozenset({tree.stat().st_dev})
    monkeypatch.setattr("tools_app.guards.paths._kernel_devices", lambda: device)
    with pytest.raises(PathDenied, match="kernel"):
        guard_of(tree).read_file("a.txt", max_bytes=LIMIT)


def test_a_file_swapped_for_a_link_never_leads_outside(tree: Path) -> None:
    stop = threading.Event()
    file, spare, evil = tree / "ws/sub/b.txt", tree / "ws/spare", tree / "ws/evil"
    spare.write_text("b")

    def swap() -> None:
        while not stop.is_set():
            evil.symlink_to(tree / "outside/secret.txt")
            evil.replace(file)
            spare.write_text("b")
            spare.replace(file)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(1500):
            try:
                seen.add(guard_of(tree).read_file("sub/b.txt", max_bytes=LIMIT).data)
            except ToolError as error:
                seen.add(error.code)
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"b", "path_denied", "path_not_found"}


def test_a_link_swapped_in_while_reading_never_leads_outside(tree: Path) -> None:
    """An attacker changes a folder into a link and back; every read stays inside or fails."""
    stop = threading.Event()
    folder, parked, evil = tree / "ws/sub", tree / "ws/parked", tree / "ws/evil"
    (tree / "outside/b.txt").write_text("outside")
    evil.symlink_to(tree / "outside")

    def swap() -> None:
        while not stop.is_set():
            folder.rename(parked)
            evil.rename(folder)
            folder.rename(evil)
            parked.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(1500):
            try:
                seen.add(guard_of(tree).read_file("sub/b.txt", max_bytes=LIMIT).data)
            except ToolError as error:
                seen.add(error.code)
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"b", "path_denied", "path_not_found"}


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "x/.env.local",
        "prod.env",
        "PROD.ENV",
        "a.Pem",
        "id_dsa",
        "id_ecdsa",
        "x.kdbx",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        "/home/u/.aws/credentials",
        "/u/.ssh/known_hosts",
        "/u/.SSH/config",
        "/u/.kube/config",
        "/u/.docker/config.json",
        "a\\.env",
        "credentials.yml",
    ],
)
def test_secret_files(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "environment.py",
        "env",
        ".environment",
        "keys.txt",
        "monkey",
        "key.pem.txt",
        "id_rsa.pub",
        "config",
        "kube/config",
        "config.json",
        "aws/credentials",
        ".ssh",
        "npmrc",
        "",
        "/",
    ],
)
def test_other_files_are_not_secret(path: str) -> None:
    assert not is_secret_file(path)


NAMES = ["..", ".", "a.txt", "sub", "b.txt", "to_folder", "to_other", "out_folder", "secret.txt"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(parts=st.lists(st.sampled_from([*NAMES, "outside", "ws", "root", "up"]), max_size=8))
def test_any_path_gives_what_realpath_says_or_nothing(tree: Path, parts: list[str]) -> None:
    path = "/".join(parts)
    try:
        content = guard_of(tree).read_file(path, max_bytes=LIMIT)
    except ToolError:
        return
    assert content.path == os.path.realpath(tree / "ws" / path)
    assert content.path.startswith((f"{tree}/ws/", f"{tree}/other/"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(max_size=40))
def test_any_text_is_read_or_refused(tree: Path, path: str) -> None:
    try:
        guard_of(tree).read_file(path, max_bytes=LIMIT)
    except ToolError as error:
        assert error.code != "tool_error"  # noqa: PT017 - any of several classes
