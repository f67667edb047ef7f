"""Long output in pieces: the first lines with the page, more on demand, all of it as a file."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_LINES = 20
MORE_LINES = 1000
MAX_CHUNK_CHARACTERS = 24_000  # one line may be the whole output


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """Part of an output; ``start`` and ``next_start`` count characters from its beginning."""

    text: str
    start: int
    first_line: int
    next_start: int | None
    total_lines: int
    total_characters: int

    @property
    def next_line(self) -> int:
        """The number of the line that the next chunk begins with."""
        return self.first_line + self.text.count("\n")


def output_chunk(content: str, *, start: int = 0, lines: int = FIRST_LINES) -> OutputChunk:
    """Return up to ``lines`` lines of ``content`` from the character ``start`` on."""
    start = min(max(start, 0), len(content))
    end = start
    limit = min(start + MAX_CHUNK_CHARACTERS, len(content))
    for _line in range(lines):
        newline = content.find("\n", end, limit)
        if newline < 0:
            end = limit
            break
        end = newline + 1
    return OutputChunk(
        text=content[start:end],
        start=start,
        first_line=content.count("\n", 0, start) + 1,
        next_start=end if end < len(content) else None,
        total_lines=content.count("\n") + (not content.endswith("\n") and bool(content)),
        total_characters=len(content),
    )
