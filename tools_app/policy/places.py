"""Where something stands in a file that a person wrote, and the refusal that says so."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from tools_app.policy.edits import Path, format_path

MAX_FILE_BYTES = 5 * 1024 * 1024
MAX_FILE_ENTRIES = 10_000  # of all rule lists of a file together
MAX_FILE_DEPTH = 64  # objects and lists within each other

_LINE_END = re.compile(r"\r\n|[\r\n\u2028\u2029]")


class FileError(ValueError):
    """A file was refused as a whole; ``path`` is an address in it, empty when it has none.

    ``line`` and ``column`` count from 1 and are 0 when no place can be named.
    """

    code = "invalid_file"

    def __init__(self, problem: str, *, line: int = 0, column: int = 0, path: Path = ()) -> None:
        column_text = f", column {column}" if column else ""
        self.message = f"line {line}{column_text}: {problem}" if line else problem
        super().__init__(self.message)
        self.problem, self.line, self.column = problem, line, column
        self.path = format_path(path)


class LineIndex:
    """Lines of a text by offset; all line ends that JSON5 knows count."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def line(self, offset: int) -> int:
        """Return the number of the line that holds a character, from 1."""
        return bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        """Return the place of a character in its line, from 1."""
        return offset - self._starts[self.line(offset) - 1] + 1


@dataclass(slots=True)
class Places:
    """Lines by address, and the members that stand in one object twice."""

    lines: dict[Path, int] = field(default_factory=dict)
    duplicates: list[tuple[Path, int]] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line of an address, or of the nearest one around it that is there."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)


def text_of(content: bytes | str) -> str:
    """Return the text of a file; raises FileError for one too large or not UTF-8."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    if len(data) > MAX_FILE_BYTES:
        raise FileError(f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"not UTF-8 at byte {error.start}", line=line) from None
