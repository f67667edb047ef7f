"""The path guard: every file a tool opens is opened by it.

A path is walked name by name from an allowed root, with a directory handle at each step and
without letting the kernel follow links: the guard reads a link itself and goes on inside the
allowed roots, or refuses. What it checked is what it opened; there is no gap in between. Nothing
outside the roots is looked at, so nobody learns what exists there.

Refused besides: ``~``, NUL, backslashes, percent-encoded dots and separators; secret files by
name (of the link and of its target); the file systems of ``/proc``, ``/sys`` and ``/dev``;
anything but a regular file; files with a second hard link, whose other name may lie outside, unless
``allow_hard_links`` (package stores like pnpm's need it).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Self

from tools_app.core.errors import ToolError

Names = tuple[str, ...]  # of a path, from the top

MAX_LINKS = 40  # as in Linux; more is a loop

_SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.env",
    ".secret",
    "*.secrets",
    "credentials.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".htpasswd",
    ".pgpass",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
)
_SECRET_PLACES = (".aws/credentials", ".kube/config", ".docker/config.json")
_SECRET_FOLDERS = frozenset({".ssh"})

_KERNEL_FOLDERS = ("proc", "sys", "dev")
_ENCODED = re.compile(r"%(?:25)*(?:2e|2f|5c|00|7e)", re.IGNORECASE)
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY)  # needs no right to read the folder
_FOLDER_FLAGS = _PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class PathDenied(ToolError):
    """The path leaves the allowed folders, or names what no tool may open."""

    code = "path_denied"


class PathNotFound(ToolError):
    """Nothing is there."""

    code = "path_not_found"


class NotARegularFile(ToolError):
    """A folder, a socket, a device or a pipe."""

    code = "not_a_file"


class FileTooLarge(ToolError):
    """The file is larger than the caller's limit."""

    code = "file_too_large"


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file that passed every check. ``path`` is absolute and free of links."""

    fd: int
    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file held when it was read. ``path`` is absolute and free of links."""

    path: str
    data: bytes
    size_bytes: int


def is_secret_file(path: str) -> bool:
    """Return whether a path names a file of secrets, by its last names, without regard to case."""
    names = [name.casefold() for name in path.replace("\\", "/").split("/") if name]
    if not names:
        return False
    if any(fnmatchcase(names[-1], pattern) for pattern in _SECRET_NAMES):
        return True
    if "/".join(names[-2:]) in _SECRET_PLACES:
        return True
    return not _SECRET_FOLDERS.isdisjoint(names[:-1])


class PathGuard:
    """Opens files below ``roots`` only; ``None`` means anywhere, by the other rules.

    A relative path starts at the first root, or at the working directory when there is none.
    Symbolic links are fine as long as they end below some root.
    """

    def __init__(
        self,
        roots: Sequence[str | os.PathLike[str]] | None = None,
        *,
        allow_hard_links: bool = False,
    ) -> None:
        self._allow_hard_links = allow_hard_links
        given = ["/"] if roots is None else [os.path.abspath(root) for root in roots]
        self._base = given[0] if roots else os.getcwd()
        # Written form → real form: a root may itself be reached by a link.
        self._roots = {
            _names(form): _names(os.path.realpath(root))
            for root in given
            for form in (root, os.path.realpath(root))
        }

    def read_file(self, path: str, *, max_bytes: int) -> FileContent:
        """Return the content of a file of at most ``max_bytes`` bytes.

        Raises PathDenied, PathNotFound, NotARegularFile or FileTooLarge.
        """
        with self.opened(path) as file:
            if file.size_bytes > max_bytes:
                raise FileTooLarge(
                    f"file too large: {file.size_bytes} bytes, the limit is {max_bytes} bytes"
                )
            with os.fdopen(file.fd, "rb", closefd=False) as stream:
                data = stream.read(max_bytes + 1)
        if len(data) > max_bytes:  # it grew meanwhile
            raise FileTooLarge(f"file too large: the limit is {max_bytes} bytes")
        return FileContent(file.path, data, file.size_bytes)

    @contextmanager
    def opened(
        self, path: str, flags: int = os.O_RDONLY, mode: int = 0o600
    ) -> Iterator[OpenedFile]:
        """Open a regular file with the flags of ``os.open`` and close it after the block.

        ``O_CREAT`` makes a file with ``mode`` in an existing folder; ``O_TRUNC`` takes effect only
        after every check. Raises PathDenied, PathNotFound or NotARegularFile.
        """
        _check_spelling(path)
        names = _names(os.path.join(self._base, path))
        try:
            with _Walk(self._roots) as walk:
                fd, resolved = walk.open(names, flags & ~os.O_TRUNC | _FILE_FLAGS, mode)
        except OSError as error:
            raise _refusal(error, path) from error
        try:
            status = os.fstat(fd)
            self._check_open_file(status, path)
            if flags & os.O_TRUNC:
                os.ftruncate(fd, 0)
            yield OpenedFile(fd, resolved, status.st_size)
        finally:
            os.close(fd)

    def _check_open_file(self, status: os.stat_result, path: str) -> None:
        if is_secret_file(path):
            raise _sensitive(path)
        if status.st_dev in _kernel_devices():
            raise PathDenied(f"access denied: '{path}' belongs to the kernel")
        if not stat.S_ISREG(status.st_mode):
            raise NotARegularFile(f"not a file: {path}")
        if status.st_nlink > 1 and not self._allow_hard_links:
            raise PathDenied(f"access denied: '{path}' has another name (hard link)")


