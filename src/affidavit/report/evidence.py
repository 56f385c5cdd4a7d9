"""What the facts behind a finding say, in the few words that fit on a checklist."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from string import hexdigits

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.finding import Finding
from affidavit.fact.observation import Known
from affidavit.fact.values import Layers, Table, Tally, Value
from affidavit.record.compare import display

_LONGEST = 60
_ELSEWHERE = ("installed", "stdlib", "hub", "generated")
"""Verdicts on loaded files that no commit of the project answers for."""

_TRUSTED = ("guard", "gate", "observer")
"""What a project is asked to prove; each is its own plural with an s."""


def evidence(case: Case, findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return one phrase for each subject that the findings cite and the record knows, in the order of citation.

    A subject without a phrase of its own shows its cited terms with their values, so a new fact needs nothing here.

    Blind to: what other roles say; a difference is the finding's to tell.
    """
    cited: dict[str, list[str]] = {}
    for finding in findings:
        for need in map(Need.parse, finding.cites):
            if need.role == SUBJECT and need.name in case.vocabulary:
                names = cited.setdefault(need.name.partition(".")[0], [])
                names += [need.name] if need.name not in names else []
    phrases = (_PHRASES.get(subject, _plain)(case, tuple(names)) for subject, names in cited.items())
    return tuple(phrase for phrase in phrases if phrase)


def _known(case: Case, name: str) -> Value | None:
    """Return what the lowest rank that knows it says, or None."""
    return next((value for _, value in case.values(name)), None)


def _said(case: Case, name: str) -> str:
    """Return what the ranks say, each saying once, or nothing where none knows it."""
    return " and ".join(dict.fromkeys(display(value) for _, value in case.values(name)))


def added(case: Case, name: str) -> Tally | None:
    """Return a tally added up over all ranks that know it, or None where none does."""
    total: Tally | None = None
    for fact in case.facts(name):
        if isinstance(fact.state, Known) and isinstance(fact.state.value, Tally):
            for kind, count in fact.state.value.counts:
                total = (total or Tally(fact.state.value.of, ())).plus(kind, count * max(len(fact.ranks), 1))
    return total


def _attention(case: Case, names: tuple[str, ...]) -> str:
    asked, kernels = _said(case, "attention.requested"), _said(case, "attention.kernels")
    layers = _known(case, "attention.configured")
    if isinstance(layers, Layers) and not layers.runs:
        return "no attention"
    count = len(layers.expand()) if isinstance(layers, Layers) else 0
    where = f" on {count} {'layer' if count == 1 else 'layers'}" if count else ""
    said = [f"{'none' if asked == 'unstated' else asked} asked"] if asked else []
    if kernels:
        said.append(f"{kernels} ran{where}")
    elif isinstance(layers, Layers):
        said.append(f"{', '.join(layers.kinds)} configured{where}")
    return f"attention: {', '.join(said)}" if said else ""


def _tokens(case: Case, names: tuple[str, ...]) -> str:
    lit, seen = added(case, "tokens.supervised_by_role"), added(case, "tokens.seen_by_role")
    if lit is None:
        return ""
    of = f" of {seen.total:,}" if seen else ""
    return f"loss on {', '.join(lit.kinds) or 'no role'}: {lit.total:,}{of} tokens"


def _adapter(case: Case, names: tuple[str, ...]) -> str:
    kind = _known(case, "adapter.kind")
    if kind is None:
        return ""
    if kind == "none":
        return "no adapter"
    matched, trained = _known(case, "adapter.matched"), _known(case, "adapter.trained")
    if not isinstance(matched, Tally):
        return display(kind)
    on = f"trained on {trained.total:,} of" if isinstance(trained, Tally) else "matched"
    return f"{display(kind)} {on} {matched.total:,} modules"


def _precision(case: Case, names: tuple[str, ...]) -> str:
    ran = _said(case, "precision.matmul_types")
    return f"products in {ran}" if ran else ""


def _optimizer(case: Case, names: tuple[str, ...]) -> str:
    kind, rate = _said(case, "optimizer.kind"), _known(case, "optimizer.learning_rate")
    return f"{kind} at {rate:g}" if kind and isinstance(rate, float) else kind


def _schedule(case: Case, names: tuple[str, ...]) -> str:
    kind = _said(case, "schedule.kind")
    return f"schedule: {kind}" if kind else ""


def _batch(case: Case, names: tuple[str, ...]) -> str:
    rows = _known(case, "batch.effective")
    return f"{rows:,} {'row' if rows == 1 else 'rows'} a step" if isinstance(rows, int) else ""


def _weights(case: Case, names: tuple[str, ...]) -> str:
    moved = added(case, "weights.moved")
    return f"weights: {moved}" if moved else ""


def _tree(case: Case, names: tuple[str, ...]) -> str:
    commit, examined = _known(case, "tree.commit"), _known(case, "tree.files_examined")
    said = [_commit(display(commit)) if commit is not None else ""]
    said.append(f"{_files(examined)} examined" if isinstance(examined, int) else "")
    said.append(_deviating(case, "tree.deviations") if examined else "")
    return ", ".join(part for part in said if part)


def _commit(name: str) -> str:
    """Return a commit's short name; the words that stand where there is none are not cut."""
    return f"commit {name[:12]}" if set(name) <= set(hexdigits) else name


