"""Tokenizers: the one that was built last, and what an instrument may ask of it."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from affidavit.adapters.transformers.handed import bind_tokenizer_calls, tell_built
from affidavit.attach.moment import Loaded, TrainBegin
from affidavit.attach.session import Session

_tokenizers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The tokenizer that was built last, for a training that names none; a second training may use it as well."""


class _Tokenizer:
    """A transformers tokenizer as instruments ask for it. It never encodes: that may change truncation and padding."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._pieces: dict[int, str] = {}

    @property
    def pad(self) -> int | None:
        return self._tokenizer.pad_token_id  # type: ignore[no-any-return]

    @property
    def ends(self) -> frozenset[int]:
        end = self._tokenizer.eos_token_id
        return frozenset(end if isinstance(end, list) else () if end is None else (end,))

    @property
    def begin(self) -> int | None:
        return self._tokenizer.bos_token_id  # type: ignore[no-any-return]

    def render(self, messages: Sequence[tuple[str, str]], *, asks: bool = False) -> str | None:
        if not getattr(self._tokenizer, "chat_template", None):
            return None
        talk = [{"role": role, "content": content} for role, content in messages]
        asking = {"add_generation_prompt": True} if asks else {}
        try:
            return str(self._tokenizer.apply_chat_template(talk, tokenize=False, **asking))
        except Exception:  # noqa: BLE001  templates are programs that refuse roles by raising whatever they like
            return None

    def pieces(self, ids: Sequence[int]) -> list[str]:
        # Alone, a token loses the space that its tokenizer marks a word with; behind another it keeps it.
        before = next(iter(self.ends), ids[0] if ids else 0)
        alone = self.text([before])
        for token in set(ids) - self._pieces.keys():
            both = self.text([before, token])
            self._pieces[token] = both[len(alone) :] if both.startswith(alone) else self.text([token])
        return [self._pieces[token] for token in ids]

    def text(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def offer_tokenizer(processing: Any) -> _Tokenizer | None:
    """Return the tokenizer of a processing class, which may be one, hold one, or be an image processor."""
    tokenizer = getattr(processing, "tokenizer", processing)
    if not hasattr(tokenizer, "decode"):
        return None
    _tokenizers["last"] = tokenizer
    return _Tokenizer(tokenizer)


def bind_tokenizers(module: ModuleType, session: Session) -> None:
    tokenizer_class = module.PreTrainedTokenizerBase
    build = tokenizer_class.__init__

    @session.shielded
    def remember(tokenizer: Any, kwargs: Mapping[str, Any], frame: FrameType) -> None:
        _tokenizers["last"] = tokenizer
        session.fire(_loaded(tokenizer))
        tell_built(session, tokenizer, kwargs, frame)

    @functools.wraps(build)
    def built(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        remember(self, kwargs, sys._getframe(1))

    tokenizer_class.__init__ = built
    bind_tokenizer_calls(module, session)


def _loaded(tokenizer: Any) -> Loaded:
    return Loaded(kind="tokenizer", item=_Tokenizer(tokenizer), source=type(tokenizer).__name__)


def describe(moment: TrainBegin, session: Session) -> None:
    """Name the tokenizer that was built last, where the training names none."""
    last = _tokenizers.get("last")
    if last is not None and moment.tokenizer is None:
        session.fire(_loaded(last))
