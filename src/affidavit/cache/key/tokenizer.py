"""What a tokenizer is, in parts: the backend's sections, the chat template, the sides, the special tokens, the length.

A call that truncates or pads is written into the backend and is there for whoever asks next: both are left out of the
text of it; what the tokenizer itself is set to is an attribute and is in. The live object is only read.

Source: hf-stack-spike §6: ``to_str()`` has no chat template, padding side or maximal length, and is stateful.
Blind to: a native tokenizer of another make that pickles without its state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from affidavit.cache.preimage import canonical, digest_of

_STATE = ("truncation", "padding")
_NOT_MEANING = frozenset((
    "_in_target_context_manager", "_tokenizer", "deprecation_warnings", "files_loaded", "init_inputs", "init_kwargs",
    "name_or_path", "verbose", "_processor_class", "tokenizer_file", "vocab_file", "merges_file",
    "_should_update_post_processor", "_auto_map", "_commit_hash", "_special_tokens_map", "tokens_trie",
))  # fmt: skip
"""Where it came from and what it said, not what it does."""
_ALSO = ("special_tokens_map",)


def is_tokenizer(value: Any) -> bool:
    """Say whether a value is a tokenizer of transformers or of tokenizers, told by what it can do."""
    if isinstance(value, type):
        return False
    return backend_of(value) is not None or (
        hasattr(type(value), "apply_chat_template") and hasattr(value, "padding_side")
    )


def backend_of(value: Any) -> Any:
    """Return the fast backend of a tokenizer, or None where it has none."""
    kind = type(value)
    if kind.__module__.partition(".")[0] == "tokenizers" and hasattr(kind, "to_str"):
        return value
    if not hasattr(kind, "backend_tokenizer"):
        return None
    return value.backend_tokenizer


def parts_of(tokenizer: Any, form: Callable[[Any, str], Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, digest, shown) for each part of a tokenizer.

    Args:
        tokenizer: of transformers, fast or not, or of tokenizers itself.
        form: returns the stable form of an attribute.
    """
    backend = backend_of(tokenizer)
    if backend is not None:
        for name, text in sections(backend.to_str()):
            yield f"backend.{name}", digest_of(text.encode("utf-8", "surrogatepass")), text[:80]
        yield _plain("backend.encode_special_tokens", getattr(backend, "encode_special_tokens", False))
    if backend is tokenizer:
        return
    state = {name: value for name, value in vars(tokenizer).items() if name not in _NOT_MEANING}
    state.update((name, getattr(tokenizer, name)) for name in _ALSO if hasattr(tokenizer, name))
    if backend is None and hasattr(tokenizer, "get_vocab"):
        state["vocabulary"] = sorted(tokenizer.get_vocab().items(), key=lambda pair: (pair[1], pair[0]))
    for name in sorted(state):
        value = state[name]
        said = form(value, name)
        yield name, digest_of(canonical(said)), repr(value)[:200] if isinstance(value, (str, int, bool)) else ""


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield (section, its JSON) of a backend's text, without what calls leave in it.

    The model, which is nearly all of it, is taken as it stands: parsing a large vocabulary takes longer than hashing.
    """
    decoder = json.JSONDecoder()
    at = 1
    while at < len(text):
        name, at = decoder.raw_decode(text, at)
        at += 1
        if name == "model":
            yield name, text[at:-1]
            return
        _, end = decoder.raw_decode(text, at)
        if name not in _STATE:
            yield name, text[at:end]
        at = end + 1


def _plain(name: str, value: Any) -> tuple[str, str, str]:
    return name, digest_of(canonical(value)), repr(value)
