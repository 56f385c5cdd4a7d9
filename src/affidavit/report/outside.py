"""What is known from outside of a training, in the few words that fit on a checklist: files, gates, records."""

from __future__ import annotations

from collections.abc import Callable
from string import hexdigits

from affidavit.case import Case
from affidavit.fact.values import Table, Tally
from affidavit.record.compare import display
from affidavit.report.known import counted, known, rows_of

_ELSEWHERE = ("installed", "stdlib", "hub", "generated")
"""Verdicts on loaded files that no commit of the project answers for."""
_TRUSTED = ("guard", "gate", "observer")
"""What a project is asked to prove; each is its own plural with an s."""


def _tree(case: Case, names: tuple[str, ...]) -> str:
    commit, examined = known(case, "tree.commit"), known(case, "tree.files_examined")
    said = [_commit(display(commit)) if commit is not None else ""]
    said.append(f"{_files(examined)} examined" if isinstance(examined, int) else "")
    said.append(_deviating(case, "tree.deviations") if examined else "")
    return ", ".join(part for part in said if part)


def _commit(name: str) -> str:
    """Return a commit's short name; the words that stand where there is none are not cut."""
    return f"commit {name[:12]}" if set(name) <= set(hexdigits) else name


def _code(case: Case, names: tuple[str, ...]) -> str:
    """Say how many files ran; only the project's are held against a commit, so they alone may be called committed."""
    files = known(case, "code.files_by_verdict")
    if not isinstance(files, Tally):
        return _deviating(case, "code.deviations")
    own = files.total - sum(files[verdict] for verdict in _ELSEWHERE)
    said = [f"{_files(files.total)} ran", f"{own:,} of the project" if own else "none of the project"]
    said.append(_deviating(case, "code.deviations") if own else "")
    return ", ".join(part for part in said if part)


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"


def _deviating(case: Case, name: str) -> str:
    table = known(case, name)
    if not isinstance(table, Table):
        return ""
    if not table.rows:
        return "all as committed"
    answer, _, said = str(known(case, "tree.gate") or "").partition(" ")
    why = {"snapshot": ", kept in a snapshot", "allow:": f", allowed: {said}"}.get(answer, "")
    return f"{len(table.rows)} not as committed{why}"


def _names(case: Case, names: tuple[str, ...]) -> str:
    examined, unread = known(case, "names.examined"), rows_of(case, "names.unread")
    if not isinstance(examined, Tally) or not examined.total:
        return ""
    count = given(examined)
    told = [f"{len(table.rows)} {word}" for word in ("unknown", "doubted") if (table := rows_of(case, f"names.{word}"))]
    if unread is not None:
        first = unread.records(path=str, said=str)[:1]
        told += [f"{row['path']}: {row['said']}" for row in first]
    return f"{count:,} {'name' if count == 1 else 'names'} given, {' and '.join(told) or 'all known'}"


def given(examined: Tally) -> int:
    """Return how many names were given; what nobody could read is counted beside them and is none."""
    return sum(examined[kind] for kind in ("script", "config", "launcher"))


def _claims(case: Case, names: tuple[str, ...]) -> str:
    examined = known(case, "claims.examined")
    if not isinstance(examined, Tally) or not examined.total:
        return ""
    wrong = {"unbound": "wrong", "copies": "copied", "doubted": "doubted", "stale": "of other code"}
    told = [f"{len(table.rows)} {word}" for name, word in wrong.items() if (table := rows_of(case, f"claims.{name}"))]
    bound, old = examined["bound"], examined["old values"]
    of = f"{bound} {'claim' if bound == 1 else 'claims'} held, {old} old {'value' if old == 1 else 'values'} looked for"
    return f"{of}: {', '.join(told) or 'none wrong'}"


def _fields(case: Case, names: tuple[str, ...]) -> str:
    examined, unread = known(case, "fields.examined"), rows_of(case, "fields.unread")
    if not isinstance(examined, int) or not examined:
        return ""
    return f"{examined:,} {'field' if examined == 1 else 'fields'}, {len(unread.rows) if unread else 'none'} unread"


