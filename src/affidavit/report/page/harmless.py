"""Which texts a stranger may read: those made of words that Affidavit itself writes, numbers, digests and versions.

A list of what to remove forgets what nobody thought of. So a text is withheld unless every word of it is known: from
our own source, where each term, check and instrument says what it can say, or from a short list of what everybody
calls the parts of a model.

Blind to: a name that somebody chose and that is one of these words; a folder called ``model`` tells nobody anything.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

WITHHELD = "withheld"
_PARTS_OF_MODELS = """
    a act activation adapter attn b base bias block c cls conv cross d dec decoder default dense down downsample emb
    embed embedding embeddings enc encoder expert experts fc ffn gate head heads in inner input k kv key l layer
    layernorm layers lm ln lora m magnitude mamba mixer mlp model module moe norm out output p patch pooler position
    post pre pro proj projection q qkv query r re residual rms root rotary router score self shared stem t token
    tokens tower transformer type up v value vector vision w weight word wpe wte x
"""
_COMMON_NAMES = """
    bfloat16 float16 float32 float64 float8 int8 uint8 int4 nf4 fp4 bf16 fp16 fp32 tf32 adam adamw adafactor adagrad
    lion lamb sgd rmsprop muon sophia paged cosine linear constant polynomial onecycle steplr exponential plateau
    warmup restarts flash efficient math cudnn eager sdpa flex xformers torch numpy transformers trl peft
    accelerate datasets lightning tokenizers safetensors bitsandbytes deepspeed triton vllm cpython linux darwin
    x86 amd64 aarch64 slurm torchrun messages prompt completion chosen rejected text labels ids mask
    system user assistant tool amsgrad betas eps maximize momentum nesterov dampening decoupled weight decay foreach
    fused capturable differentiable alpha rho initial accumulator value dataloader dataloadershard randomsampler
    seedablerandomsampler sequentialsampler distributedsampler batchsampler weightedrandomsampler lengthgroupedsampler
    seed lambdalr cosineannealinglr onecyclelr linearlr steplr sequentiallr
