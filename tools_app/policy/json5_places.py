"""At which line the members of a JSON5 text stand.

The parser gives values without their places, so a second look finds them: the text is known to
be valid by then, and tokens are told apart only as far as places need it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import pyjson5

from tools_app.policy.edits import Path
from tools_app.policy.places import LineIndex, Places

_TOKEN = re.compile(
    r"""(?P<blank>[\s\ufeff]+|//[^\r\n\u2028\u2029]*|/\*.*?\*/)
    |(?P<mark>[{}\[\]:,])
    |(?P<word>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[^\s\ufeff{}\[\]:,"'/]+)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(slots=True)
class _Container:
    """An object or list that is open; ``key`` is the member that comes next or just came."""

    path: Path
    key: str | int | None
    seen: set[str] = field(default_factory=set)

    @property
    def is_list(self) -> bool:
        return isinstance(self.key, int)

    @property
    def here(self) -> Path:
        return self.path if self.key is None else (*self.path, self.key)


def after_blanks(text: str, offset: int) -> int:
    """Return where the next token begins, skipping blanks and comments."""
    while (token := _TOKEN.match(text, offset)) is not None and token.lastgroup == "blank":
        offset = token.end()
    return offset


def find_places(text: str, wanted: Collection[Path]) -> Places:
    """Find the lines of the wanted addresses, and of all duplicate members."""
    index, places = LineIndex(text), Places()
    open_ones: list[_Container] = [_Container(path=(), key=None)]
    expects_key = False
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "blank":
            continue
        top, word = open_ones[-1], token.group()
        if word == ":":
            expects_key = False
        elif word == ",":
            if isinstance(top.key, int):
                top.key += 1
            else:
                expects_key = True
        elif word in ("}", "]"):
            open_ones.pop()
            expects_key = False
        elif expects_key:
            top.key = _key(word)
            line = index.line(token.start())
            if top.key in top.seen:
                places.duplicates.append((top.here, line))
            top.seen.add(top.key)
            _note(places, wanted, top.here, line)
        else:
            here = top.here
            if here in wanted:
                _note(places, wanted, here, index.line(token.start()))
            if word in ("{", "["):
                open_ones.append(_Container(path=here, key=0 if word == "[" else None))
                expects_key = word == "{"
    return places


def _note(places: Places, wanted: Collection[Path], path: Path, line: int) -> None:
    if path in wanted:
        places.lines.setdefault(path, line)


def _key(word: str) -> str:
    if "\\" in word:
        return str(next(iter(pyjson5.decode(f"{{{word}:0}}"))))
    return word[1:-1] if word[0] in "\"'" else word
