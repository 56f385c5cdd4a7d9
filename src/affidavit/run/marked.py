"""The marks beside what a run saved, as a witness: each was written before the seal, in a folder that travels on.

A mark names run, recipe, step and commit, and no digest: the seal came after it. So it witnesses those, and a record
that was written anew with another commit or recipe contradicts every checkpoint that is still there.

Blind to: every other fact; marks that were edited along with the record, or left by a later run in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.fact.observation import Known
from affidavit.record import artifact, file, manifest
from affidavit.record.manifest import Manifest
from affidavit.record.record import Record
from affidavit.record.standing import Examined, Standing
from affidavit.run.origin import Mark, read_mark

WHAT = "model mark"
_MOST = 200


def marked(folder: Path, root: Path) -> Examined | None:
    """Return whether the marks that a run left agree with its record; None where none is there any more."""
    try:
        sealed = manifest.decode(file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES))
        record = manifest.to_record(sealed)
    except AffidavitError:
        return None  # the manifest itself is told as broken
    steps: dict[str, set[int]] = {}
    for place in artifact.places(record)[:_MOST]:
        steps.setdefault(place.path, set()).add(place.step)
    last = max((attempt.number for attempt in sealed.attempts), default=0)  # an earlier one may have had other code
    agreed = 0
    for path, saved in steps.items():
        mark = read_mark(root / path)
        if mark is None or (mark.run, mark.attempt) != (sealed.run, last):
            continue
        wrong = next(_wrong(mark, sealed, record, saved), "")
        if wrong:
            return Examined(what=WHAT, standing=Standing.BROKEN, said=f"{path}/{names.MARK} says {wrong}")
        agreed += 1
    if not agreed:
        return None
    models = "1 saved model" if agreed == 1 else f"{agreed} saved models"
    return Examined(
        what=WHAT,
        standing=Standing.HOLDS,
        said=f"beside {models}: run, recipe, step and commit agree (a mark names no digest)",
    )


def _wrong(mark: Mark, sealed: Manifest, record: Record, steps: set[int]) -> Iterator[str]:
    """Yield what a mark says and its record does not."""
    if mark.recipe != sealed.recipe:
        yield f'recipe "{mark.recipe}", the record "{sealed.recipe}"'
    if mark.step not in steps:
        yield f"step {mark.step}, the record {', '.join(map(str, sorted(steps)))}"
    commits = {
        str(fact.state.value) for fact in record.facts if fact.name == "tree.commit" and isinstance(fact.state, Known)
    }
    if mark.commit and commits and mark.commit not in commits:
        yield f"commit {mark.commit:.12}, the record {', '.join(sorted(one[:12] for one in commits))}"
