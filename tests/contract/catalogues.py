"""Translation catalogues as the tests read them: the written one, the compiled one, a fresh one."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from gettext import GNUTranslations
from pathlib import Path

ROOT = Path(__file__).parents[2]
CATALOGUE = Path("locale/th/LC_MESSAGES/django.po")
SOURCES = ("openjarvis_web", "tools_app", "scheduler_app", "nodes_app", "templates")
_FIELD = re.compile(
    r'^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?) ((?:".*"\n?)+)', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Message:
    """One entry: what is to be translated, and its translations (one per plural form)."""

    key: str  # with its context before it, as compiled catalogues have it
    sources: tuple[str, ...]  # the sentence and, if it counts, its plural
    translations: tuple[str, ...]
    is_fuzzy: bool


def read_po(path: Path) -> dict[str, Message]:
    """Read a written catalogue, obsolete entries left out; raises ``ValueError`` for a double."""
    found: dict[str, Message] = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        message = _message("".join(f"{row}\n" for row in block.splitlines() if row[:2] != "#~"))
        if message is None:
            continue
        if message.key in found:
            raise ValueError(f"twice in {path}: {message.key!r}")
        found[message.key] = message
    return found


def _message(block: str) -> Message | None:
    fields = {name: _text(quoted) for name, quoted in _FIELD.findall(block)}
    source = fields.get("msgid")
    if not source:  # nothing, or the head
        return None
    context = f"{fields['msgctxt']}\x04" if "msgctxt" in fields else ""
    plural = (fields["msgid_plural"],) if "msgid_plural" in fields else ()
    return Message(
        key=context + source,
        sources=(source, *plural),
        translations=tuple(text for name, text in fields.items() if name.startswith("msgstr")),
        is_fuzzy=bool(re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE)),
    )


def _text(quoted: str) -> str:
    return "".join(ast.literal_eval(row) for row in quoted.splitlines())


def read_mo(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a compiled catalogue, its head left out: key → translations in order of their form."""
    with path.open("rb") as file:
        raw: dict[object, str] = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    forms: dict[str, dict[int, str]] = {}
    for key, text in raw.items():
        name, form = key if isinstance(key, tuple) else (str(key), 0)
        if name:
            forms.setdefault(name, {})[form] = text
    return {key: tuple(texts[form] for form in sorted(texts)) for key, texts in forms.items()}


def extracted(folder: Path) -> dict[str, Message]:
    """Extract the sentences of the present sources anew, into a copy of them below ``folder``."""
    for name in SOURCES:
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=lambda place, names: [
                n for n in names if Path(place, n).is_file() and not n.endswith((".py", ".html"))
            ],
        )
    target = folder / CATALOGUE
    target.parent.mkdir(parents=True)
    shutil.copy(ROOT / CATALOGUE, target)
    command = [sys.executable, "-m", "django", "makemessages", "-l", "th", "--no-obsolete"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return read_po(target)


def placeholders(text: str) -> Iterator[str]:
    """Yield what is filled in later: ``%(n)s``, ``%d``, ``{n}``, and the tags of markup."""
    for found in re.finditer(r"%\(\w+\)[a-z]|%[ds]|\{\w+\}|</?\w+>", text):
        yield found.group()