def _code(case: Case, names: tuple[str, ...]) -> str:
    """Say how many files ran; only the project's are held against a commit, so they alone may be called committed."""
    files = _known(case, "code.files_by_verdict")
    if not isinstance(files, Tally):
        return _deviating(case, "code.deviations")
    own = files.total - sum(files[verdict] for verdict in _ELSEWHERE)
    said = [f"{_files(files.total)} ran", f"{own or 'none'} of the project"]
    said.append(_deviating(case, "code.deviations") if own else "")
    return ", ".join(part for part in said if part)


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"


def _deviating(case: Case, name: str) -> str:
    table = _known(case, name)
    if not isinstance(table, Table):
        return ""
    if not table.rows:
        return "all as committed"
    answer, _, said = str(_known(case, "tree.gate") or "").partition(" ")
    why = {"snapshot": ", kept in a snapshot", "allow:": f", allowed: {said}"}.get(answer, "")
    return f"{len(table.rows)} not as committed{why}"


def _cache(case: Case, names: tuple[str, ...]) -> str:
    canaries = [name for name in ("cache.canary", "cache.declared") if name in names]
    tables = [value for name in canaries for _, value in case.values(name) if isinstance(value, Table)]
    rows = [row for table in tables for row in table.records(examined=int, different=int, bound=(int, float))]
    if not any(row["examined"] for row in rows):
        return ""
    examined = sum(int(row["examined"]) for row in rows)
    different = sum(int(row["different"]) for row in rows)
    worst = max(float(row["bound"]) for row in rows)
    said = f"cache: {different:,} of {examined:,} recomputed rows differ"
    if different:
        return said
    return f"{said}, with 95 % confidence fewer than {100 * worst:.2g} %" if worst else f"{said}, which is all of them"


def _names(case: Case, names: tuple[str, ...]) -> str:
    examined, unread = _known(case, "names.examined"), _rows(case, "names.unread")
    if not isinstance(examined, Tally) or not examined.total:
        return ""
    count = given(examined)
    told = [f"{len(table.rows)} {word}" for word in ("unknown", "doubted") if (table := _rows(case, f"names.{word}"))]
    if unread is not None:
        first = unread.records(path=str, said=str)[:1]
        told += [f"{row['path']}: {row['said']}" for row in first]
    return f"{count:,} {'name' if count == 1 else 'names'} given, {' and '.join(told) or 'all known'}"


def _claims(case: Case, names: tuple[str, ...]) -> str:
    examined = _known(case, "claims.examined")
    if not isinstance(examined, Tally) or not examined.total:
        return ""
    wrong = {"unbound": "wrong", "copies": "copied", "doubted": "doubted", "stale": "of other code"}
    told = [f"{len(table.rows)} {word}" for name, word in wrong.items() if (table := _rows(case, f"claims.{name}"))]
    bound, old = examined["bound"], examined["old values"]
    of = f"{bound} {'claim' if bound == 1 else 'claims'} held, {old} old {'value' if old == 1 else 'values'} looked for"
    return f"{of}: {', '.join(told) or 'none wrong'}"


def given(examined: Tally) -> int:
    """Return how many names were given; what nobody could read is counted beside them and is none."""
    return sum(examined[kind] for kind in ("script", "config", "launcher"))


def _rows(case: Case, name: str) -> Table | None:
    """Return a table that has any rows."""
    table = _known(case, name)
    return table if isinstance(table, Table) and table.rows else None


def _fields(case: Case, names: tuple[str, ...]) -> str:
    examined, unread = _known(case, "fields.examined"), _rows(case, "fields.unread")
    if not isinstance(examined, int) or not examined:
        return ""
    return f"{examined:,} {'field' if examined == 1 else 'fields'}, {len(unread.rows) if unread else 'none'} unread"


def _config(case: Case, names: tuple[str, ...]) -> str:
    owned = _rows(case, "config.owners")
    if owned is None:
        return ""
    count = len({row["value"] for row in owned.records(value=str)})
    return f"{count} {'value' if count == 1 else 'values'} asked for in several places"


def _instruments(case: Case, names: tuple[str, ...]) -> str:
    """Say how many guards and gates are proved, and since when; what is not stands in the finding."""
    proofs = _rows(case, "instruments.proofs")
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
    answers = _rows(case, "gates.answers")
    if answers is None:
        return ""
    codes = [row["code"] for row in answers.records(code=int)]
    return f"{codes.count(0)} of {counted(len(codes), 'gate')} said yes"


def _attestations(case: Case, names: tuple[str, ...]) -> str:
    answers = _rows(case, "attestations.answers")
    if answers is None:
        return ""
    in_force = sum(not row["why"] for row in answers.records(why=str))
    return f"{in_force} of {counted(len(answers.rows), 'attestation')} in force"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _plain(case: Case, names: tuple[str, ...]) -> str:
    said = (f"{name} {saying}" for name in names if (saying := _said(case, name)))
    return ", ".join(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in said)


def _silent(case: Case, names: tuple[str, ...]) -> str:
    """Say nothing of a subject that fits in no few words, or that the report tells elsewhere."""
    return ""


_PHRASES: dict[str, Callable[[Case, tuple[str, ...]], str]] = {
    **dict.fromkeys(("run", "modes", "loader", "loop", "model", "determinism", "dataset"), _silent),
    "attention": _attention,
    "tokens": _tokens,
    "adapter": _adapter,
    "precision": _precision,
    "optimizer": _optimizer,
    "schedule": _schedule,
    "batch": _batch,
    "weights": _weights,
    "names": _names,
    "claims": _claims,
    "config": _config,
    "fields": _fields,
    "tree": _tree,
    "code": _code,
    "cache": _cache,
    "instruments": _instruments,
    "gates": _gates,
    "attestations": _attestations,
}
