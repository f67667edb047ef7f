"""The tool system's core: what a tool is, how it is found, checked, run and observed.

No web framework, no database. Code written for OpenJarvis needs only its package name changed:

==============================  ============================================
there                           here
==============================  ============================================
``openjarvis.core.types``       ``tools_app.core.types``
``openjarvis.core.registry``    ``tools_app.core.registry``
``openjarvis.core.events``      ``tools_app.core.events``
``openjarvis.tools._stubs``     ``tools_app.tools._stubs``, which hands on
                                ``BaseTool``, ``ToolExecutor`` and
                                ``build_tool_descriptions`` of this package
``openjarvis.tools.calculator`` ``tools_app.tools.calculator``, and so on
==============================  ============================================
"""

from tools_app.core.arguments import (
    ArgumentChecker,
    CheckedArguments,
    compile_arguments,
    parse_arguments,
)
from tools_app.core.cancellation import CancelToken, remaining_seconds
from tools_app.core.capabilities import CAPABILITIES, CapabilityPolicy
from tools_app.core.description_overrides import use_description_overrides
from tools_app.core.descriptions import build_tool_descriptions
from tools_app.core.digests import arguments_digest, canonical_json, definition_hash
from tools_app.core.errors import (
    CapabilityDenied,
    ConfirmationDenied,
    ConfirmationRequired,
    InvalidArguments,
    InvalidSchema,
    InvalidSetting,
    InvalidToolResult,
    SecurityBlocked,
    TaintViolation,
    ToolCancelled,
    ToolCapacityExhausted,
    ToolError,
    ToolFailed,
    ToolTimeout,
    UnknownTool,
)
from tools_app.core.events import Event, EventBus, EventType, get_event_bus, reset_event_bus
from tools_app.core.executor import ToolExecutor
from tools_app.core.redaction import is_secret_name, redact, redact_text
from tools_app.core.registry import (
    AgentRegistry,
    ChannelRegistry,
    EngineRegistry,
    MemoryRegistry,
    ModelRegistry,
    Registry,
    ToolRegistry,
)
from tools_app.core.runner import ThreadRunner, ToolRunner
from tools_app.core.taint import TaintLabel, TaintSet, check_taint, detect_taint
from tools_app.core.tool import BaseTool, openai_function
from tools_app.core.types import Conversation, Message, Role, ToolCall, ToolResult, ToolSpec

__all__ = [
    "CAPABILITIES",
    "AgentRegistry",
    "ArgumentChecker",
    "BaseTool",
    "CancelToken",
    "CapabilityDenied",
    "CapabilityPolicy",
    "ChannelRegistry",
    "CheckedArguments",
    "ConfirmationDenied",
    "ConfirmationRequired",
    "Conversation",
    "EngineRegistry",
    "Event",
    "EventBus",
    "EventType",
    "InvalidArguments",
    "InvalidSchema",
    "InvalidSetting",
    "InvalidToolResult",
    "MemoryRegistry",
    "Message",
    "ModelRegistry",
    "Registry",
    "Role",
    "SecurityBlocked",
    "TaintLabel",
    "TaintSet",
    "TaintViolation",
    "ThreadRunner",
    "ToolCall",
    "ToolCancelled",
    "ToolCapacityExhausted",
    "ToolError",
    "ToolExecutor",
    "ToolFailed",
    "ToolRegistry",
    "ToolResult",
    "ToolRunner",
    "ToolSpec",
    "ToolTimeout",
    "UnknownTool",
    "arguments_digest",
    "build_tool_descriptions",
    "canonical_json",
    "check_taint",
    "compile_arguments",
    "definition_hash",
    "detect_taint",
    "get_event_bus",
    "is_secret_name",
    "openai_function",
    "parse_arguments",
    "redact",
    "redact_text",
    "remaining_seconds",
    "reset_event_bus",
    "use_description_overrides",
]
