"""Configs read as text: YAML, JSON and TOML with their lines, and what each of them asks of its reader."""

from affidavit.lint.configs.asked import ParserRequest
from affidavit.lint.configs.document import Document, Entry
from affidavit.lint.configs.kind import kind_of
from affidavit.lint.configs.named import Named
from affidavit.lint.configs.reader import read_document
from affidavit.lint.configs.reading import ConfigReading, read_configs

__all__ = [
    "ConfigReading",
    "Document",
    "Entry",
    "Named",
    "ParserRequest",
    "kind_of",
    "read_configs",
    "read_document",
]
