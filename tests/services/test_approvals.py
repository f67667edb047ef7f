"""Approvals: bound to the exact call, answered once, used once, by somebody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from tests.builders import (
    agent_policy,
    kinds_of,
    make_actor,
    make_agent,
    make_token_actor,
    make_user,
    publish_policy,
    request,
    tools_offered,
    work_off,
)
from tests.parallel import at_once, in_background
from tests.sample_tools import Send
from tools_app.models import (
    ApiToken,
    Approval,
    ApprovalGrant,
    ApprovalStatus,
    Event,
    RunStatus,
    SealedPayload,
    ToolRun,
)
from tools_app.selectors.approvals import (
    ApprovalFilters,
    approval_detail,
    card,
    history,
    pending,
    pending_count,
    standing_grants,
)
from tools_app.services.access import SYSTEM, actor_for_user
from tools_app.services.agents import update_agent
from tools_app.services.approvals import (
    approve,
    ask_again,
    deny,
    expire_due,
    extend,
    revoke_grant,
    wait_for_approval,
)
from tools_app.services.errors import (
    AgentInactive,
    ApprovalClosed,
    ApprovalExpired,
    ApprovalMismatch,
    ConcurrencyExceeded,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    SelfApproval,
    TokenScope,
)
from tools_app.services.limits import set_limit
from tools_app.services.running import run_tool
from tools_app.services.tokens import revoke_token

pytestmark = pytest.mark.django_db

SECRET = "sk-ant-abcdefghijklmnop1234567890"


@pytest.fixture
def send():
    return Send()


@pytest.fixture(autouse=True)
def _product(db, send):
    publish_policy()
    make_agent("support")
    with tools_offered(send):
        yield


@pytest.fixture
def bot():
    return make_token_actor()


@pytest.fixture
def boss():
    return make_actor("boss", "operator")


@pytest.fixture
def ask(bot):
    """Ask for a call and return its approval."""

    def ask(arguments: object = None, **fields: object) -> Approval:
        outcome = run_tool(request(bot, "send", arguments or {"to": "anna"}, **fields))
        assert outcome.approval is not None
        return outcome.approval

    return ask


def yes(approval: Approval, actor, **fields) -> Approval:
    fields = {"binding": approval.binding, **fields}
    return approve(actor=actor, approval_id=approval.pk, **fields)


# --- asking ----------------------------------------------------------------------------------


def test_nothing_runs_before_it_is_approved(ask, send):
    approval = ask()

    assert approval.status == ApprovalStatus.PENDING
    assert work_off() == []
    assert send.calls == []
    run = approval.run
    assert run.status == RunStatus.WAITING
    assert kinds_of(run) == ["approval.requested"]
    event = Event.objects.get(run_id=run.pk)
    assert event.data["approval"] == str(approval.pk)
    assert event.data["status"] == "waiting_approval"


def test_an_approved_call_runs_with_what_was_shown(ask, boss, send):
    approval = yes(ask({"to": "anna"}), boss, comment="fine", via="browser")
    (done,) = work_off()

    assert send.calls == [{"to": "anna"}]
    assert done.status == RunStatus.SUCCEEDED
    assert kinds_of(done) == [
        "approval.requested",
        "run.queued",
        "approval.decided",
        "run.started",
        "run.finished",
    ]
    approval.refresh_from_db()
    assert approval.consumed_at is not None
    assert (approval.decided_by_label, approval.decided_via) == ("user:boss", "browser")
    assert approval.comment == "fine"


def test_a_secret_argument_reaches_the_tool_and_the_approver_but_no_row(ask, boss, send):
    approval = ask({"to": SECRET})
    shown = card(boss, approval)

    assert SECRET in shown.call_text
    assert SECRET not in str(ToolRun.objects.values_list("arguments", flat=True))
    viewer = make_actor("viewer", "viewer")
    assert SECRET not in card(viewer, approval_detail(viewer, approval.pk)).call_text
    yes(approval, boss)
    work_off()
    assert send.calls == [{"to": SECRET}]


# --- the exact call --------------------------------------------------------------------------


def test_another_binding_is_refused_and_leaves_it_open(ask, boss):
    first, second = ask({"amount": 10}), ask({"amount": 1000})
    with pytest.raises(ApprovalMismatch):
        yes(second, boss, binding=first.binding)

    assert Approval.objects.filter(status=ApprovalStatus.PENDING).count() == 2
    assert work_off() == []


@pytest.mark.parametrize(
    "change",
    [
        {"arguments": {"to": "bob"}},
        {"agent": "support"},
        {"provider": "openai"},
        {"model": "m"},
        {"session": "s"},
        {"timeout_seconds": 3.0},
    ],
)
def test_everything_that_changes_the_run_changes_the_binding(bot, change):
    from tools_app.services.approval_states import binding_of

    def binding(**fields: object) -> str:
        asked = {"arguments": {"to": "anna"}, **fields}
        run = run_tool(request(bot, "send", **asked)).run
        run.pk = None  # what the binding says besides the run itself
        return binding_of(run, definition_hash="d", policy_version=1, expires_at=moment)

    moment = timezone.now()
    assert binding() == binding()
    assert binding() != binding(**change)


def test_a_new_policy_supersedes_what_was_asked_under_the_old_one(ask, boss):
    approval = ask()
    publish_policy(agent_policy("support", deny=["send"]))
    with pytest.raises(ApprovalMismatch) as caught:
        yes(approval, boss)

    assert caught.value.extra["state"] == "superseded"
    assert caught.value.extra["may_ask_again"]
    approval.refresh_from_db()
    run = ToolRun.objects.get()
    assert approval.status == ApprovalStatus.SUPERSEDED
    assert (run.status, run.outcome) == ("refused", "approval_mismatch")
    assert kinds_of(run) == ["approval.requested", "run.refused", "approval.superseded"]


def test_a_new_definition_of_the_tool_supersedes_too(ask, boss):
    from tools_app.models import Tool
    from tools_app.services.configuration import bump

    approval = ask()
    Tool.objects.filter(name="send").update(definition_hash="sha256:other")
    bump("tools")
    with pytest.raises(ApprovalMismatch):
        yes(approval, boss)


def test_a_policy_published_between_approval_and_start_voids_the_approval(ask, boss, send):
    approval = yes(ask(), boss)
    publish_policy(agent_policy("support", deny=["send"]))

    assert work_off() == []
    assert send.calls == []
    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.SUPERSEDED
    assert ToolRun.objects.get().outcome == "approval_mismatch"


def test_arguments_changed_in_the_database_do_not_run(ask, boss, send):
    approval = yes(ask({"amount": 10}), boss)
    ToolRun.objects.filter(pk=approval.run_id).update(arguments={"amount": 1000})

    (run,) = work_off()
    assert send.calls == []
    assert (run.status, run.outcome) == ("refused", "approval_mismatch")


def test_sealed_arguments_that_are_gone_do_not_run_redacted(ask, boss, send):
    approval = yes(ask({"to": SECRET}), boss)
    SealedPayload.objects.all().delete()

    (run,) = work_off()
    assert run.pk == approval.run_id
    assert send.calls == []
    assert run.outcome == "approval_mismatch"


# --- once ------------------------------------------------------------------------------------


def test_an_answer_is_final(ask, boss):
    approval = ask()
    deny(actor=boss, approval_id=approval.pk, comment="no")

    with pytest.raises(ApprovalClosed) as caught:
        yes(approval, boss)
    assert caught.value.extra["state"] == "denied"
    assert not caught.value.extra["may_ask_again"]
    with pytest.raises(ApprovalClosed):
        deny(actor=boss, approval_id=approval.pk)
    run = ToolRun.objects.get()
    assert (run.status, run.outcome, run.message) == ("refused", "approval_denied", "no")
    assert kinds_of(run) == ["approval.requested", "run.refused", "approval.decided"]


def test_an_approval_starts_one_run_even_if_its_message_comes_twice(ask, boss, send):
    from tools_app.services.running import execute_claimed

    approval = yes(ask(), boss)
    assert execute_claimed(approval.run_id) is not None
    assert execute_claimed(approval.run_id) is None
    assert len(send.calls) == 1


def test_nobody_decides_after_the_end(ask, boss):
    approval = ask()
    with time_machine.travel(approval.expires_at + timedelta(seconds=1), tick=False):
        for _ in range(2):  # a terminal state, not an error to retry
            with pytest.raises(ApprovalExpired) as caught:
                yes(approval, boss)
    assert caught.value.extra["may_ask_again"]
    run = ToolRun.objects.get()
    assert (run.status, run.outcome) == ("refused", "approval_expired")
    assert kinds_of(run) == ["approval.requested", "run.refused", "approval.expired"]


def test_the_tick_expires_what_nobody_answered(ask):
    approval = ask()
    assert expire_due() == 0
    with time_machine.travel(approval.expires_at + timedelta(seconds=1), tick=False):
        assert expire_due() == 1
        assert expire_due() == 0
    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.EXPIRED


# --- who -------------------------------------------------------------------------------------


def test_approving_needs_the_right(ask):
    with pytest.raises(Forbidden):
        yes(ask(), make_actor("viewer", "viewer"))
    with pytest.raises(TokenScope):
        yes(ask(), make_token_actor(scopes=["tools:read"]))


def test_the_owner_of_the_token_may_not_approve_its_calls(boss):
    owner = make_user("owner", "operator")
    bot = make_token_actor(owner, scopes=["tools:execute"])
    approval = run_tool(request(bot, "send", {})).approval

    with pytest.raises(SelfApproval):
        yes(approval, actor_for_user(owner))
    shown = card(actor_for_user(owner), approval)
    assert not shown.may_decide
    assert "somebody else" in shown.why_not
    assert card(boss, approval).may_decide
    deny(actor=actor_for_user(owner), approval_id=approval.pk)  # taking back is no risk


def test_the_only_person_may_approve_and_the_event_says_so():
    alone = make_user("alone", "admin")
    approval = run_tool(request(actor_for_user(alone), "send", {})).approval
    yes(approval, actor_for_user(alone))

    decided = Event.objects.get(kind="approval.decided")
    assert decided.data["self_approved"] is True


def test_a_setting_allows_self_approval(settings, boss):
    settings.OPENJARVIS_ALLOW_SELF_APPROVAL = True
    owner = actor_for_user(make_user("owner", "operator"))
    approval = run_tool(request(owner, "send", {})).approval
    assert yes(approval, owner).status == ApprovalStatus.APPROVED


def test_an_approved_call_of_a_revoked_token_does_not_run(ask, boss, bot, send):
    yes(ask(), boss)
    token = ApiToken.objects.get(pk=bot.token_id)
    revoke_token(actor=SYSTEM, token_id=token.pk)

    assert work_off() == []
    assert send.calls == []
    assert ToolRun.objects.get().outcome == "token_scope"


def test_a_call_of_a_revoked_token_cannot_be_approved(ask, boss, bot):
    approval = ask()
    revoke_token(actor=SYSTEM, token_id=bot.token_id)
    with pytest.raises(TokenScope):
        yes(approval, boss)


# --- again and longer ------------------------------------------------------------------------


def test_a_call_of_an_agent_that_was_switched_off_cannot_be_approved(ask, boss, send):
    approval = ask(agent="support")
    update_agent(actor=SYSTEM, slug="support", changes={"is_active": False}, version=1)
    with pytest.raises(AgentInactive):
        approve(actor=boss, approval_id=approval.pk, binding=approval.binding)
    assert work_off() == []
    assert send.calls == []


def test_asking_again_makes_a_new_run_of_the_same_frozen_call(ask, boss, send):
    old = ask({"to": SECRET})
    with time_machine.travel(old.expires_at + timedelta(seconds=1), tick=False):
        expire_due()
        new = ask_again(actor=boss, approval_id=old.pk)
        again = ask_again(actor=boss, approval_id=old.pk)
        assert again.pk == new.pk
        assert new.replaces_id == old.pk
        assert new.run.arguments_digest == old.run.arguments_digest
        assert (new.run.token_id, new.run.actor) == (old.run.token_id, old.run.actor)
        assert new.binding != old.binding
        yes(new, boss)
        work_off()
    assert send.calls == [{"to": SECRET}]


def test_asking_again_asks_even_where_policy_would_not_any_more(ask, boss):
    from tools_app.services.catalogue import update_tool

    old = ask()
    with time_machine.travel(old.expires_at + timedelta(seconds=1), tick=False):
        expire_due()
        update_tool(actor=SYSTEM, name="send", changes={"confirmation_override": False})
        new = ask_again(actor=boss, approval_id=old.pk)
        assert new.status == ApprovalStatus.PENDING


def test_what_is_open_or_denied_is_not_asked_again(ask, boss):
    open_one, denied = ask(), ask()
    deny(actor=boss, approval_id=denied.pk)
    for approval in (open_one, denied):
        with pytest.raises(Conflict):
            ask_again(actor=boss, approval_id=approval.pk)


def test_more_time_changes_the_binding(ask, boss):
    approval = ask()
    longer = extend(actor=boss, approval_id=approval.pk, seconds=600)

    assert longer.expires_at - approval.expires_at == timedelta(seconds=600)
    with pytest.raises(ApprovalMismatch):
        yes(approval, boss)
    assert yes(longer, boss).status == ApprovalStatus.APPROVED
    for seconds in (0, 24 * 3600 + 1):
        with pytest.raises(InvalidRequest):
            extend(actor=boss, approval_id=approval.pk, seconds=seconds)


# --- what is remembered ----------------------------------------------------------------------


def test_once_remembers_nothing(ask, boss):
    yes(ask(), boss)
    assert not ApprovalGrant.objects.exists()
    assert ask().status == ApprovalStatus.PENDING


def test_always_covers_the_very_same_call_only(ask, boss, bot, send):
    yes(ask({"to": "anna"}), boss, scope="always")
    work_off()
    outcome = run_tool(request(bot, "send", {"to": "anna"}))

    assert outcome.approval is None
    assert outcome.run.status == RunStatus.QUEUED
    (run,) = work_off()
    assert len(send.calls) == 2
    given = Approval.objects.get(run=run)
    assert given.decided_via == "grant"
    assert given.decided_by_label == "user:boss"
    assert given.consumed_at is not None
    assert ask({"to": "bob"}).status == ApprovalStatus.PENDING
    assert ask({"to": "anna"}, agent="support").status == ApprovalStatus.PENDING


def test_a_session_grant_ends_with_its_session(ask, boss, bot):
    yes(ask(session="s1"), boss, scope="session")
    assert run_tool(request(bot, "send", {"to": "anna"}, session="s1")).approval is None
    assert run_tool(request(bot, "send", {"to": "anna"}, session="s2")).approval is not None


def test_a_grant_until_a_time_ends_then(ask, boss, bot):
    until = timezone.now() + timedelta(hours=1)
    yes(ask(), boss, scope="until", until=until)
    assert run_tool(request(bot, "send", {"to": "anna"})).approval is None
    with time_machine.travel(until + timedelta(seconds=1), tick=False):
        assert run_tool(request(bot, "send", {"to": "anna"})).approval is not None


def test_a_revoked_grant_covers_nothing(ask, boss, bot):
    yes(ask(), boss, scope="always")
    grant = ApprovalGrant.objects.get()
    assert [g.pk for g in standing_grants(boss).items] == [grant.pk]
    revoke_grant(actor=boss, grant_id=grant.pk)

    assert run_tool(request(bot, "send", {"to": "anna"})).approval is not None
    assert standing_grants(boss).items == []
    with pytest.raises(Conflict):
        revoke_grant(actor=boss, grant_id=grant.pk)


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "forever"},
        {"scope": "session"},
        {"scope": "until"},
        {"scope": "once", "until": timezone.now() + timedelta(days=1)},
        {"scope": "until", "until": timezone.now() - timedelta(days=1)},
    ],
)
def test_a_scope_that_makes_no_sense_is_refused(ask, boss, fields):
    approval = ask()
    with pytest.raises(InvalidRequest):
        yes(approval, boss, **fields)
    approval.refresh_from_db()
    assert approval.status == ApprovalStatus.PENDING


def test_a_remembered_approval_overrules_no_denial(ask, boss, bot):
    from tools_app.services.errors import DeniedByPolicy

    yes(ask(), boss, scope="always")
    publish_policy({"tools": {"deny": ["send"]}})
    with pytest.raises(DeniedByPolicy):
        run_tool(request(bot, "send", {"to": "anna"}))


# --- limits ----------------------------------------------------------------------------------


def test_an_approval_waits_for_a_free_place(ask, boss):
    first, second = ask(), ask()
    set_limit(actor=SYSTEM, scope="tool", target="send", max_concurrency=1)
    yes(first, boss)
    with pytest.raises(ConcurrencyExceeded):
        yes(second, boss)
    second.refresh_from_db()
    assert second.status == ApprovalStatus.PENDING
    work_off()
    assert yes(second, boss).status == ApprovalStatus.APPROVED


# --- reading ---------------------------------------------------------------------------------


def test_the_card_says_what_differs_from_the_last_approved_call(ask, boss):
    yes(ask({"host": "x.example", "old": 1}), boss)
    work_off()
    shown = card(boss, ask({"host": "y.example", "pipe": "sh"}))

    assert shown.differs_from_last == (
        'host: "x.example" → "y.example"',
        "old: removed (was 1)",
        'pipe: added "sh"',
    )
    assert shown.last_approved is not None
    assert shown.requester.startswith("token:")
    assert "owner" in shown.requester


def test_the_card_counts_similar_ones_and_says_nothing_differs(ask, boss):
    yes(ask(), boss)
    work_off()
    ask({"to": "bob"})
    shown = card(boss, ask())

    assert shown.similar_count == 1
    assert shown.differs_from_last == ()


def test_a_token_sees_its_own_approvals_only(ask, bot, boss):
    ask()
    other = make_token_actor(scopes=["tools:read", "tools:execute"])
    own = run_tool(request(other, "send", {})).approval

    assert [approval.pk for approval in pending(other)] == [own.pk]
    assert len(pending(boss)) == pending_count(boss) == 2
    with pytest.raises(NotFound):
        approval_detail(other, Approval.objects.exclude(pk=own.pk).get().pk)


def test_the_history_filters_and_pages(ask, boss):
    approvals = [ask({"n": n}) for n in range(3)]
    deny(actor=boss, approval_id=approvals[0].pk)

    denied = history(boss, ApprovalFilters(status="denied"))
    assert [approval.pk for approval in denied.items] == [approvals[0].pk]
    page = history(boss, limit=2)
    rest = history(boss, limit=2, cursor=page.next_cursor)
    assert [a.pk for a in [*page.items, *rest.items]] == [a.pk for a in reversed(approvals)]


# --- at once ---------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_answers_at_once_one_counts(ask, send):
    people = [make_actor(f"person{n}", "operator") for n in range(8)]
    approval = ask()
    outcomes = at_once(8, lambda n: yes(approval, people[n]))
    work_off()

    closed = [outcome for outcome in outcomes if isinstance(outcome, ApprovalClosed)]
    assert len(closed) == 7
    assert len(send.calls) == 1
    assert Event.objects.filter(kind="approval.decided").count() == 1


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_for_an_approval_is_told(ask, boss):
    approval = ask()
    with in_background(lambda: wait_for_approval(approval.pk, 20)) as seen:
        yes(approval, boss)
    assert [waited.status for waited in seen] == [ApprovalStatus.APPROVED]


def test_waiting_ends_at_its_time(ask):
    assert wait_for_approval(ask().pk, 0.0).status == ApprovalStatus.PENDING
