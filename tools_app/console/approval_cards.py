"""An approval as a page draws it: what of it is shown, and which answers it still takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from django.utils.functional import Promise

from tools_app.console.approval_forms import CHANNELS, AnswerForm
from tools_app.models import Approval, ApprovalStatus
from tools_app.selectors.approvals import ApprovalCard, card
from tools_app.services.access import Actor

FOLDED_AT = 8000  # characters; a longer call is shown in full before it can be approved
FIRST_PART = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCard:
    """A card and its state at this moment.

    ``is_open`` says that it takes an answer, ``is_moving`` that it changes without anybody's
    doing, so that a page looks again. ``mark`` changes with all that is drawn.
    """

    card: ApprovalCard
    form: AnswerForm
    text: str
    folded: int
    is_open: bool
    is_moving: bool
    mark: str
    decided_by: str
    channel: str | Promise

    @property
    def approval(self) -> Approval:
        return self.card.approval

    @property
    def has_buttons(self) -> bool:
        """Whether this person may answer it now."""
        return self.is_open and self.card.may_decide

    @property
    def lines(self) -> int:
        return self.card.call_text.count("\n") + 1

    @property
    def waited(self) -> timedelta:
        """How long it waited, until its answer or until now."""
        return (self.approval.decided_at or timezone.now()) - self.approval.requested_at


def shown_card(actor: Actor, approval: Approval, *, is_full: bool = False) -> ShownCard:
    """Return the card of an approval for this reader."""
    found = card(actor, approval)
    is_pending = approval.status == ApprovalStatus.PENDING
    is_open = is_pending and approval.expires_at > timezone.now()
    is_running = approval.status == ApprovalStatus.APPROVED and not approval.run.is_finished
    is_long = len(found.call_text) > FOLDED_AT and not is_full
    return ShownCard(
        card=found,
        form=AnswerForm.for_approval(approval, found.binding),
        text=found.call_text[:FIRST_PART] if is_long else found.call_text,
        folded=len(found.call_text) - FIRST_PART if is_long else 0,
        is_open=is_open,
        is_moving=is_running or (is_pending and not is_open),
        mark="-".join((approval.status, approval.run.status, found.binding[-12:], str(is_open))),
        decided_by=approval.decided_by_label.removeprefix("user:"),
        channel=CHANNELS.get(approval.decided_via, approval.decided_via),
    )
