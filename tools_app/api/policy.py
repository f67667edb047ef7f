"""The published policy over REST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from tools_app.api.endpoint import Endpoint
from tools_app.api.preconditions import asked_version, is_known, version_tag
from tools_app.api.serializers.base import PageQuery
from tools_app.api.serializers.policy import (
    AgainBody,
    CheckBody,
    PolicyBody,
    PolicyChecked,
    PolicyPublished,
    PolicyShown,
    VersionPage,
)
from tools_app.models import PolicyVersion
from tools_app.selectors.policy import policy_history, policy_version
from tools_app.services.policies import PolicyCheck as Checked
from tools_app.services.policies import check, current_version, publish
from tools_app.services.policy_history import publish_again, warnings_of

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag this change is based on."
)
IF_NONE_MATCH = OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)


def policy_json(version: PolicyVersion) -> dict[str, Any]:
    """Return a published version with its document."""
    return {**version_json(version), "document": version.document}


def version_json(version: PolicyVersion) -> dict[str, Any]:
    """Return a published version as lists show it."""
    return {
        "number": version.number,
        "digest": version.digest,
        "table_set": version.table_set,
        "comment": version.comment,
        "author": version.author_label,
        "published_at": version.published_at,
    }


def checked_json(found: Checked) -> dict[str, Any]:
    """Return what publishing a document would mean."""
    return {
        "is_valid": not found.errors,
        "errors": found.errors,
        "warnings": [asdict(warning) for warning in found.warnings],
        "changes": [asdict(change) for change in found.changes],
    }


class Policy(Endpoint):
    """The one policy document in force."""

    scopes = {"GET": "policy:read", "PUT": "policy:write"}

    @extend_schema(
        operation_id="get_policy",
        parameters=[IF_NONE_MATCH],
        responses={200: PolicyShown, 304: None},
    )
    def get(self, request: Request) -> Response:
        """Show the policy in force; send its ETag back to change it."""
        version = current_version()
        tag = version_tag(version.number)
        if is_known(request, tag):
            return Response(status=304, headers={"ETag": tag})
        return Response(policy_json(version), headers={"ETag": tag})

    @extend_schema(
        operation_id="publish_policy",
        request=PolicyBody,
        parameters=[IF_MATCH],
        responses=PolicyPublished,
    )
    def put(self, request: Request) -> Response:
        """Publish the next version; If-Match names the one it is based on."""
        body = self.body(PolicyBody)
        base = asked_version(request)
        return _published(publish(actor=self.actor, base_number=base, **body))


def _published(version: PolicyVersion) -> Response:
    """Answer with the version now in force and what the check warns of."""
    shown = {**policy_json(version), "warnings": [asdict(w) for w in warnings_of(version)]}
    return Response(shown, headers={"ETag": version_tag(version.number)})


class PolicyCheck(Endpoint):
    """What a document would mean."""

    scopes = {"POST": "policy:read"}

    @extend_schema(operation_id="check_policy", request=CheckBody, responses=PolicyChecked)
    def post(self, request: Request) -> Response:
        """Check a document and compare every agent's tools with those of today."""
        found = check(actor=self.actor, document=self.body(CheckBody)["document"])
        return Response(checked_json(found))


class PolicyVersions(Endpoint):
    """Every version that was ever published."""

    scopes = {"GET": "policy:read"}

    @extend_schema(
        operation_id="list_policy_versions", parameters=[PageQuery], responses=VersionPage
    )
    def get(self, request: Request) -> Response:
        """List versions, newest first."""
        return self.page(policy_history(self.actor, **self.query(PageQuery)), version_json)


class PolicyVersionItem(Endpoint):
    """One published version."""

    scopes = {"GET": "policy:read"}

    @extend_schema(operation_id="get_policy_version", responses=PolicyShown)
    def get(self, request: Request, number: int) -> Response:
        """Show a version with its document."""
        return Response(policy_json(policy_version(self.actor, number)))


class PolicyPublishAgain(Endpoint):
    """Going back to a version."""

    scopes = {"POST": "policy:write"}

    @extend_schema(
        operation_id="publish_policy_again",
        request=AgainBody,
        parameters=[IF_MATCH],
        responses=PolicyPublished,
    )
    def post(self, request: Request, number: int) -> Response:
        """Publish an old version under a new number; If-Match names the one in force."""
        body = self.body(AgainBody)
        base = asked_version(request)
        version = publish_again(actor=self.actor, number=number, base_number=base, **body)
        return _published(version)