class _Walk:
    """One way from the top to a file, by handles of the folders on it.

    Outside every root only names are counted, nothing is looked at. ``_folders`` holds the handle
    of the entered root and of each folder below it, ``_below`` their names.
    """

    def __init__(self, roots: Mapping[Names, Names]) -> None:
        self._roots = roots
        self._outside: Names | None = ()
        self._root: Names = ()
        self._below: list[str] = []
        self._folders: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_folders()

    def open(self, names: Names, flags: int, mode: int) -> tuple[int, str]:
        """Return a handle of the file and its real path; raises PathDenied or OSError."""
        self._restart()
        todo = list(reversed(names))
        links = 0
        while todo:
            name = todo.pop()
            if self._outside is not None:
                self._step_outside(name)
            elif name == "..":
                todo.extend(self._step_up())
            elif (target := self._link_target(name, is_last=not todo)) is not None:
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, "too many links")
                if target.startswith("/"):
                    self._restart()
                todo.extend(reversed(_names(target)))
            elif todo:
                self._step_down(name)
            else:
                return self._open_file(name, flags, mode)
        if self._outside is not None:
            raise PathDenied("access denied: the path is outside the allowed directories")
        raise NotARegularFile(f"not a file: {self._path_of()}")

    def _restart(self) -> None:
        self._close_folders()
        self._outside = ()
        self._enter_root()

    def _close_folders(self) -> None:
        while self._folders:
            os.close(self._folders.pop())
        self._below.clear()

    def _step_outside(self, name: str) -> None:
        position = self._outside or ()
        self._outside = position[:-1] if name == ".." else (*position, name)
        self._enter_root()

    def _enter_root(self) -> None:
        root = self._roots.get(self._outside or ())
        if root is None:
            return
        self._root, self._outside = root, None
        self._check_kernel()
        self._folders.append(os.open("/" + "/".join(root), _FOLDER_FLAGS))

    def _step_up(self) -> list[str]:
        """Go to the parent; return what to walk anew when that leaves the root."""
        if self._below:
            self._below.pop()
            os.close(self._folders.pop())
            return []
        parent = self._root[:-1]
        self._restart()
        return list(reversed(parent)) if self._outside is not None else []

    def _step_down(self, name: str) -> None:
        self._folders.append(os.open(name, _FOLDER_FLAGS, dir_fd=self._folders[-1]))
        self._below.append(name)
        self._check_kernel()

    def _link_target(self, name: str, *, is_last: bool) -> str | None:
        """Return where a link points, ``None`` for anything else, also for nothing."""
        if is_last and is_secret_file(self._path_of(name)):
            raise _sensitive(name)
        try:
            status = os.lstat(name, dir_fd=self._folders[-1])
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(status.st_mode):
            return os.readlink(name, dir_fd=self._folders[-1])
        if is_last and not stat.S_ISREG(status.st_mode):
            raise NotARegularFile(f"not a file: {self._path_of(name)}")
        return None

    def _open_file(self, name: str, flags: int, mode: int) -> tuple[int, str]:
        return os.open(name, flags, mode, dir_fd=self._folders[-1]), self._path_of(name)

    def _path_of(self, *more: str) -> str:
        return "/" + "/".join((*self._root, *self._below, *more))

    def _check_kernel(self) -> None:
        first = (*self._root, *self._below)[:1]
        if first and first[0] in _KERNEL_FOLDERS:
            raise PathDenied(f"access denied: /{first[0]} belongs to the kernel")


def _names(path: str) -> Names:
    return tuple(name for name in path.split("/") if name not in ("", "."))


def _check_spelling(path: object) -> None:
    """Refuse what no path of a tool has to contain; raises PathDenied."""
    if not isinstance(path, str) or not path:
        raise PathDenied("access denied: a path must be a text that is not empty")
    if "\0" in path or "\\" in path or path.startswith("~") or _ENCODED.search(path):
        raise PathDenied(
            "access denied: a path must not contain NUL, a backslash, a leading '~' or"
            " percent-encoded dots and separators"
        )
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise PathDenied("access denied: the path is not valid Unicode") from None


def _sensitive(name: str) -> PathDenied:
    return PathDenied(f"access denied: '{name}' is a sensitive file")


def _refusal(error: OSError, path: str) -> ToolError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return PathNotFound(f"file not found: {path}")
    if error.errno in (errno.ENXIO, errno.EISDIR):
        return NotARegularFile(f"not a file: {path}")
    return PathDenied(f"access denied: '{path}': {os.strerror(error.errno or errno.EACCES)}")


@cache
def _kernel_devices() -> frozenset[int]:
    """Return the device numbers of the kernel's file systems, wherever they are mounted."""
    own = os.stat("/").st_dev
    devices = {os.stat(f"/{name}").st_dev for name in _KERNEL_FOLDERS if os.path.isdir(f"/{name}")}
    return frozenset(devices - {own})
