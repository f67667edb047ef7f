"""True arguments and content of runs whose stored ones are redacted, encrypted for some days.

Rows hold redacted values for ever. What redaction took away is still needed for a while: a call
that waits for approval must run with its real arguments, and a caller may fetch the real answer.
It is kept in :class:`SealedPayload`, encrypted with a key derived from the secret key (Fernet:
AES-128-CBC and HMAC-SHA256; HKDF, RFC 5869) and deleted when it expires.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils import timezone

from tools_app.models import SealedPayload, ToolRun
from tools_app.services.access import Actor

log = structlog.get_logger(__name__)

SEALED_FOR = timedelta(days=7)


def seal(text: str) -> bytes:
    """Return the encrypted text. Lone surrogates survive."""
    return _cipher().encrypt(text.encode("utf-8", "surrogatepass"))


def unseal(sealed: bytes | memoryview) -> str | None:
    """Return the text, or ``None`` when no present key opens it (it is logged)."""
    try:
        return _cipher().decrypt(bytes(sealed)).decode("utf-8", "surrogatepass")
    except InvalidToken:
        log.warning("a sealed payload cannot be opened: was the secret key changed?")
        return None


def sealed_payload(
    run_id: UUID, *, arguments: bytes | None, content: str | None, now: datetime
) -> SealedPayload | None:
    """Return the unsaved row for what redaction changed, ``None`` when it changed nothing.

    ``arguments`` is the canonical JSON of the true arguments.
    """
    if arguments is None and content is None:
        return None
    return SealedPayload(
        run_id=run_id,
        arguments=None if arguments is None else seal(arguments.decode()),
        content=None if content is None else seal(content),
        expires_at=now + SEALED_FOR,
    )


def seal_content(run: ToolRun, content: str, *, now: datetime) -> None:
    """Keep the true content of a stored run beside its arguments, for as long as those."""
    SealedPayload.objects.update_or_create(
        run_id=run.pk, defaults={"content": seal(content), "expires_at": now + SEALED_FOR}
    )


def true_arguments(run: ToolRun) -> dict[str, Any]:
    """Return what the run was really called with, as far as it is still known.

    After the sealed values expired these are the redacted ones; whoever executes them compares
    their digest with ``run.arguments_digest`` first.
    """
    sealed = _open_payload(run)
    if sealed is None or sealed.arguments is None:
        return dict(run.arguments)
    text = unseal(sealed.arguments)
    return dict(run.arguments) if text is None else dict(json.loads(text))


def deliverable_arguments(run: ToolRun, actor: Actor) -> dict[str, Any]:
    """Return the true arguments to whoever may see them (auditors), else the redacted ones."""
    return true_arguments(run) if actor.has("audit") else dict(run.arguments)


def deliverable_content(run: ToolRun, actor: Actor) -> str:
    """Return the true content to the run's own caller while it lasts, else the redacted one."""
    if not is_own_run(run, actor):
        return run.content
    sealed = _open_payload(run)
    if sealed is None or sealed.content is None:
        return run.content
    return unseal(sealed.content) or run.content


def is_own_run(run: ToolRun, actor: Actor) -> bool:
    """Say whether this actor asked for the run: the same token, or the same signed-in user."""
    if run.token_id is not None or actor.token_id is not None:
        return run.token_id == actor.token_id
    return run.user_id is not None and run.user_id == actor.user_id


def _open_payload(run: ToolRun) -> SealedPayload | None:
    return SealedPayload.objects.filter(run_id=run.pk, expires_at__gt=timezone.now()).first()


def _cipher() -> MultiFernet:
    return _cipher_of((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=4)
def _cipher_of(secrets: tuple[str, ...]) -> MultiFernet:
    """Encrypt with the first key, decrypt with any: keys are rotated by prepending one."""
    return MultiFernet([Fernet(_derived(secret)) for secret in secrets])


def _derived(secret: str) -> bytes:
    kdf = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"openjarvis-web sealed payloads")
    return base64.urlsafe_b64encode(kdf.derive(secret.encode()))
