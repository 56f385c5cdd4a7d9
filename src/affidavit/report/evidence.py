"""What the facts behind a finding say, in the few words that fit on a checklist."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from affidavit.case import SUBJECT, Case, Need
from affidavit.check.finding import Finding
from affidavit.fact.values import Layers, Table, Tally
from affidavit.record.compare import display
from affidavit.report.known import added, all_say, known
from affidavit.report.outside import PHRASES

_LONGEST = 60


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


def _attention(case: Case, names: tuple[str, ...]) -> str:
    asked, kernels = all_say(case, "attention.requested"), all_say(case, "attention.kernels")
    layers = known(case, "attention.configured")
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
    kind = known(case, "adapter.kind")
    if kind is None:
        return ""
    if kind == "none":
        return "no adapter"
    matched, trained = known(case, "adapter.matched"), known(case, "adapter.trained")
    if not isinstance(matched, Tally):
        return display(kind)
    on = f"trained on {trained.total:,} of" if isinstance(trained, Tally) else "matched"
    return f"{display(kind)} {on} {matched.total:,} modules"


def _precision(case: Case, names: tuple[str, ...]) -> str:
    ran = all_say(case, "precision.matmul_types")
    return f"products in {ran}" if ran else ""


def _optimizer(case: Case, names: tuple[str, ...]) -> str:
    kind, rate = all_say(case, "optimizer.kind"), known(case, "optimizer.learning_rate")
    return f"{kind} at {rate:g}" if kind and isinstance(rate, float) else kind


def _schedule(case: Case, names: tuple[str, ...]) -> str:
    kind = all_say(case, "schedule.kind")
    return f"schedule: {kind}" if kind else ""


def _batch(case: Case, names: tuple[str, ...]) -> str:
    rows = known(case, "batch.effective")
    return f"{rows:,} {'row' if rows == 1 else 'rows'} a step" if isinstance(rows, int) else ""


def _weights(case: Case, names: tuple[str, ...]) -> str:
    moved = added(case, "weights.moved")
    return f"weights: {moved}" if moved else ""


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


def _plain(case: Case, names: tuple[str, ...]) -> str:
    said = (f"{name} {saying}" for name in names if (saying := all_say(case, name)))
    return ", ".join(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in said)


def _silent(case: Case, names: tuple[str, ...]) -> str:
    """Say nothing of a subject that fits in no few words, or that the report tells elsewhere."""
    return ""


_PHRASES: dict[str, Callable[[Case, tuple[str, ...]], str]] = {
    **dict.fromkeys(("modes", "loader", "loop", "model", "determinism", "dataset"), _silent),
    "attention": _attention,
    "tokens": _tokens,
    "adapter": _adapter,
    "precision": _precision,
    "optimizer": _optimizer,
    "schedule": _schedule,
    "batch": _batch,
    "weights": _weights,
    "cache": _cache,
    **PHRASES,
}
