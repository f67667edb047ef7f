"""The Thai catalogue says all that the English pages say, and nothing is said outside of it."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation.trans_real import DjangoTranslation

from openjarvis_web.wsgi import application
from tests.api.callers import caller
from tests.contract.catalogues import (
    CATALOGUE,
    ROOT,
    Message,
    extracted,
    placeholders,
    read_mo,
    read_po,
)
from tests.unit.policy.test_vectors import LATER_TABLES, VECTORS, answer, offered_of
from tools_app.console.sentences import (
    DECISIONS,
    FIXES,
    REASONS,
    STEPS,
    WARNINGS,
    difference,
    layer_reason,
    said,
)
from tools_app.policy import check_document
from tools_app.services.first_run import prepare

HOW = "run `make translations` and fill in what is empty"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
THAI = re.compile("[\u0e00-\u0e7f]")
# What is the same in every language: names, formats, units, keys of the keyboard.
SAME = frozenset(
    ["OpenJarvis", "Web", "CSV", "NDJSON", "USD", "Python", "curl", "v", "s", "ไทย", "English"]
)
# Blocks that fill in a part of a tag.
ATTRIBUTES = re.compile(r"{% block (?:body_attributes|plain_class) %}.*?{% endblock[\w ]* %}")
# The words that the policy makes its sentences of.
ENGLISH = {
    word
    for sentence in (*DECISIONS, *FIXES, *STEPS, *WARNINGS)
    for word in re.sub(r"%\(\w+\)s|[^a-z %()]", " ", sentence).split()
    if word.isalpha()
}
UNTRANSLATED = frozenset({"REST", "UTC", "null", "p95"})  # a translation equal to its source


@pytest.fixture(scope="module")
def thai() -> dict[str, Message]:
    return read_po(ROOT / CATALOGUE)


def test_every_sentence_has_a_translation(thai):
    assert len(thai) > 500
    empty = [key for key, message in thai.items() if not all(message.translations)]
    fuzzy = [key for key, message in thai.items() if message.is_fuzzy]
    assert (empty, fuzzy) == ([], []), HOW


def test_every_translation_is_thai(thai):
    foreign = {
        message.sources[0]
        for message in thai.values()
        if not all(THAI.search(text) for text in message.translations)
    }
    assert foreign == {
        source for source in foreign if source in UNTRANSLATED or not re.search(r"\w", source)
    }


def test_a_fresh_extraction_finds_nothing_new_and_nothing_gone(thai, tmp_path):
    assert shutil.which("xgettext"), "install gettext"
    fresh = extracted(tmp_path)
    assert sorted(set(fresh) - set(thai)) == [], f"missing: {HOW}"
    assert sorted(set(thai) - set(fresh)) == [], f"no longer said: {HOW}"


def test_the_compiled_catalogue_is_the_written_one(thai):
    compiled = read_mo((ROOT / CATALOGUE).with_suffix(".mo"))
    assert compiled == {key: message.translations for key, message in thai.items()}, HOW


def test_translations_fill_in_the_same_things(thai):
    wrong = [
        (message.sources[0], text)
        for message in thai.values()
        for text in message.translations
        if sorted(placeholders(text)) != sorted(placeholders(message.sources[-1]))
    ]
    assert wrong == []


def test_thai_has_one_plural_form(thai):
    assert [m.key for m in thai.values() if len(m.translations) != 1] == []
    translations = DjangoTranslation("th")
    assert {translations.plural(n) for n in (0, 1, 2, 5, 11, 101)} == {0}


def test_no_sentence_of_ours_changes_a_word_of_django(thai):
    ours, theirs = DjangoTranslation("th"), _of_django()
    months = ["January", "May", "December", "Monday", "noon"]
    assert [ours.gettext(word) for word in months] == [theirs[word] for word in months]


def _of_django() -> dict[str, str]:
    import django

    folder = Path(django.__file__).parent / "conf/locale/th/LC_MESSAGES"
    return {key: texts[0] for key, texts in read_mo(folder / "django.mo").items()}


def test_every_language_offered_has_a_catalogue():
    for code, _name in settings.LANGUAGES:
        assert code == settings.LANGUAGE_CODE or (ROOT / f"locale/{code}").is_dir()


# --- what templates say outside of translate tags --------------------------------------------


class _Words(HTMLParser):
    """Collects the text that a reader of the page sees or hears."""

    SPOKEN = frozenset(("alt", "aria-label", "placeholder", "title", "data-label"))
    SILENT = frozenset(("script", "style", "code", "pre", "svg", "kbd"))

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self.SILENT
        self.words += [text for name, text in attrs if name in self.SPOKEN and text]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


def spoken(template: str) -> list[str]:
    """Return the words of a template that no tag of it produced."""
    template = re.sub(ATTRIBUTES, "", template)
    template = re.sub(r"{%\s*comment.*?endcomment\s*%}|{#.*?#}", "", template, flags=re.DOTALL)
    template = re.sub(
        r"{%\s*blocktrans(?:late)?\b.*?{%\s*endblocktrans(?:late)?\s*%}",
        "",
        template,
        flags=re.DOTALL,
    )
    template = re.sub(r"{%.*?%}|{{.*?}}", " ", template, flags=re.DOTALL)
    reader = _Words()
    reader.feed(template)
    found = re.findall(r"[^\W\d_]+", " ".join(reader.words))
    return [word for word in found if word not in SAME]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("<p>Nothing waits</p>", ["Nothing", "waits"]),
        ('<p>{% translate "Nothing waits" %} v{{ n }}</p>', []),
        ('<a title="Open it">{{ name }}</a>', ["Open", "it"]),
        ("<p>{% blocktranslate %}One{% plural %}Two{% endblocktranslate %} left</p>", ["left"]),
        ("{% if a %}Yes{% endif %}<code>curl</code>", ["Yes"]),
        ("{% comment %} why {% endcomment %}<script>let x</script>", []),
    ],
)
def test_words_outside_of_translation_are_seen(template, words):
    assert spoken(template) == words


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_templates_say_nothing_untranslated(path):
    assert spoken(path.read_text(encoding="utf-8")) == []


# --- what the policy and the services say ----------------------------------------------------


def test_every_reason_of_the_policy_is_said_in_thai():
    left = {}
    with translation.override("th"):
        for vector in VECTORS:
            names = {*vector["availableTools"], *vector.get("plugins", {}), "group"}
            for text in _policy_sentences(vector):
                if words := (ENGLISH & set(said(text).split())) - names:
                    left[text] = words
    assert left == {}


def _policy_sentences(vector: dict) -> Iterator[str]:
    effective = answer(vector, LATER_TABLES)
    for name in [*vector["availableTools"][:3], "not-a-tool"]:
        explanation = effective.explain(name)
        yield explanation.decision.summary
        if explanation.fix:
            yield explanation.fix.sentence
        yield from (w.message for layer in explanation.layers for w in layer.warnings)
    checked = check_document(vector["config"], tools=offered_of(vector))
    yield from (warning.message for warning in checked.warnings)


def test_every_layer_says_why_in_thai():
    with translation.override("th"):
        assert [word for word in REASONS if not THAI.search(layer_reason(word))] == []


def _refusals() -> Iterator[str]:
    """Yield what the services refuse with, the values in it replaced by an x."""
    for path in sorted((ROOT / "tools_app/services").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = getattr(node, "exc", None) or getattr(node, "value", None)
            if isinstance(node, ast.Raise | ast.Return) and isinstance(call, ast.Call):
                text = _literal(call.args[0]) if call.args else ""
                if re.fullmatch(r"[A-Z].* .*\.", text):
                    yield text


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "x" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_refusal_of_a_service_is_said_in_thai():
    refusals = set(_refusals())
    assert len(refusals) > 30
    with translation.override("th"):
        assert sorted(text for text in refusals if not THAI.search(said(text))) == []


def test_english_and_foreign_sentences_stay_as_they_are():
    with translation.override("en"):
        assert said("deny — tools.deny: exec — v3") == "deny — tools.deny: exec — v3"
    with translation.override("th"):
        assert said("KeyError: not in the list") == "KeyError: not in the list"
        assert difference('to: "a" → "b"') == 'to: "a" → "b"'
        assert difference("policy version: 1 → 2") == "เวอร์ชันของนโยบาย: 1 → 2"
        assert said("deny — tools.deny: exec — v3") == "ปฏิเสธ — tools.deny: exec — v3"
        assert said("To ask about send: add send to a.deny, and remove x from b.") == (
            "เพื่อให้ถามก่อนใช้ send: เพิ่ม send ใน a.deny และลบ x ออกจาก b"
        )


def test_the_thai_readme_has_the_same_commands_and_links():
    english, thai = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.th.md"))
    for pattern in (r"```sh\n(.*?)```", r"\]\(((?:docs/|CHANGELOG)[^)]*)\)"):
        assert re.findall(pattern, thai, re.DOTALL) == re.findall(pattern, english, re.DOTALL)


def test_a_rest_call_does_not_speak_the_language_of_the_last_reader(transactional_db):
    prepare()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/api/v1/freezes",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": "2",
        "HTTP_AUTHORIZATION": f"Bearer {caller('otto', 'admin', scopes=['admin']).token}",
        "wsgi.input": BytesIO(b"{}"),
        "wsgi.url_scheme": "http",
    }
    with translation.override("th"):
        answer = application(environ, lambda status, headers: None)
        body = b"".join(answer).decode()
        answer.close()
    assert "This field is required." in body
    assert not THAI.search(body)
