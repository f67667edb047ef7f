"""Commands to copy do exactly what the form would."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from tools_app.console.snippets import curl_command, python_program
from tools_app.console.trying import TryInput

URL = "http://127.0.0.1:1/api/v1/tools/echo/execute"
ALPHABET = [
    "a",
    "'",
    '"',
    "$HOME",
    "`id`",
    "\\",
    "\n",
    "\r",
    "\t",
    "!",
    "ไทย",
    "🙂",
    "\u2028",
    "@x",
    "%",
]
NOTED = """#!/bin/sh
for argument in "$@"; do printf '%s\\0' "$argument"; done
"""


def bodies(count: int) -> list[str]:
    rng = random.Random(7)  # noqa: S311  (no secret)
    made = []
    for _ in range(count):
        words = {"".join(rng.choices(ALPHABET, k=4)): "".join(rng.choices(ALPHABET, k=12))}
        values = {**words, "n": None, "zero": 0, "empty": "", "big": 12345678901234567890}
        text = json.dumps(values, ensure_ascii=rng.random() < 0.5)
        made.append(TryInput(arguments=text, agent=rng.choice(["", "o'neill"])).request_body())
    return made


def test_a_shell_gives_curl_the_very_body(tmp_path: Path):
    (tmp_path / "curl").write_text(NOTED)
    (tmp_path / "curl").chmod(0o755)
    made = bodies(300)
    script = "\n".join(f"{curl_command(URL, body)}\nprintf '\\001'" for body in made)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "OPENJARVIS_TOKEN": "ojw_x"}

    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, check=True)

    calls = [call.split(b"\0")[:-1] for call in done.stdout.split(b"\1")[:-1]]
    assert [call[-1].decode() for call in calls] == made
    assert all(call[1].decode() == URL for call in calls)
    assert all(b"Authorization: Bearer ojw_x" in call for call in calls)


def test_the_program_posts_the_very_body():
    for body in bodies(20):
        posted = python_program(URL, body).replace(
            "print(urllib.request.urlopen(request).read().decode())",
            "import sys; sys.stdout.buffer.write(request.data)",
        )
        done = subprocess.run(
            [sys.executable, "-c", posted],
            env={"OPENJARVIS_TOKEN": "ojw_x"},
            capture_output=True,
            check=True,
        )
        assert done.stdout.decode() == body


def test_no_token_is_ever_written_down():
    assert "ojw_" not in curl_command(URL, "{}") + python_program(URL, "{}")


def test_the_typed_arguments_go_into_the_body_untouched():
    typed = '{"a": 1.0, "b": 12345678901234567890}'
    body = TryInput(arguments=typed, agent="main").request_body()
    assert typed in body
    assert json.loads(body)["agent"] == "main"
