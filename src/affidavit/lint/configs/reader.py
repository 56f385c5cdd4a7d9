"""Which files are configs at all, and the text of one as documents."""

from __future__ import annotations

import re
from pathlib import Path

from affidavit.lint.configs.document import LARGEST_BYTES, Document
from affidavit.lint.configs.json_document import read_json
from affidavit.lint.configs.toml_document import read_toml
from affidavit.lint.configs.yaml_document import read_yaml
from affidavit.lint.request import Unread

SUFFIXES = {".yaml": read_yaml, ".yml": read_yaml, ".json": read_json, ".toml": read_toml}

_DATA = re.compile(
    r"""(?x) ^(?:
        (?:package|composer)(?:-lock)?\.json | pnpm-lock\.ya?ml | npm-shrinkwrap\.json | [jt]sconfig.*\.json
      | (?:tokenizer|vocab|merges|added_tokens|special_tokens_map|tokenizer_config|processor_config)\.json
      | (?:preprocessor_config|video_preprocessor_config|config|generation_config|trainer_state)\.json
      | (?:dataset_infos?|state|all_results|train_results|eval_results|quantize_config|params)\.json
      | .*\.index\.json | .*\.(?:ipynb|jsonl|arrow) | poetry\.lock | pyproject\.toml | [Cc]argo\.toml | uv\.toml
      | docker-compose.*\.ya?ml | compose\.ya?ml | mkdocs\.ya?ml | environment\.ya?ml | \..*
    )$"""
)
"""Files that other programs own, by name: no training argument stands in them, nor in hidden folders."""
_TEMPLATE = re.compile(r"\{\{|\{%")


def read_document(path: Path, *, is_named: bool = False) -> tuple[Document, ...] | Unread:
    """Return the mappings that a config file holds, none where it is data, or why it could not be read.

    One that somebody names as a config is read whatever it is called.

    Blind to: templates, which become a config when they are filled; files of more than 5 MiB.
    """
    reader = SUFFIXES.get(path.suffix.lower())
    if reader is None or (not is_named and _is_foreign(path)):
        return ()
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return ()
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return Unread(path=path, line=1, why=f"cannot be opened: {error.strerror}")
    except UnicodeDecodeError as error:
        return Unread(path=path, line=1, why=f"no UTF-8 text: {error.reason}")
    read = reader(path, text)
    return () if isinstance(read, Unread) and _TEMPLATE.search(text) else read


def _is_foreign(path: Path) -> bool:
    return _DATA.match(path.name) is not None or any(part.startswith(".") for part in path.parts[-3:-1])
