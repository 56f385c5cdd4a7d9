"""What a class takes by name, as it lies in the process: parameters of its methods, attributes of its objects.

Source: inspect. Blind to: what is taken out of ``**kwargs``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

LOADER = (
    *("cache_dir", "force_download", "local_files_only", "token", "revision", "subfolder", "variant", "proxies"),
    *("trust_remote_code", "attn_implementation", "dtype", "torch_dtype", "device_map", "max_memory", "config"),
    *("quantization_config", "use_safetensors", "state_dict", "output_loading_info", "low_cpu_mem_usage", "tp_plan"),
    *("ignore_mismatched_sizes", "offload_folder", "adapter_kwargs", "gguf_file", "use_kernels", "key_mapping"),
)
"""What loaders take, for the nearest name only: nothing is judged by it."""
_seen: dict[tuple[Any, ...], frozenset[str]] = {}


def parameters(kind: Any, methods: tuple[str, ...]) -> frozenset[str]:
    """Return every parameter that a class, or one that it is made from, names in some methods."""
    if (kind, methods) not in _seen:
        held = (vars(base).get(name) for base in kind.__mro__ for name in methods)
        functions = (getattr(method, "__func__", method) for method in held if method is not None)
        found = {name for function in functions for name in _named(function)}
        _seen[kind, methods] = frozenset(found - {"self", "cls"})
    return _seen[kind, methods]


def _named(function: Any) -> Iterable[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]


def swallows(function: Any) -> bool:
    try:
        return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False


def attributes(item: Any, apart: Iterable[str]) -> tuple[str, ...]:
    """Return the public attributes that an object has by its class or its defaults."""
    own = {*getattr(item, "__dict__", ()), *(getattr(type(item), "attribute_map", None) or ())}
    kinds = (name for base in type(item).__mro__ for name, held in vars(base).items() if not callable(held))
    return tuple(name for name in {*own, *kinds} - set(apart) if not name.startswith("_"))
