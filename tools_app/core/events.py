"""A synchronous event bus: what happens in the core, told to whoever subscribed."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

logger = logging.getLogger(__name__)

HISTORY_LIMIT = 10_000  # enough for any test or trace; a recording bus must not eat the process


class EventType(StrEnum):
    """Names of the events, as they appear in logs and on the wire."""

    INFERENCE_START = "inference_start"
    INFERENCE_END = "inference_end"
    TOOL_CALL_START = "tool_call_start"
    TOOL_CALL_END = "tool_call_end"
    MEMORY_STORE = "memory_store"
    MEMORY_RETRIEVE = "memory_retrieve"
    AGENT_TURN_START = "agent_turn_start"
    AGENT_TURN_END = "agent_turn_end"
    TELEMETRY_RECORD = "telemetry_record"
    TRACE_STEP = "trace_step"
    TRACE_COMPLETE = "trace_complete"
    CHAT_EXCHANGE_COMPLETED = "chat_exchange_completed"
    CHANNEL_MESSAGE_RECEIVED = "channel_message_received"
    CHANNEL_MESSAGE_SENT = "channel_message_sent"
    SECURITY_SCAN = "security_scan"
    SECURITY_ALERT = "security_alert"
    SECURITY_BLOCK = "security_block"
    SCHEDULER_TASK_START = "scheduler_task_start"
    SCHEDULER_TASK_END = "scheduler_task_end"
    BATCH_START = "batch_start"
    BATCH_END = "batch_end"
    TOOL_TIMEOUT = "tool_timeout"
    LOOP_GUARD_TRIGGERED = "loop_guard_triggered"
    CAPABILITY_DENIED = "capability_denied"
    TAINT_VIOLATION = "taint_violation"
    WORKFLOW_START = "workflow_start"
    WORKFLOW_NODE_START = "workflow_node_start"
    WORKFLOW_NODE_END = "workflow_node_end"
    WORKFLOW_END = "workflow_end"
    SKILL_EXECUTE_START = "skill_execute_start"
    SKILL_EXECUTE_END = "skill_execute_end"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    A2A_TASK_RECEIVED = "a2a_task_received"
    A2A_TASK_COMPLETED = "a2a_task_completed"
    OPERATOR_TICK_START = "operator_tick_start"
    OPERATOR_TICK_END = "operator_tick_end"
    AGENT_TICK_START = "agent_tick_start"
    AGENT_TICK_END = "agent_tick_end"
    AGENT_TICK_ERROR = "agent_tick_error"
    AGENT_BUDGET_EXCEEDED = "agent_budget_exceeded"
    AGENT_STALL_DETECTED = "agent_stall_detected"
    AGENT_LEARNING_STARTED = "agent_learning_started"
    AGENT_LEARNING_COMPLETED = "agent_learning_completed"
    AGENT_MESSAGE_RECEIVED = "agent_message_received"
    AGENT_CHECKPOINT_SAVED = "agent_checkpoint_saved"
    OPTIMIZE_RUN_START = "optimize_run_start"
    OPTIMIZE_TRIAL_START = "optimize_trial_start"
    OPTIMIZE_TRIAL_END = "optimize_trial_end"
    OPTIMIZE_RUN_END = "optimize_run_end"
    FEEDBACK_RECEIVED = "feedback_received"


@dataclass(slots=True)
class Event:
    """One thing that happened; ``timestamp`` is in seconds since the epoch."""

    event_type: EventType
    timestamp: float
    data: dict[str, Any] = field(default_factory=dict)


Subscriber = Callable[[Event], object]


class EventBus:
    """Calls subscribers in the publishing thread, in the order of their subscription.

    A subscriber that raises is logged and the next one is called: the publisher never notices.
    With ``record_history`` the newest ``HISTORY_LIMIT`` events are kept.
    """

    def __init__(self, *, record_history: bool = False) -> None:
        self._lock = threading.Lock()
        self._subscribers: dict[EventType, tuple[Subscriber, ...]] = {}
        self._recorded: deque[Event] | None = (
            deque(maxlen=HISTORY_LIMIT) if record_history else None
        )

    def subscribe(self, event_type: EventType, callback: Subscriber) -> None:
        """Call ``callback`` for each coming event; subscribing twice means two calls."""
        with self._lock:
            self._subscribers[event_type] = (*self._subscribers.get(event_type, ()), callback)

    def unsubscribe(self, event_type: EventType, callback: Subscriber) -> None:
        """Drop one subscription of ``callback``; an unknown callback is no error."""
        with self._lock:
            remaining = list(self._subscribers.get(event_type, ()))
            if callback in remaining:
                remaining.remove(callback)
                self._subscribers[event_type] = tuple(remaining)

    def publish(self, event_type: EventType, data: dict[str, Any] | None = None) -> Event:
        """Tell every subscriber and return the event."""
        event = Event(event_type, time.time(), {} if data is None else data)
        with self._lock:  # the tuple is a snapshot, so callbacks may subscribe and unsubscribe
            subscribers = self._subscribers.get(event_type, ())
            if self._recorded is not None:
                self._recorded.append(event)
        for callback in subscribers:
            try:
                callback(event)
            except Exception:
                logger.exception("subscriber of %s failed", event_type)
        return event

    def is_observed(self, event_type: EventType) -> bool:
        """Return whether anybody would see such an event; spares building its payload."""
        return self._recorded is not None or bool(self._subscribers.get(event_type))

    @property
    def history(self) -> list[Event]:
        """A copy of the recorded events, oldest first; empty when recording is off."""
        with self._lock:
            return list(self._recorded or ())

    def clear_history(self) -> None:
        """Forget the recorded events."""
        with self._lock:
            if self._recorded is not None:
                self._recorded.clear()


_process_bus: EventBus | None = None
_process_bus_lock = threading.Lock()


def get_event_bus(record_history: bool = False) -> EventBus:
    """Return the one bus of this process; ``record_history`` counts only when it is made."""
    global _process_bus
    with _process_bus_lock:
        if _process_bus is None:
            _process_bus = EventBus(record_history=record_history)
        return _process_bus


def reset_event_bus() -> None:
    """Drop the bus of this process; the next ``get_event_bus`` makes a new one."""
    global _process_bus
    with _process_bus_lock:
        _process_bus = None
