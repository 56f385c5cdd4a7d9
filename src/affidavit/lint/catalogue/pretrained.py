"""Callables of Transformers whose names are those of any model, any tokenizer or any configuration."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from pathlib import Path

from affidavit.lint.catalogue.read import Read
from affidavit.lint.catalogue.reader import Reader
from affidavit.lint.catalogue.resolve import Resolver
from affidavit.lint.catalogue.scope import settable
from affidavit.lint.catalogue.source import Sources
from affidavit.lint.catalogue.thing import Class, Function, Thing
from affidavit.names.signature import Parameter, Rest

_FIELD = re.compile(rb"^(?:    |        )(\w+)\s*(?::[^=\n]+)?(?:=|,\n|$)", re.MULTILINE)
_POPPED = re.compile(rb"kwargs\.(?:pop|get|setdefault)\(\s*[\"'](\w+)[\"']")
_MAPPED = re.compile(rb"attribute_map[^{\n]*\{([^}]*)\}")
_KEY = re.compile(rb"[\"'](\w+)[\"']\s*:")
_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_INPUTS = (
    *("input_ids", "attention_mask", "inputs_embeds", "position_ids", "token_type_ids", "cache_position", "labels"),
    *("past_key_values", "use_cache", "pixel_values", "image_sizes", "image_grid_thw", "pixel_values_videos"),
    *("input_features", "encoder_outputs", "decoder_input_ids", "decoder_attention_mask", "logits_to_keep"),
    *("output_attentions", "output_hidden_states", "encoder_hidden_states", "encoder_attention_mask"),
)
"""What ``generate`` hands to the forward of most models."""
_CONFIG_BASES = (
    "transformers.configuration_utils.PreTrainedConfig",
    "transformers.configuration_utils.PretrainedConfig",
)
_MODEL_LOADER = "transformers.modeling_utils.PreTrainedModel.from_pretrained"
_TOKENIZER_LOADER = "transformers.tokenization_utils_base.PreTrainedTokenizerBase.from_pretrained"
_GENERATION = "transformers.generation.configuration_utils.GenerationConfig"


class _Kind:
    """What a class is, by the names of its bases."""

    def __init__(self, resolver: Resolver, cls: Class) -> None:
        names = {one.name for one in resolver.line(cls) if isinstance(one, Class)}
        self.is_ours = any(
            one.module.name.startswith("transformers.") for one in resolver.line(cls) if isinstance(one, Class)
        )
        self.is_peft = cls.name.startswith(("AutoPeft", "_BaseAutoPeft")) and cls.module.name.startswith("peft.")
        self.is_config = bool(names & {"PreTrainedConfig", "PretrainedConfig"}) or cls.name == "AutoConfig"
        self.is_model = bool(names & {"PreTrainedModel", "_BaseAutoModelClass"})
        self.is_tokenizer = "PreTrainedTokenizerBase" in names or cls.name == "AutoTokenizer"
        self.is_generation = "GenerationConfig" in names
        self.is_auto = cls.name.startswith(("Auto", "_BaseAuto"))


def widened(sources: Sources, resolver: Resolver, reader: Reader, thing: Thing, read: Read) -> Read:
    """Return what was read of a callable, with the names that any model, tokenizer or configuration reads.

    They override a configuration by design, and which class reads them is known only when the checkpoint is. So none
    of them may be called unknown.
    """
    cls = thing.on if isinstance(thing, Function) else thing
    if not isinstance(cls, Class):
        return read
    kind = _Kind(resolver, cls)
    name = thing.name.rpartition(".")[2] if isinstance(thing, Function) else "__init__"
    wide = _Wide(sources, resolver, reader)
    if kind.is_peft and name == "from_pretrained":
        found = read.added(wide.of_callee(_MODEL_LOADER)).added(wide.of_config_loader())
        return found.opened("the rest goes to the base model")
    if not kind.is_ours:
        return read
    if kind.is_model and name in {"from_pretrained", "from_config", "_from_config"}:
        found = read.added(wide.of_callee(_MODEL_LOADER)).added(wide.of_config_loader())
        found = found.added(wide.configurations())
        return found.opened("the rest goes to the model's own class")
    if name == "generate":
        forward = resolver.attribute(cls, "forward")
        inputs = reader.read(forward).parameters.values() if isinstance(forward, Function) else ()
        named = [*inputs, *(Parameter(name=one, owner="a model's forward") for one in _INPUTS)]
        found = read.added(wide.of_callee(_GENERATION)).added(named)
        return found.opened("the rest goes to the model's forward")
    if kind.is_tokenizer and name in {"from_pretrained", "__init__"}:
        found = read.added(wide.of_callee(_TOKENIZER_LOADER)) if name == "from_pretrained" else read
        found = found.added(wide.tokenizers())
        return Read(
            parameters=found.parameters,
            rest=Rest.KEPT,
            why="the rest is kept in init_kwargs",
            positional=found.positional,
        )
    if kind.is_tokenizer and name == "apply_chat_template":
        kept = "the rest goes to the template"
        return Read(parameters=read.parameters, rest=Rest.KEPT, why=kept, positional=read.positional)
    if kind.is_generation and name in {"__init__", "from_pretrained"}:
        found = read.added(wide.of_callee(_GENERATION))
        kept = "the rest is set on the configuration" if name == "__init__" else "the rest is dropped"
        return Read(parameters=found.parameters, rest=Rest.KEPT, why=kept, positional=found.positional)
    if kind.is_config and name in {"from_pretrained", "__init__", "from_dict", "for_model"}:
        found = read.added(wide.of_mapped(cls))
        if name == "from_pretrained":
            found = found.added(wide.of_config_loader())
        if name != "__init__" and not kind.is_auto:
            found = found.added(reader.read(cls).parameters.values())
        if kind.is_auto:
            found = found.added(wide.configurations())
        rest = "the rest is set on the configuration" if name == "__init__" else "the rest is dropped"
        if found.rest is Rest.CLOSED:
            return found
        return Read(parameters=found.parameters, rest=Rest.KEPT, why=rest, positional=found.positional)
    return read


class _Wide:
    def __init__(self, sources: Sources, resolver: Resolver, reader: Reader) -> None:
        self.sources = sources
        self.resolver = resolver
        self.reader = reader

    def of_callee(self, dotted: str) -> list[Parameter]:
        return [one for thing in self.resolver.dotted(dotted) for one in self.reader.read(thing).parameters.values()]

    def of_config_loader(self) -> list[Parameter]:
        found: list[Parameter] = []
        for base in _CONFIG_BASES:
            for name in ("from_pretrained", "get_config_dict", "_get_config_dict", "from_dict"):
                found += self.of_callee(f"{base}.{name}")
            found += self.of_callee(base)
        found += self.of_callee("transformers.AutoConfig.from_pretrained")
        return found

    def of_mapped(self, cls: Class) -> list[Parameter]:
        """The names of ``attribute_map``: other names of a field."""
        return [one for one in settable(self.resolver, cls) if not one.name.startswith("_")]

    def configurations(self) -> list[Parameter]:
        """Every name that any model's configuration has."""
        return self._below("configuration_*.py", "a model's configuration", (_FIELD, _POPPED), maps=True)

    def tokenizers(self) -> list[Parameter]:
        """Every name that any tokenizer reads."""
        found = self._below("tokenization_*.py", "a tokenizer", (_FIELD, _POPPED), maps=False)
        root = self.sources.place("transformers")
        for path in sorted(root[0].parent.glob("tokenization_*.py")) if root is not None else ():
            found += [Parameter(name=name, owner="a tokenizer") for name in _names(path, (_POPPED,))]
        return [*found, *(Parameter(name=name, owner="a tokenizer") for name in _SPECIAL)]

    def _below(
        self, pattern: str, owner: str, expressions: tuple[re.Pattern[bytes], ...], *, maps: bool
    ) -> list[Parameter]:
        root = self.sources.place("transformers")
        if root is None:
            return []
        found: dict[str, Parameter] = {}
        for path in sorted((root[0].parent / "models").glob(f"*/{pattern}")):
            for name in _names(path, expressions):
                found.setdefault(name, Parameter(name=name, owner=owner))
            if maps:
                for mapped in _MAPPED.finditer(path.read_bytes()):
                    for key in _KEY.findall(mapped[1]):
                        found.setdefault(key.decode(), Parameter(name=key.decode(), owner=owner))
        return list(found.values())


def _names(path: Path, expressions: tuple[re.Pattern[bytes], ...]) -> Iterator[str]:
    text = path.read_bytes()
    for expression in expressions:
        for name in expression.findall(text):
            if name[:1].islower() and not keyword.iskeyword(name.decode()):
                yield name.decode()
