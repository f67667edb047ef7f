"""Colours can be read: every text on every surface it is used on, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "tools_app" / "static" / "console"
TOKENS = (FOLDER / "tokens.css").read_text()
SURFACES = ("canvas", "surface", "surface-sunk", "surface-hover")
PAIRS = [
    *((text, surface) for text in ("text", "text-muted") for surface in SURFACES),
    *((hue, surface) for hue in ("accent", "good", "attention", "bad") for surface in SURFACES[:2]),
    *((hue, f"{hue}-tint") for hue in ("accent", "good", "attention", "bad", "neutral")),
    *(("text", f"{hue}-tint") for hue in ("good", "attention", "bad", "neutral")),
    ("on-accent", "accent"),
    ("on-accent", "accent-hover"),
    ("canvas", "text"),
    ("surface", "attention"),
]


def block(selector: str) -> dict[str, str]:
    found = re.search(re.escape(selector) + r" \{(.*?)\n\s*\}", TOKENS, re.DOTALL)
    assert found, selector
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", found[1]))


LIGHT = block(":root")
CHOSEN_DARK = block(':root[data-scheme="dark"]')
SYSTEM_DARK = block(':root:not([data-scheme="light"])')


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("text", "surface"), PAIRS)
@pytest.mark.parametrize("scheme", [LIGHT, CHOSEN_DARK], ids=["light", "dark"])
def test_text_reaches_the_contrast_of_wcag_aa(scheme: dict[str, str], text: str, surface: str):
    assert contrast(scheme[text], scheme[surface]) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, CHOSEN_DARK], ids=["light", "dark"])
@pytest.mark.parametrize("part", ["line-strong", "focus"])
def test_outlines_of_controls_and_focus_reach_three_to_one(scheme: dict[str, str], part: str):
    assert all(contrast(scheme[part], scheme[surface]) >= 3 for surface in SURFACES[:2])


def test_the_chosen_dark_is_the_dark_of_the_system():
    assert CHOSEN_DARK == SYSTEM_DARK


def test_dark_changes_every_colour():
    assert CHOSEN_DARK.keys() == LIGHT.keys()


def test_raw_colours_stand_in_the_tokens_alone():
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?!.*\{)", (FOLDER / "console.css").read_text()) == []
