"""Other states of what is no plain value: the parts of a tokenizer, the content of a file.

Source: cache key: what it counts of a tokenizer, part by part, and of a file.
Blind to: the model of a tokenizer itself, its merges and its weights; the inner order of a binary file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from affidavit.cache.key.tokenizer import backend_of
from affidavit.cache.probe.nearby import Held, Other, others

_PARSED_BYTES = 1 << 20


def alterations(tokenizer: Any, held: Held) -> Iterator[tuple[str, str, Callable[[Any], None]]]:
    """Yield (part, what is done, how) for each part of a tokenizer that can be set."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str):
        for text, says in ((f"{template}x", "lengthened"), (f"x{template}", "put behind an x"), ("x", "set to 'x'")):
            yield "chat_template", says, _setting("chat_template", text)
    for side in ("padding_side", "truncation_side"):
        if getattr(tokenizer, side, None) in ("left", "right"):
            other = {"left": "right", "right": "left"}[getattr(tokenizer, side)]
            yield side, f"set to {other}", _setting(side, other)
    if isinstance(getattr(tokenizer, "model_max_length", None), int):
        for length in (2, 2 * int(tokenizer.model_max_length)):
            yield "model_max_length", f"set to {length}", _setting("model_max_length", length)
    for flag in ("add_bos_token", "add_eos_token", "add_prefix_space"):
        if isinstance(getattr(tokenizer, flag, None), bool):
            turned = not getattr(tokenizer, flag)
            yield flag, f"set to {turned}", _setting(flag, turned)
    words = next((text for text in held.texts if len(text) > 3), "words")
    for token in ("bos_token", "eos_token", "pad_token", "unk_token"):
        if isinstance(getattr(tokenizer, token, None), str):
            yield "special_tokens_map", f"{token} set to {words!r}", _setting(token, words)
    if backend_of(tokenizer) is not None:
        yield "backend.added_tokens", f"with {words!r}", lambda changed: changed.add_tokens([words])
        yield "backend.normalizer", "made to lower case", _lower


def _setting(name: str, value: Any) -> Callable[[Any], None]:
    return lambda changed: setattr(changed, name, value)


def _lower(changed: Any) -> None:
    from tokenizers import normalizers

    backend = backend_of(changed)
    ours = [backend.normalizer] if backend.normalizer is not None else []
    backend.normalizer = normalizers.Sequence([*ours, normalizers.Lowercase()])


def contents(data: bytes, held: Held) -> Iterator[Other]:
    """Yield other contents of a file: as JSON, as lines, or as bytes."""
    if len(data) <= _PARSED_BYTES:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = ""
        found = _other_json(text, held) or _other_lines(text, held) if text else ()
        if found:
            yield from found
            return
    middle = len(data) // 2
    if data:
        yield Other(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], "with one byte changed")
        yield Other(data[:middle], "cut in half")
    yield Other(b"" if data else b"x", "emptied" if data else "filled")


def _other_json(text: str, held: Held) -> tuple[Other, ...]:
    try:
        said = json.loads(text)
    except ValueError:
        return ()
    return tuple(Other(json.dumps(each.value).encode(), each.says) for each in others(said, None, held))


def _other_lines(text: str, held: Held) -> tuple[Other, ...]:
    lines = text.splitlines(keepends=True)
    more = "".join(f"{word}\n" for word in held.texts[:64])
    end = "" if text.endswith("\n") else "\n"
    found = [Other(f"{text}{end}{more}", "lengthened by words that the rows hold")] if more else []
    found += [Other("".join(lines[:at] + lines[at + 1 :]), f"without line {at + 1}") for at in range(len(lines[:6]))]
    found += [Other(each.value, each.says) for each in others(text.rstrip("\n"), None, held)]
    return tuple(Other(str(each.value).encode(), each.says) for each in found)
