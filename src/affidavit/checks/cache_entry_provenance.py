"""What a run opened of an earlier one's is what this run asks for, and what its own manifest claims."""

from __future__ import annotations

from affidavit.case import Case, case_of
from affidavit.check import Fail, Landmine, Outcome, Pass, Site, Unproven, check
from affidavit.fact.observation import Known
from affidavit.fact.values import Cell, Table, Value

LINEAGE = ("path", "holds", "run", "known_by", "made", "term", "built")
CLAIMS = ("manifest", "key", "claimed", "file", "run", "read")
ROLES = "tokens.supervised_roles"
_MEANS = "The run trains on what another run had built; its own record describes an encoding that it never made."
_ACTION = "Remove the file, so that this run builds its own, and take what was left out into the cache's key."


def _was_encoded(lineage: Value) -> bool:
    return isinstance(lineage, Table) and any(row["holds"] and _is_proven(row) for row in lineage.records())


def _is_proven(row: dict[str, Cell]) -> bool:
    """Say whether a run is known to have made a file, and not only to have gone on while somebody did."""
    return row["known_by"] != "time"


@check(
    "cache-entry-provenance",
    needs=("cache.lineage", "cache.claims"),
    when=(("cache.lineage", _was_encoded),),
    landmine=Landmine.CACHE,
    unaffected="the attention, the adapters, the code, and data that no recorded run had made",
)
def cache_entry_provenance(case: Case) -> Outcome:
    """A cache says under which name its entry lies, and not with what it was built; a manifest says what was asked.

    Run 1 built an encoding with one mask, run 2 asks for another, and the name of the file is the same. What was built
    is taken from the record of the run that built it, what is asked from this run's request, its [expect] or the lock,
    what was trained on from its own lit tokens; a digest that its manifest claims, from what the build had read.

    Source: playbook §4.1; silent-failure-corpus L1, D13. Blind to: entries that no recorded run is proven to have
    made; entries that hold no labels and no ids; claims of digests of what is in no file.
    """
    examined = 0
    for _, claims in case.values("cache.claims"):
        assert isinstance(claims, Table)
        for claim in claims.records():
            if claim["read"] != claim["claimed"]:
                return _contradicted(case, claim)
            examined += 1
    wanted, whose = _wanted(case)
    trained = [roles for _, roles in case.values(ROLES)]
    for _, lineage in case.values("cache.lineage"):
        assert isinstance(lineage, Table)
        for row in lineage.records():
            if not _is_proven(row):
                continue
            examined += bool(row["holds"])
            if row["term"] != ROLES or "labels" not in str(row["holds"]) or not wanted or not _stands(case, row):
                continue
            if row["built"] == wanted:
                continue
            if not trained:
                return Unproven(f"{row['path']} was built on {row['built']}, and what this run trains on was not seen")
            if any(_told(roles) == row["built"] for roles in trained):
                return _built_otherwise(row, wanted, whose)
    return Pass(examined)


def _wanted(case: Case) -> tuple[str, str]:
    """Return the roles whose tokens this run shall train on, and who says so; "" where nobody does."""
    for _, asked in case.values("tokens.supervision_requested"):
        if asked == "assistant":
            return "assistant", "the script"
    for role, whose in (("expected", "affidavit.toml"), ("lock", "affidavit.lock")):
        for _, roles in case.values(f"{role}/{ROLES}"):
            return _told(roles), whose
    return "", ""


def _told(roles: Value) -> str:
    return ", ".join(map(str, roles)) if isinstance(roles, tuple) else str(roles)


def _stands(case: Case, row: dict[str, Cell]) -> bool:
    """Say whether no correction of the build's record has felled since what the lineage took from it."""
    built = case.records.get("built")
    if built is None or built.subject != row["run"]:
        return True
    return any(isinstance(fact.state, Known) for fact in built.find(ROLES))


def _built_otherwise(row: dict[str, Cell], wanted: str, whose: str) -> Fail:
    return Fail(
        expected=f"an encoding built for tokens of {wanted} ({whose})",
        saw=f"{row['path']}, built by run {row['run']} for tokens of {row['built']}, and this run trains on those",
        means=_MEANS,
        action=_ACTION,
        sites=(Site(path=str(row["path"]), key=ROLES),),
    )


def _contradicted(case: Case, claim: dict[str, Cell]) -> Fail:
    had = f"read other bytes of it ({str(claim['read'])[:12]})" if claim["read"] else "never read it"
    path, roles = "the entry", ""
    for _, lineage in case.values("cache.lineage"):
        rows = lineage.records() if isinstance(lineage, Table) else ()
        for row in rows:
            if row["run"] == claim["run"] and row["holds"]:
                path = str(row["path"])
                roles = f" for tokens of {row['built']}" if row["term"] == ROLES else roles
    said = f"{claim['key']} in {claim['manifest']}"
    return Fail(
        expected=f"{path} built with {claim['file']}, {str(claim['claimed'])[:12]} ({said})",
        saw=f"it was built{roles} by run {claim['run']}, which {had}",
        means=_MEANS,
        action=_ACTION,
        sites=(Site(path=str(claim["manifest"]), key=str(claim["key"])),),
    )


@cache_entry_provenance.healthy
def _() -> Case:
    head = ("cache/train.jsonl", "ids, labels", "20260101T120000Z-1f2e3d", "content", "2026-01-01T12:00:30Z")
    rows = ((*head, ROLES, "assistant"), (*head, "tokens.form", "chat"))
    claim = ("out/manifest.json", "mask_sha256", "ab" * 32, "mask.json", head[2], "ab" * 32)
    run: dict[str, Value] = {
        "cache.lineage": Table(LINEAGE, rows),
        "cache.claims": Table(CLAIMS, (claim,)),
        "tokens.supervision_requested": "assistant",
        ROLES: ("assistant",),
    }
    return case_of(run=run, ranks=2)


@cache_entry_provenance.sabotage("the entry was built for every token, and the run trains on them")
def _(case: Case) -> Case:
    case = case.altered("cache.lineage", lambda lineage: lineage.with_cell(0, "built", "assistant, user"))
    return case.altered(ROLES, ("assistant", "user"), rank=0)


@cache_entry_provenance.sabotage("the build had read another mask")
def _(case: Case) -> Case:
    return case.altered("cache.claims", lambda claims: claims.with_cell(0, "read", "cd" * 32))


@cache_entry_provenance.sabotage("the build had read no mask at all")
def _(case: Case) -> Case:
    return case.altered("cache.claims", lambda claims: claims.with_cell(0, "read", ""))