"""
_FAMILY = (
    r"(?:Bert|Bloom|Cohere|DeepSeek|Deepseek|Falcon|GPT|Gemma|Granite|Llama|Llava|MPT|Mamba|Mistral|Mixtral|Olmo|OPT|"
    r"Phi|Qwen|Roberta|SmolLM|T5|Vi[tT]|Whisper)"
)
_CLASS = re.compile(
    rf"{_FAMILY}[A-Z]{{0,3}}\d{{0,2}}(?:Text|Moe|VL|Vision)?"
    r"(?:For(?:CausalLM|MaskedLM|ConditionalGeneration|SequenceClassification|TokenClassification)|Model|LMHeadModel)"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NUMBER = re.compile(r"[-+]?\d[\d,]{0,14}(?:\.\d{1,8})?(?:[eE][-+]?\d{1,3})?%?")
_DIGEST = re.compile(r"(?:sha(?:1|256|512)|blake2b)(?:-[a-z0-9-]{1,24})?:[0-9a-f]{16,128}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OWNED = re.compile(r".*@([0-9a-f]{40}|[0-9a-f]{64})([,;]?)", re.DOTALL)
_RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,8}){1,3}(?:(?:a|b|rc|\.post|\.dev)\d{1,8})?(?:\+(?:cpu|cu\d{2,3}))?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,15}Z?)?")
_FILE = re.compile(
    r".*\.(?:arrow|bin|cfg|ckpt|csv|env|gguf|gz|html|ini|ipynb|jsonl?|lock|log|md|parquet|pt|pth|pyc?|safetensors|sh|"
    r"so|tar|toml|txt|ya?ml|zip)(?::\d+)?",
    re.IGNORECASE,
)
_OURS = ("affidavit.toml", "affidavit.lock", "manifest.json")
_EDGES = "()[]{}<>.,:;!?…⟦⟧\"'`“”‘’"
_BETWEEN = re.compile(r"[._=(){}\[\]:,+*×→…|#<>-]+")
_QUOTED = re.compile(r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'|`[^`\n]*`|“[^”]*”|‘[^’]*’")
_COMMAND = re.compile(r'"affidavit [a-z -]+"')
_FOREIGN = ("/", "\\", "@", "~", "$")
_SPEAKING = ("fact", "checks", "check", "instruments", "adapters", "observe", "record", "run")
_MOST_LETTERS = 2
"""Single letters that one name may have: more of them, and it may be anything."""


def text(said: str) -> str:
    """Return a text that is known word for word, else that it is withheld."""
    return said if all(map(_is_known, said.split())) and not _QUOTED.search(said) else WITHHELD


def prose(said: str) -> str:
    """Return a sentence in which each word that is not known, and whatever is quoted, is withheld."""
    unquoted = _QUOTED.sub(lambda found: found[0] if _is_command(found[0]) else WITHHELD, said)
    kept: list[str] = []
    for token in re.split(r"(\s+)", unquoted):
        shown = token if token.isspace() or _is_known(token) else _masked(token)
        if shown == WITHHELD and kept[-2:-1] == [WITHHELD]:
            kept.pop()
            continue
        kept.append(shown)
    return "".join(kept)


def module(path: str) -> str:
    """Return the path of a module, each part of it that is not known withheld."""
    parts = [part if _is_known(part) else WITHHELD for part in path.split(".")]
    return ".".join(part for place, part in enumerate(parts) if part != WITHHELD or parts[place - 1 : place] != [part])


def run(name: str) -> str:
    """Return the id of a run where it says when it began and nothing else."""
    return name if _RUN.fullmatch(name) else WITHHELD


def version(said: str) -> str:
    return said if _VERSION.fullmatch(said) else WITHHELD


def digest(said: str) -> str:
    return said if _DIGEST.fullmatch(said) else WITHHELD


def _is_command(quoted: str) -> bool:
    return bool(_COMMAND.fullmatch(quoted)) and all(_is_known(word) for word in quoted.strip('"').split())


def _masked(token: str) -> str:
    """Return a token of which only a commit may be told: the repository's name is a folder's."""
    owned = _OWNED.fullmatch(token)
    return f"{WITHHELD}@{owned[1]}{owned[2]}" if owned else WITHHELD


def _is_known(token: str) -> bool:
    core = token.strip(_EDGES).removesuffix("'s")
    if not core or any(pattern.fullmatch(core) for pattern in (_NUMBER, _DIGEST, _COMMIT, _RUN, _VERSION, _DATE)):
        return True
    if core in _OURS:
        return True
    if any(sign in token for sign in _FOREIGN) or _FILE.fullmatch(core) or not core.isascii():
        return not any(letter.isalnum() for letter in core)
    sides = [side for side in core.split("=") if not _NUMBER.fullmatch(side)]
    parts = [part for side in sides for part in _BETWEEN.split(side) if part]
    letters = sum(len(part) == 1 and part.isalpha() for part in parts)
    return letters <= _MOST_LETTERS and all(map(_is_word, parts))


def _is_word(part: str) -> bool:
    if _CLASS.fullmatch(part) or part.lower() in _lexicon():
        return True
    stem = part.rstrip("0123456789")
    if not stem:
        return len(part) <= 6
    return len(stem) > 2 and len(part) - len(stem) < 4 and stem.lower() in _lexicon()


@cache
def _lexicon() -> frozenset[str]:
    """Return every word that stands in the source of whatever says something of a run."""
    words = {*_PARTS_OF_MODELS.split(), *_COMMON_NAMES.split()}
    pending: list[Traversable] = [files("affidavit") / folder for folder in _SPEAKING]
    while pending:
        for entry in pending.pop().iterdir():
            if entry.is_dir() and entry.name != "__pycache__":
                pending.append(entry)
            elif entry.name.endswith(".py"):
                words.update(found.lower() for found in _WORD.findall(entry.read_text(encoding="utf-8")))
    return frozenset(words)
