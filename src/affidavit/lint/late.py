"""Attributes that are set on a finished object: no signature refuses them, and nobody may read them."""

from __future__ import annotations

from collections.abc import Container, Iterable

from affidavit.lint.catalogue import Catalogue
from affidavit.lint.request import Field
from affidavit.lint.scripts.reading import Late
from affidavit.lint.union import short
from affidavit.names import history
from affidavit.names.signature import Signature


def late_fields(
    late: Iterable[Late], read_names: Container[str], catalogue: Catalogue
) -> tuple[tuple[Field, ...], int]:
    """Return the attributes that were once a field of their class and are none by now, and how many were looked at.

    Source: hf-stack-spike §1 (``args.warmup_ratio = .1``: no error, no warmup).
    Blind to: any other attribute, which the script may have made up for itself.
    """
    found: list[Field] = []
    examined = 0
    for one in late:
        signature = catalogue.find(one.callee)
        if not isinstance(signature, Signature):
            continue
        examined += 1
        told = history.said_of(signature.callee, one.name)
        if one.name in signature.parameters or not told or one.name in read_names:
            continue
        said = f"set on a finished {short(one.callee)}, which has no such field: {told}"
        found.append(Field(path=one.path, line=one.line, name=one.name, kind="late", said=said))
    return tuple(found), examined
