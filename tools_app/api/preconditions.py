"""Versions in headers: ETag, If-Match and If-None-Match (RFC 9110 §13)."""

from __future__ import annotations

from rest_framework.request import Request

from tools_app.services.errors import PreconditionFailed


def version_tag(version: int) -> str:
    """Return the strong ETag of a version number."""
    return f'"{version}"'


def asked_version(request: Request) -> int | None:
    """Return the number in If-Match, ``None`` when there is none.

    Raises PreconditionFailed for a tag that cannot be one of ours, ``*`` and weak ones included:
    a change must name the version it was made from.
    """
    text = request.headers.get("If-Match")
    if text is None:
        return None
    bare = text.strip().removeprefix('"').removesuffix('"')
    if not (bare.isascii() and bare.isdigit() and len(bare) <= 18):
        raise PreconditionFailed("If-Match names no version of this; send the ETag you were given.")
    return int(bare)


def asked_digest(request: Request) -> str | None:
    """Return the text of the tag in If-Match, ``None`` when there is none."""
    text = request.headers.get("If-Match")
    return None if text is None else text.strip().removeprefix('"').removesuffix('"')


def is_known(request: Request, tag: str) -> bool:
    """Whether the caller has this version already, by If-None-Match (weak comparison)."""
    asked = request.headers.get("If-None-Match", "")
    tags = {part.strip().removeprefix("W/") for part in asked.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags
