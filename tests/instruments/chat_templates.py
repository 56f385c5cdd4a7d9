"""Chat templates as well-known models ship them, without their tool parts, and a tokenizer that writes with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

SPECIAL = re.compile(
    r"(<\|[^|>]+\|>|<start_of_turn>|<end_of_turn>|<\|turn>|<turn\|>|<bos>|</?s>|\[/?INST\]|<<SYS>>|<</SYS>>|<｜[^｜]+｜>)"
)

TEMPLATES = {
    "chatml": (
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'"
        " + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "chatml, default system": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}"
        "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    ),
    "qwen 3": (
        "{%- set ns = namespace(last=-1) %}{%- for message in messages %}{%- if message.role == 'user' %}"
        "{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}"
        "{%- for message in messages %}{%- if message.role == 'assistant' and loop.index0 > ns.last %}"
        "{{- '<|im_start|>assistant\n<think>\n\n</think>\n\n' + message.content.lstrip('\n') + '<|im_end|>\n' }}"
        "{%- else %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{%- endif %}"
        "{%- endfor %}"
    ),
    "gemma 2": (
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% set role = 'model' if"
        " message['role'] == 'assistant' else message['role'] %}{{ '<start_of_turn>' + role + '\n' +"
        " message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    ),
    "gemma 3": (
        "{{ bos_token }}{%- if messages[0]['role'] == 'system' -%}{%- set first = messages[0]['content'] + '\n\n' -%}"
        "{%- set talk = messages[1:] -%}{%- else -%}{%- set first = '' -%}{%- set talk = messages -%}{%- endif -%}"
        "{%- for message in talk -%}{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}"
        "{{ '<start_of_turn>' + role + '\n' + (first if loop.first else '') }}{{ message['content'] | trim }}"
        "{{ '<end_of_turn>\n' }}{%- endfor -%}"
    ),
    "gemma 4": (
        "{{ bos_token }}{% for message in messages %}"
        "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
        "{{ '<|turn>' + role + '\n' + message['content'] + '<turn|>' + '\n' }}{% endfor %}"
    ),
    "llama 3": (
        "{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>"
        "\n\n' + message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
        "{% set content = '<|begin_of_text|>' + content %}{% endif %}{{ content }}{% endfor %}"
    ),
    "llama 3.1": (
        "{{- '<|begin_of_text|>' }}{%- if messages[0]['role'] == 'system' %}{%- set system = messages[0]['content']"
        "|trim %}{%- set messages = messages[1:] %}{%- else %}{%- set system = '' %}{%- endif %}"
        "{{- '<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: "
        "26 Jul 2024\n\n' }}{{- system }}{{- '<|eot_id|>' }}{%- for message in messages %}"
        "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim +"
        " '<|eot_id|>' }}{%- endfor %}"
    ),
    "llama 2": (
        "{% if messages[0]['role'] == 'system' %}{% set talk = messages[1:] %}{% set system = messages[0]['content'] %}"
        "{% else %}{% set talk = messages %}{% set system = false %}{% endif %}{% for message in talk %}"
        "{% if loop.index0 == 0 and system %}{% set content = '<<SYS>>\n' + system + '\n<</SYS>>\n\n' +"
        " message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}"
        "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
        "{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
    ),
    "mistral": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
        "{{ '[INST] ' + message['content'] + '[/INST]' }}{% elif message['role'] == 'assistant' %}"
        "{{ ' ' + message['content'] + eos_token }}{% else %}{{ raise_exception('Only user and assistant roles') }}"
        "{% endif %}{% endfor %}"
    ),
    "zephyr": (
        "{% for message in messages %}{% if message['role'] == 'user' %}{{ '<|user|>\n' + message['content'] +"
        " eos_token }}{% elif message['role'] == 'system' %}{{ '<|system|>\n' + message['content'] + eos_token }}"
        "{% else %}{{ '<|assistant|>\n'  + message['content'] + eos_token }}{% endif %}{{ '\n' }}{% endfor %}"
    ),
    "phi 3": (
        "{% for message in messages %}{{'<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n'}}"
        "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ '<|endoftext|>' }}{% endif %}"
    ),
    "deepseek": (
        "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] }}"
        "{% elif message['role'] == 'user' %}{{ '<｜User｜>' + message['content'] }}"
        "{% else %}{{ '<｜Assistant｜>' + message['content'] + '<｜end▁of▁sentence｜>' }}{% endif %}{% endfor %}"
    ),
    "alpaca": (
        "{% for message in messages %}{% if message['role'] == 'user' %}{{ '### Instruction:\n' + message['content'] +"
        " '\n\n' }}{% elif message['role'] == 'system' %}{{ message['content'] + '\n\n' }}{% else %}"
        "{{ '### Response:\n' + message['content'] + eos_token + '\n\n' }}{% endif %}{% endfor %}"
    ),
    "vicuna": (
        "{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] + ' ' }}"
        "{% elif message['role'] == 'user' %}{{ 'USER: ' + message['content'] + ' ' }}"
        "{% else %}{{ 'ASSISTANT: ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
    ),
}
BOS = {"llama 3": "<|begin_of_text|>", "deepseek": "<｜begin▁of▁sentence｜>"}
EOS = {"chatml": "<|im_end|>", "phi 3": "<|endoftext|>"}
NO_SYSTEM = ("gemma 2", "mistral")
"""These refuse a system message."""
MERGED_SYSTEM = ("gemma 3", "llama 2", "deepseek", "alpaca", "vicuna")
"""These write it without a heading of its own, so that no token says it is the system's."""
NO_END = {"user": ("deepseek", "alpaca", "vicuna")}
"""Templates in which nothing closes a user's turn."""


def _refuse(message: str) -> None:
    raise TemplateError(message)


@dataclass
class ChatTokenizer:
    """Writes with a template, and splits into special tokens and pieces of so many letters, each within its line."""

    template: str
    pad: int | None = 0
    ends: frozenset[int] = frozenset((1,))
    size: int = 3
    lines: bool = True
    _ids: dict[str, int] = field(default_factory=lambda: {"<pad>": 0})

    @property
    def begin(self) -> int | None:
        """The id of the mark that begins a text, once it was written."""
        return self._ids.get(self._bos)

    @property
    def _bos(self) -> str:
        return BOS.get(self.template, "<bos>" if "gemma" in self.template else "<s>")

    def render(self, messages: Sequence[tuple[str, str]], *, asks: bool = False) -> str | None:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        written = environment.from_string(TEMPLATES[self.template])
        talk = [{"role": role, "content": content} for role, content in messages]
        try:
            return written.render(
                messages=talk,
                bos_token=self._bos,
                eos_token=EOS.get(self.template, "</s>"),
                add_generation_prompt=asks,
            )
        except TemplateError:
            return None

    def split(self, text: str) -> list[str]:
        """Return the pieces of a text; no piece crosses the border of a special token."""
        pieces: list[str] = []
        parts = [line for part in SPECIAL.split(text) for line in (re.split(r"(\n+)", part) if self.lines else [part])]
        for part in parts:
            if SPECIAL.fullmatch(part):
                pieces.append(part)
            else:
                pieces += [part[at : at + self.size] for at in range(0, len(part), self.size)]
        return [piece for piece in pieces if piece]

    def encode(self, text: str) -> list[int]:
        return [self._ids.setdefault(piece, len(self._ids)) for piece in self.split(text)]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        known: dict[int, str] = {number: piece for piece, number in self._ids.items()}
        return [known.get(number, "?") for number in ids]

    def text(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces(ids))


def roles_by_letter(text: str, messages: Sequence[tuple[str, str]]) -> list[tuple[str, int]]:
    """Return, for each letter of a rendered text, the role and place of the message whose content it belongs to."""
    found: list[tuple[str, int]] = [("", -1)] * len(text)
    position = 0
    for place, (role, written) in enumerate(messages):
        content = written if written in text else written.strip()
        at = text.index(content, position)
        position = at + len(content)
        found[at:position] = [(role, place)] * len(content)
    return found
