"""What a chat template reads: the variables that it does not set itself.

Source: jinja2.meta; transformers 4.57 and 5.24 utils/chat_template_utils.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

_COMMON = frozenset(
    (
        *("enable_thinking", "thinking", "thinking_budget", "reasoning_effort", "preserve_thinking", "builtin_tools"),
        *("custom_tools", "tools_in_user_message", "date_string", "model_identity", "strftime_now", "documents"),
        *("add_vision_id", "add_default_system_prompt", "xml_tools", "python_tools", "system_message", "keep_thinking"),
    )
)
"""Variables that scripts hand to whatever template there is: one that has no use for them means no harm by it."""


def unread_by_template(
    tokenizer: Any, kwargs: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return which of the names that were left for the template it does not read, and all that it does read."""
    template = tokenizer.get_chat_template(kwargs.get("chat_template"), kwargs.get("tools"))
    variables = _variables(template)
    said = "handed to the chat template, which does not read it"
    lost = {name: said for name in names if name not in variables and name not in _COMMON}
    return lost, (*variables, *_COMMON)


@functools.lru_cache(maxsize=16)
def _variables(template: str) -> frozenset[str]:
    from transformers.utils import chat_template_utils

    try:
        environment = chat_template_utils._compile_jinja_template(template).environment
        meta = importlib.import_module("jinja2.meta")  # what transformers itself renders with
        return frozenset(meta.find_undeclared_variables(environment.parse(template)))
    except (AttributeError, ImportError, ValueError):  # another version compiles another way: every word may be one
        return frozenset(re.findall(r"[A-Za-z_]\w*", template))
