"""Long output comes in pieces that add up to all of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.console.output import FIRST_LINES, MAX_CHUNK_CHARACTERS, output_chunk


@given(st.text(alphabet="ab\n", max_size=300), st.integers(1, 7))
def test_the_pieces_add_up(content: str, lines: int):
    pieces, start = [], 0
    while start is not None:
        chunk = output_chunk(content, start=start, lines=lines)
        assert chunk.text.count("\n") <= lines
        assert chunk.first_line == content[: chunk.start].count("\n") + 1
        pieces.append(chunk.text)
        start = chunk.next_start
    assert "".join(pieces) == content


def test_the_first_piece_has_twenty_lines():
    chunk = output_chunk("".join(f"line {n}\n" for n in range(1, 101)))
    assert chunk.text.count("\n") == FIRST_LINES
    assert (chunk.next_line, chunk.total_lines) == (21, 100)


def test_one_endless_line_is_cut():
    chunk = output_chunk("x" * 20_000_000)
    assert len(chunk.text) == MAX_CHUNK_CHARACTERS
    assert chunk.next_start == MAX_CHUNK_CHARACTERS


@pytest.mark.parametrize("start", [-5, 10**9])
def test_a_start_outside_is_moved_to_the_nearest_end(start: int):
    assert output_chunk("abc", start=start).text in ("abc", "")
