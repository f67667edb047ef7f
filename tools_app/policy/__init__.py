"""The policy: which agent may use which tool, decided in one place and always explained.

``compile_policy`` makes a document ready; ``CompiledPolicy.effective`` answers for a subject which
of the offered tools it may use, and ``EffectiveTools.decide`` and ``.explain`` say why. A document
has the shape of OpenClaw's configuration; ``check_document`` is its strict door. No framework here.
"""

from tools_app.policy.changes import SubjectDiff, diff_effective
from tools_app.policy.compiled import CompiledPolicy, EffectiveTools, compile_policy
from tools_app.policy.decisions import (
    Decision,
    Explanation,
    Fix,
    LayerResult,
    PolicyWarning,
    Rule,
)
from tools_app.policy.document import Checked, PolicyError, check_document
from tools_app.policy.edits import Edit, apply_edits, format_path, parse_path
from tools_app.policy.lint import DocumentWarning
from tools_app.policy.names import normalise, normalise_agent_id
from tools_app.policy.subjects import OfferedTool, Subject
from tools_app.policy.tables import (
    DEFAULT_TABLES,
    TABLE_SETS,
    SuggestedEntry,
    TableSet,
    suggested_entries,
    table_set,
)

__all__ = [
    "DEFAULT_TABLES",
    "TABLE_SETS",
    "Checked",
    "CompiledPolicy",
    "Decision",
    "DocumentWarning",
    "Edit",
    "EffectiveTools",
    "Explanation",
    "Fix",
    "LayerResult",
    "OfferedTool",
    "PolicyError",
    "PolicyWarning",
    "Rule",
    "Subject",
    "SubjectDiff",
    "SuggestedEntry",
    "TableSet",
    "apply_edits",
    "check_document",
    "compile_policy",
    "diff_effective",
    "format_path",
    "normalise",
    "normalise_agent_id",
    "parse_path",
    "suggested_entries",
    "table_set",
]
