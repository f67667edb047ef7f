"""``manage.py policy``: plan, apply, export, explain."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tools_app.policy.openclaw import Imported, export_openclaw
from tools_app.services.access import SYSTEM
from tools_app.services.applying import Plan, apply_wanted, configuration, plan_for
from tools_app.services.errors import ServiceError
from tools_app.services.plan_files import Kind, Wanted, read_file, write_yaml
from tools_app.services.policies import current_version, decide_for_agent


class Command(BaseCommand):
    """A plan is printed before anything is applied; ``-`` reads standard input."""

    help = "Plan, apply and export the configuration; explain a decision."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for action, words in (
            ("plan", "say what a file would change"),
            ("apply", "make a file true, all of it or nothing"),
        ):
            sub = actions.add_parser(action, help=words)
            source = sub.add_mutually_exclusive_group(required=True)
            source.add_argument("file", nargs="?", help="a YAML file as export writes it")
            source.add_argument("--openclaw", metavar="FILE", help="an openclaw.json instead")
            if action == "apply":
                sub.add_argument("--base", help="the base that plan printed; default: as it is now")
                sub.add_argument("--comment", default="", help="comment of the policy version")
        export = actions.add_parser("export", help="print the configuration")
        export.add_argument(
            "--openclaw", action="store_true", help="the policy alone, as openclaw.json"
        )
        explain = actions.add_parser("explain", help="say why an agent may use a tool or not")
        explain.add_argument("agent")
        explain.add_argument("tool")
        explain.add_argument("--provider", default="")
        explain.add_argument("--model", default="")
        explain.add_argument("--json", action="store_true", help="the whole explanation")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['action']}")(options)
        except ServiceError as error:
            raise CommandError(_text(error)) from None

    def _plan(self, options: dict[str, Any]) -> None:
        self._print_plan(_wanted(options))

    def _apply(self, options: dict[str, Any]) -> None:
        wanted = _wanted(options)
        plan = self._print_plan(wanted)
        base, comment = options["base"] or plan.base, options["comment"]
        changes = apply_wanted(actor=SYSTEM, wanted=wanted, base=base, comment=comment)
        self.stdout.write(f"Applied: {len(changes)} changes.")

    def _export(self, options: dict[str, Any]) -> None:
        if options["openclaw"]:
            text = export_openclaw(current_version().document)
        else:
            text = write_yaml(configuration(SYSTEM))
        self.stdout.write(text, ending="")

    def _explain(self, options: dict[str, Any]) -> None:
        names = ("agent", "tool", "provider", "model")
        decision = decide_for_agent(**{name: options[name] for name in names})
        if options["json"]:
            self.stdout.write(json.dumps(decision.explanation, ensure_ascii=False, indent=2))
            return
        self.stdout.write(decision.summary)
        for layer in decision.explanation["layers"]:
            mark = "→" if layer["decides"] else " "
            self.stdout.write(f"{mark} {layer['label']}: {layer['outcome']} ({layer['reason']})")
        if fix := decision.explanation["fix"]:
            self.stdout.write(f"To change it: {fix['sentence']}")

    def _print_plan(self, wanted: Wanted) -> Plan:
        if wanted.imported:
            self._print_report(wanted.imported)
        plan = plan_for(actor=SYSTEM, wanted=wanted)
        for change in plan.changes:
            self.stdout.write(f"- {change.sentence()}")
        for gained in plan.check.changes if plan.check else ():
            who = gained.agent or "calls without an agent"
            words = [f"+{name}" for name in gained.added] + [f"-{name}" for name in gained.removed]
            self.stdout.write(f"  {who}: {' '.join(words)}")
        if plan.errors:
            lines = [f"{error['path']}: {error['message']}" for error in plan.errors]
            raise CommandError("\n".join(["The file cannot be applied.", *lines]))
        if not plan.changes:
            self.stdout.write("Nothing changes.")
        self.stdout.write(f"base: {plan.base}")
        return plan

    def _print_report(self, imported: Imported) -> None:
        for title in ("understood", "ignored", "warnings"):
            for item in getattr(imported, title):
                self.stdout.write(f"{title}: line {item.line}: {item.path}: {item.message}")


def _wanted(options: dict[str, Any]) -> Wanted:
    kind: Kind = "openclaw" if options["openclaw"] else "yaml"
    name = options["openclaw"] or options["file"]
    try:
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    return read_file(kind, content)


def _text(error: ServiceError) -> str:
    errors = error.extra.get("errors")
    lines = [f"{e['path']}: {e['message']}" for e in errors] if isinstance(errors, list) else []
    return "\n".join([error.message, *lines])
