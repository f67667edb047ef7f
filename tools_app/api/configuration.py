"""The whole configuration over REST: read it, plan a change, apply it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.policy import IF_MATCH, checked_json
from tools_app.api.preconditions import asked_digest
from tools_app.api.serializers.configuration import (
    AppliedShown,
    ApplyBody,
    ConfigurationShown,
    PlanBody,
    PlanShown,
)
from tools_app.services.applying import apply_wanted, configuration, drift, plan_for
from tools_app.services.plan_files import (
    Wanted,
    plain_configuration,
    read_file,
    read_value,
    write_yaml,
)
from tools_app.services.plans import state_digest


class Configuration(Endpoint):
    """Everything an admin decides, in one document."""

    scopes = {"GET": "admin"}

    @extend_schema(operation_id="get_configuration", responses=ConfigurationShown)
    def get(self, request: Request) -> Response:
        """Show agents, tools, limits and policy; send the ETag back to change them."""
        state, drifted = configuration(self.actor), drift()
        digest = state_digest(state)
        return Response(
            {
                "digest": digest,
                "configuration": plain_configuration(state),
                "yaml": write_yaml(state),
                "drift": asdict(drifted) if drifted else None,
            },
            headers={"ETag": f'"{digest}"'},
        )


class ConfigurationPlan(Endpoint):
    """What applying a configuration would change."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="plan_configuration", request=PlanBody, responses=PlanShown)
    def post(self, request: Request) -> Response:
        """Compare a configuration with the one in force; nothing is stored."""
        wanted = _wanted(self.body(PlanBody))
        plan = plan_for(actor=self.actor, wanted=wanted)
        return Response(
            {
                "base": plan.base,
                "is_valid": not plan.errors,
                "errors": plan.errors,
                "changes": [change.to_json() for change in plan.changes],
                "policy": checked_json(plan.check) if plan.check else None,
                "report": wanted.imported.report_json() if wanted.imported else None,
            }
        )


class ConfigurationApply(Endpoint):
    """Making a configuration true."""

    scopes = {"POST": "admin"}

    @extend_schema(
        operation_id="apply_configuration",
        request=ApplyBody,
        parameters=[IF_MATCH],
        responses=AppliedShown,
    )
    def post(self, request: Request) -> Response:
        """Make every change of the plan, or none; If-Match names the plan's base.

        A section that is not given stays as it is; one that is given is the whole of it.
        """
        body = self.body(ApplyBody)
        comment = body.pop("comment")
        base = asked_digest(request)
        changes = apply_wanted(actor=self.actor, wanted=_wanted(body), base=base, comment=comment)
        digest = state_digest(configuration(self.actor))
        shown = {"digest": digest, "changes": [change.to_json() for change in changes]}
        return Response(shown, headers={"ETag": f'"{digest}"'})


def _wanted(body: Mapping[str, Any]) -> Wanted:
    if "configuration" in body:
        return read_value(body["configuration"])
    if "openclaw" in body:
        return read_file("openclaw", body["openclaw"])
    return read_file("yaml", body["yaml"])
