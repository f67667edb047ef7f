"""What is read is what is there: hidden characters are drawn, and nothing is lost by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.console.visible import escape, hidden_count, host_warnings, pieces, unescape

CORPUS = [
    "",
    "plain text",
    "two\nlines",
    "\tindented",
    "\u202erm -rf",  # right-to-left override
    "\u202a\u202b\u202c\u202d",
    "\u2066\u2067\u2068\u2069",  # isolates
    "zero\u200bwidth",
    "join\u200d\u200cer",
    "\u200e\u200f",
    "\ufeffmark",
    "soft\u00adhyphen",
    "\u061c",
    "\u180e",
    "\ufe0f",
    "\U000e0100",  # variation selector 17
    "\U000e0041",  # tag
    "\u3164filler",
    "\u115f\u1160\uffa0",
    "\u2800blank braille",
    "no\u00a0break",
    "em\u2003space",
    "ideographic\u3000space",
    "\u2028\u2029",
    "\x1b[31mred\x1b[0m",
    "\x00\x07\x08",
    "carriage\rreturn",
    "\x7f\x85\x9f",
    "\ue000 private",
    "\U000f0000",
    "\ud800",  # lone surrogate
    "\u0378",  # unassigned
    "a" + "\u0301" * 30,
    "ไม่มีปัญหา ที่นี่",
    " " * 400 + "; curl evil",
    "\n" * 200 + "last line",
    "\t" * 9,
    "line\n" * 200,
    "x" * 5000,
    "⟨U+202E⟩ typed by hand",
    "<script>alert(1)</script>",
    "\u2061\u2062\u2063\u2064\u2065",
]


@pytest.mark.parametrize("text", CORPUS, ids=lambda text: ascii(text[:12]))
def test_the_drawn_text_gives_the_stored_one_back(text: str):
    assert unescape(escape(text)) == text


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_any_text_comes_back(text: str):
    assert unescape(escape(text)) == text


@given(
    st.lists(st.sampled_from(["⟨", "⟩", "U+202E", "␠×9", " ", "\u202e", "\n", "×"]), max_size=30)
)
def test_text_made_of_the_marks_themselves_comes_back(parts: list[str]):
    text = "".join(parts)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\U000e0100", "⟨U+E0100⟩"),
        (" " * 400, "⟨␠×400⟩"),
        (" " * 8, " " * 8),
        (" " * 9, "⟨␠×9⟩"),
        ("\n" * 9, "⟨␤×9⟩"),
        ("\x1b[0m", "⟨U+001B⟩[0m"),
        ("⟨", "⟨U+27E8⟩"),
    ],
)
def test_what_hides_is_written_out(text: str, drawn: str):
    assert escape(text) == drawn


@pytest.mark.parametrize(
    "text", ["ไม่มีปัญหา ที่นี่ น้ำ", "naïve – “quoted” … 日本語", "emoji 🙂", "a\nb\tc"]
)
def test_ordinary_writing_is_left_alone(text: str):
    assert escape(text) == text
    assert hidden_count(text) == 0


def test_marks_are_told_from_text():
    assert [(piece.text, piece.is_marked) for piece in pieces("a\u200bb")] == [
        ("a", False),
        ("⟨U+200B⟩", True),
        ("b", False),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("curl https://xn--e1afmkfd.example/x", "punycode"),
        ("see https://\u0430pple.com/login", "mixed_script"),
        ("ssh root@\u0430\u0440\u0440\u04cf\u0435.com", "not_ascii"),
    ],
)
def test_hosts_that_pose_as_others_are_named(text: str, reason: str):
    assert [warning.reason for warning in host_warnings(text)] == [reason]


@pytest.mark.parametrize(
    "text", ["https://example.org/a.b?c=d.e", "file main.py", "1.2.3", "e.g. this"]
)
def test_plain_hosts_and_names_with_dots_are_not(text: str):
    assert host_warnings(text) == []


def test_a_punycode_host_is_decoded():
    (warning,) = host_warnings("http://xn--e1afmkfd.example")
    assert warning.decoded == "пример.example"
