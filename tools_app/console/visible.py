"""Text from agents, tools and pages, drawn so that what is read is what is there.

Characters that draw nothing, turn the writing direction or pose as others are written out as
``⟨U+202E⟩``; long runs of blanks become ``⟨␠×400⟩``. The escape is reversible (``unescape``
gives the stored text back), because an opening ``⟨`` of the text itself is written out as well.
Sources: Unicode TR36 and TR39 (spoofing), the Default_Ignorable_Code_Point property.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BLANKS = 8  # more than an indentation: pushes what follows out of sight
MAX_COMBINING = 4  # Thai stacks at most three marks on one letter; more hides the line above

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_IGNORABLE_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),  # braille blank: not ignorable, but just as empty
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
_BLANK_NAMES = {" ": "␠", "\t": "⇥", "\n": "␤"}
_BLANKS_BY_NAME = {name: blank for blank, name in _BLANK_NAMES.items()}
_STRETCH = re.compile(rf" {{{MAX_BLANKS + 1},}}|\t{{3,}}|\n{{{MAX_BLANKS + 1},}}|.", re.DOTALL)
_ESCAPED = re.compile(r"⟨(?:U\+([0-9A-F]{4,6})|([␠⇥␤])×(\d+))⟩")
_HOST = re.compile(r"(?:(?<=//)|(?<=@)|\b)((?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_][\w-]+)\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text: as it is, or written out because it would not be seen."""

    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class HostWarning:
    """A host name that may not be the one it looks like."""

    host: str
    reason: str  # "punycode" | "mixed_script" | "not_ascii"
    decoded: str = ""


def pieces(text: str) -> Iterator[Piece]:
    """Yield the text in order, hidden characters written out."""
    plain: list[str] = []
    combining = 0
    for match in _STRETCH.finditer(text):
        stretch = match.group()
        combining = combining + 1 if unicodedata.combining(stretch[0]) else 0
        marked = _written_out(stretch, combining)
        if not marked:
            plain.append(stretch)
            continue
        if plain:
            yield Piece("".join(plain), False)
            plain = []
        yield Piece(marked, True)
    if plain:
        yield Piece("".join(plain), False)


def _written_out(stretch: str, combining: int) -> str:
    if len(stretch) > 1:
        return f"⟨{_BLANK_NAMES[stretch[0]]}×{len(stretch)}⟩"
    if stretch in _BLANK_NAMES or (stretch.isascii() and stretch.isprintable()):
        return ""
    if is_hidden(stretch) or combining > MAX_COMBINING:
        return f"⟨U+{ord(stretch):04X}⟩"
    return ""


def is_hidden(character: str) -> bool:
    """Say whether a single character draws nothing, or draws other text differently."""
    code = ord(character)
    category = unicodedata.category(character)
    return (
        category in _INVISIBLE_CATEGORIES
        or (category == "Zs" and character != " ")
        or character == "⟨"
        or any(first <= code <= last for first, last in _IGNORABLE_RANGES)
    )


def escape(text: str) -> str:
    """Return the text with everything hidden written out."""
    return "".join(piece.text for piece in pieces(text))


def unescape(text: str) -> str:
    """Return the text that :func:`escape` was given."""

    def original(match: re.Match[str]) -> str:
        code, blank, count = match.groups()
        return chr(int(code, 16)) if code else _BLANKS_BY_NAME[blank] * int(count)

    return _ESCAPED.sub(original, text)


def hidden_count(text: str) -> int:
    """Return how many places of the text had to be written out."""
    return sum(piece.is_marked for piece in pieces(text))


def host_warnings(text: str) -> list[HostWarning]:
    """Return the host names in the text that could be mistaken for others, each once."""
    found: dict[str, HostWarning] = {}
    for match in _HOST.finditer(text):
        host = match.group(1)
        if host not in found and (warning := _host_warning(host)):
            found[host] = warning
    return list(found.values())


def _host_warning(host: str) -> HostWarning | None:
    labels = host.split(".")
    if any(label.lower().startswith("xn--") for label in labels):
        return HostWarning(host, "punycode", _decoded(host))
    if host.isascii():
        return None
    if any(len(_scripts(label)) > 1 for label in labels):
        return HostWarning(host, "mixed_script")
    return HostWarning(host, "not_ascii")


def _decoded(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return ""


def _scripts(label: str) -> set[str]:
    """Name the scripts of the letters; the first word of a character's name is its script."""
    return {unicodedata.name(c, "UNKNOWN").split()[0] for c in label if c.isalpha()}
