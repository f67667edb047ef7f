"""Waiting requests leave room for the others."""

from __future__ import annotations

import pytest

from tools_app.api.long_polls import LongPolls


def test_who_finds_no_place_does_not_wait():
    polls = LongPolls(2)
    with polls.place(60) as first, polls.place(60) as second:
        with polls.place(60) as third:
            assert (first, second, third) == (60, 60, 0)
        with polls.place(60) as fourth:
            assert fourth == 0


def test_a_place_is_given_back_even_after_a_failure():
    polls = LongPolls(1)
    with pytest.raises(KeyError), polls.place(5):
        raise KeyError
    with polls.place(5) as wait_s:
        assert wait_s == 5


def test_not_waiting_takes_no_place():
    polls = LongPolls(1)
    with polls.place(0) as none, polls.place(5) as wait_s:
        assert (none, wait_s) == (0, 5)