def _config(case: Case, names: tuple[str, ...]) -> str:
    owned = rows_of(case, "config.owners")
    if owned is None:
        return ""
    count = len({row["value"] for row in owned.records(value=str)})
    return f"{count} {'value' if count == 1 else 'values'} asked for in several places"


def _instruments(case: Case, names: tuple[str, ...]) -> str:
    """Say how many guards and gates are proved, and since when; what is not stands in the finding."""
    proofs = rows_of(case, "instruments.proofs")
    if proofs is None:
        return ""
    rows = [row for row in proofs.records(kind=str, name=str, word=str, date=str) if row["kind"] in _TRUSTED]
    proved = [row for row in rows if row["word"] in ("PROVED", "WEAK")]
    kinds = [str(row["kind"]) for row in proved]
    parts = [counted(kinds.count(kind), kind) for kind in _TRUSTED if kind in kinds]
    said = [f"{' and '.join(parts)} proved"] if parts else []
    said += [f"{row['kind']} {row['name']} {row['word']}" for row in rows if row not in proved][:1]
    said += [f"{len(rows) - len(proved) - 1} more not proved"] if len(proved) + 1 < len(rows) else []
    dates = sorted(str(row["date"]) for row in proved if row["date"])
    said += [f"the oldest {dates[0]}"] if dates else []
    return ", ".join(said)


def _gates(case: Case, names: tuple[str, ...]) -> str:
    read = _read(case, "gate", "cannot say no") if "gates.inert" in names else ""
    answers = rows_of(case, "gates.answers") if "gates.answers" in names else None
    codes = [row["code"] for row in answers.records(code=int)] if answers else []
    asked = f"{codes.count(0)} of {counted(len(codes), 'gate')} said yes" if codes else ""
    return "; ".join(part for part in (read, asked) if part)


def _attestations(case: Case, names: tuple[str, ...]) -> str:
    answers = rows_of(case, "attestations.answers")
    if answers is None:
        return ""
    in_force = sum(not row["why"] for row in answers.records(why=str))
    return f"{in_force} of {counted(len(answers.rows), 'attestation')} in force"


def _alarms(case: Case, names: tuple[str, ...]) -> str:
    return _read(case, "alarm", "cannot say dead")


def _read(case: Case, noun: str, lacks: str) -> str:
    """Say how many commands of launchers were read as gates, or as alarms, and what of them was found."""
    examined, inert = known(case, f"{noun}s.examined"), rows_of(case, f"{noun}s.inert")
    if not isinstance(examined, int) or not examined:
        return ""
    return f"{counted(examined, noun)} read, {len(inert.rows) if inert else 'none'} that {lacks}"


def _run(case: Case, names: tuple[str, ...]) -> str:
    """Say of several ranks that each was one process; the rest of a run stands in the head of every report."""
    writers, ranks = known(case, "run.writers"), known(case, "run.ranks")
    if "run.writers" not in names or not isinstance(writers, Table) or writers.rows or not isinstance(ranks, int):
        return ""
    return f"{counted(ranks, 'rank')}, one process each" if ranks > 1 else ""


def _references(case: Case, names: tuple[str, ...]) -> str:
    examined, broken = known(case, "references.examined"), rows_of(case, "references.broken")
    if not isinstance(examined, int) or not examined:
        return ""
    return f"{counted(examined, 'reference')}, {len(broken.rows) if broken else 'none'} broken"


def _record(case: Case, names: tuple[str, ...]) -> str:
    earlier = rows_of(case, "record.built_on")
    if earlier is None:
        return ""
    touched = sum(row["standing"] != "holds" for row in earlier.records(standing=str))
    return f"{counted(len(earlier.rows), 'earlier record')}, {touched or 'none'} touched since"


PHRASES: dict[str, Callable[[Case, tuple[str, ...]], str]] = {
    "names": _names,
    "claims": _claims,
    "config": _config,
    "fields": _fields,
    "tree": _tree,
    "code": _code,
    "instruments": _instruments,
    "gates": _gates,
    "attestations": _attestations,
    "alarms": _alarms,
    "run": _run,
    "record": _record,
    "references": _references,
}
