"""The first steps of the README do what it says, typed into a shell as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.product import ROOT, Product

pytestmark = pytest.mark.slow


def first_steps() -> list[str]:
    """Return the shell blocks of the chapter, in order."""
    text = (ROOT / "README.md").read_text()
    chapter = text.split("## First steps")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", chapter, re.S)


def test_the_first_steps_work_as_they_are_written(live_product: Product):
    make_token, allowed, refused, effective = first_steps()

    assert make_token.startswith("export OPENJARVIS_TOKEN=")
    assert json.loads(typed(live_product, make_token, allowed))["result"]["content"] == "4"
    problem = json.loads(typed(live_product, make_token, refused))
    assert (problem["status"], problem["code"]) == (403, "denied_by_policy")
    assert problem["fix"]["sentence"]
    names = typed(live_product, make_token, effective)
    assert '"calculator"' in names


def typed(product: Product, *blocks: str) -> str:
    """Run blocks in one shell, against this product and with this Python; return the output."""
    script = "".join(blocks)
    script = script.replace("http://127.0.0.1:18789", product.url)
    script = script.replace(".venv/bin/python manage.py", f"{sys.executable} {ROOT}/manage.py")
    done = subprocess.run(
        ["sh", "-euc", script],
        env=product.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_page_the_readme_points_to_is_there():
    text = (ROOT / "README.md").read_text()
    targets = re.findall(r"\]\(([^)#:]+)\)", text)

    assert len(targets) > 5
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_every_make_target_the_readme_names_exists():
    text = (ROOT / "README.md").read_text() + (ROOT / "docs" / "running.md").read_text()
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)

    assert set(re.findall(r"\bmake ([a-z]+)`", text)) <= set(targets)
