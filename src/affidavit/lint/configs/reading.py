"""The configs of a project: what each asks of whom, and the keys that are lost on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.lint.configs import kind
from affidavit.lint.configs.asked import Asked, ParserRequest
from affidavit.lint.configs.certain import ask_certain
from affidavit.lint.configs.document import Document, twice
from affidavit.lint.configs.likely import Likely
from affidavit.lint.configs.named import Named, named_in_scripts
from affidavit.lint.configs.reader import read_document
from affidavit.lint.configs.taken import Lookup, ReadSomewhere
from affidavit.lint.configs.tooled import ask_tool
from affidavit.lint.request import Field, Request, Unread
from affidavit.lint.scripts.reading import Parser


@dataclass(frozen=True, kw_only=True)
class ConfigReading:
    """Everything that the config files of a project say.

    Args:
        requests: names for installed classes; a callee may be several, joined by " + ".
        parser_requests: names for parsers that fill no installed class, to be judged without a catalogue.
        fields: keys that are lost or changed, where the reader is certain.
        doubtful: the same where it is not: a person may want to look, a check may not refuse.
        fields_examined: how many keys were looked at, in files that are training configs.
        examined: those files.
        unread: files that are broken.
    """

    requests: tuple[Request, ...] = ()
    parser_requests: tuple[ParserRequest, ...] = ()
    fields: tuple[Field, ...] = ()
    doubtful: tuple[Field, ...] = ()
    fields_examined: int = 0
    examined: frozenset[Path] = frozenset()
    unread: tuple[Unread, ...] = ()


def read_configs(
    files: Sequence[Path],
    parsers: Sequence[Parser],
    lookup: Lookup,
    root: Path,
    *,
    named: Iterable[Named] = (),
    read_names: Container[str] = frozenset(),
    sites: Sequence[Path] = (),
) -> ConfigReading:
    """Return what these files ask for.

    Args:
        files: configs by their suffix; what is data or belongs to another program is passed over.
        parsers: the parsers of the project's scripts.
        lookup: the catalogue of what is installed.
        root: the folder that paths in scripts are relative to.
        named: files that a launcher or the command line hands to a certain reader; they are read as well.
        read_names: every name that a script of the project reads, so that a key is not called dropped that is not.
        sites: the folders of installed packages, where the schemas of DeepSpeed and axolotl are read.
    Blind to: a reader that nothing names and whose names the keys are not like; configs put together from several
        files (Hydra, OmegaConf); what a program does with a key after it has read it.
    """
    certain: dict[Path, list[Named]] = defaultdict(list)
    for one in (*named, *named_in_scripts(parsers, root)):
        certain[one.file.resolve()].append(one)
    resolved = {path.resolve(): path for path in files}
    asked, unread, examined = Asked(), [], set[Path]()
    elsewhere = ReadSomewhere(parsers, lookup, read_names)
    likely = Likely(parsers, lookup, root, read_names)
    for real, path in {**dict.fromkeys(certain), **resolved}.items():
        read = read_document(path or real, is_named=real in certain)
        if isinstance(read, Unread):
            unread.append(read)
            continue
        for document in read:
            before = len(asked.requests) + len(asked.parser_requests) + len(asked.fields) + len(asked.doubtful)
            what = kind.kind_of(document)
            _ask_one(asked, document, what, certain.get(real, ()), likely, lookup, elsewhere, sites)
            after = len(asked.requests) + len(asked.parser_requests) + len(asked.fields) + len(asked.doubtful)
            if what or real in certain or after > before:
                asked.fields_examined += len(document.names)
                examined.add(document.path)
                asked.fields.extend(_twice(document))
    return ConfigReading(
        requests=tuple(asked.requests),
        parser_requests=tuple(asked.parser_requests),
        fields=tuple(asked.fields),
        doubtful=tuple(asked.doubtful),
        fields_examined=asked.fields_examined,
        examined=frozenset(examined),
        unread=tuple(unread),
    )


def _ask_one(
    asked: Asked,
    document: Document,
    what: str,
    certain: Iterable[Named],
    likely: Likely,
    lookup: Lookup,
    elsewhere: Container[str],
    sites: Sequence[Path],
) -> None:
    is_named = False
    for one in certain:
        is_named = ask_certain(asked, document, one, lookup, elsewhere) or is_named
    if not is_named:
        if what in ("", kind.ARGUMENTS):
            likely.ask(asked, document, is_arguments=what == kind.ARGUMENTS)
        else:
            ask_tool(asked, document, what, lookup, sites)


def _twice(document: Document) -> Iterable[Field]:
    for before, after in twice(document.entries):
        was, now = before.value or f"a {before.tag}", after.value or f"a {after.tag}"
        said = f"stands twice: {was} here is lost, {now} in line {after.line} wins"
        yield Field(path=document.path, line=before.line, name=before.key, kind="twice", said=said)
