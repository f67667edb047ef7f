"""Rules for group chats: which one applies, and to whom."""

from __future__ import annotations

import pytest

from tools_app.policy import OfferedTool, Subject, compile_policy

TOOLS = tuple(OfferedTool(name=name) for name in ("read", "exec", "browser", "message"))


def denied(channels, **subject):
    policy = compile_policy({"channels": channels}, version=1)
    allowed = policy.effective(Subject(**subject), TOOLS).allowed
    return {tool.name for tool in TOOLS} - set(allowed)


def deny(*names):
    return {"tools": {"deny": list(names)}}


def test_topics_and_threads_belong_to_their_chat():
    channels = {"telegram": {"groups": {"-100": deny("exec")}}}
    for key in ("agent:main:telegram:group:-100:topic:5", "telegram:group:-100:thread:9"):
        assert denied(channels, session_key=key) == {"exec"}
    assert denied(channels, message_provider="telegram", group_id="-100:topic:7") == {"exec"}


def test_an_account_with_groups_of_its_own_replaces_those_of_the_channel():
    channels = {
        "whatsapp": {
            "groups": {"*": deny("exec")},
            "accounts": {"work": {"groups": {"7": deny("read")}}, "home": {}},
        }
    }
    chat = {"message_provider": "whatsapp", "group_id": "7"}
    assert denied(channels, **chat) == {"exec"}
    assert denied(channels, account_id="work", **chat) == {"read"}
    assert denied(channels, account_id="home", **chat) == {"exec"}


def test_discord_asks_the_channel_of_the_guild_then_the_guild():
    channels = {
        "discord": {
            "guilds": {"g": {**deny("exec"), "channels": {"c": deny("read")}}, "*": deny("browser")}
        }
    }
    chat = {"message_provider": "discord"}
    assert denied(channels, group_id="c", group_space="g", **chat) == {"read"}
    assert denied(channels, group_id="other", group_space="g", **chat) == {"exec"}
    assert denied(channels, group_id="c", group_space="elsewhere", **chat) == {"browser"}


def test_slack_keeps_its_rules_under_channels():
    channels = {"slack": {"channels": {"c1": deny("exec")}, "groups": {"c1": deny("read")}}}
    assert denied(channels, message_provider="slack", group_id="C1") == {"exec"}


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        ({"sender_id": "u1", "sender_e164": "+1", "sender_name": "Ann"}, "read"),
        ({"sender_e164": " +1 ", "sender_username": "ann"}, "exec"),
        ({"sender_username": "@ANN", "sender_name": "Ann"}, "browser"),
        ({"sender_name": "ann"}, "message"),
    ],
)
def test_senders_are_matched_by_the_surest_mark_first(sender, expected):
    by_sender = {
        "name:Ann": {"deny": ["message"]},
        "username:ann": {"deny": ["browser"]},
        "e164:+1": {"deny": ["exec"]},
        "U1": {"deny": ["read"]},
    }
    channels = {"telegram": {"groups": {"7": {"toolsBySender": by_sender}}}}
    assert denied(channels, message_provider="telegram", group_id="7", **sender) == {expected}


def test_a_sender_without_a_rule_falls_through_to_the_next_place():
    channels = {
        "telegram": {
            "groups": {
                "7": {"toolsBySender": {"id:boss": {"deny": ["read"]}}},
                "*": {**deny("browser"), "toolsBySender": {"id:guest": {"deny": ["exec"]}}},
            }
        }
    }
    chat = {"message_provider": "telegram", "group_id": "7"}
    assert denied(channels, sender_id="guest", **chat) == {"exec"}
    assert denied(channels, sender_id="other", **chat) == {"browser"}


@pytest.mark.parametrize("subject", [{}, {"message_provider": "telegram"}, {"group_id": "7"}])
def test_direct_chats_have_no_group_rules(subject):
    assert denied({"telegram": {"groups": {"*": deny("exec")}}}, **subject) == set()
