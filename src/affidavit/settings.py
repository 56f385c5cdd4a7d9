"""``affidavit.toml``: what a project expects, waives, attests and gates.

A key that nothing reads is a setting somebody believes in. So every unknown key is refused, with the nearest one that
is known, and all complaints come at once.

Blind to: whether a waiver's target names a check that exists; settings are read before checks are loaded.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import tomllib

from affidavit.attach.launch import CANARY_SECONDS
from affidavit.attach.redact import redact
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError, refusal
from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Vocabulary
from affidavit.gate import Attestation, Waiver
from affidavit.record import declared, file, plain, trust
from affidavit.record.declared import Declared, Gate, Question
from affidavit.record.keys import Keys
from affidavit.record.record import Fact, Kind, Record, ordered
from affidavit.record.trust import Named, Revoked

SIZE_BYTES = 1 << 20
TOKEN_POLICIES = ("off", "ids", "text")
TREE_GATES = ("refuse", "snapshot", "allow")
NAME_GATES = ("refuse", "tell")
NUMBER_GATES = ("refuse", "tell")
WITNESSES = ("none", "git")
TRACKERS = ("none", "mlflow")
CANARY_SECONDS_MOST = 60.0
PROOF_DAYS = 90
ROOT_MARKS = (names.SETTINGS, names.LOCK, ".git")

_SECTIONS: Mapping[str, frozenset[str]] = {
    "run": frozenset({"tokens", "marks", "names", "numbers"}),
    "tree": frozenset({"gate", "reason"}),
    "panel": frozenset({"files"}),
    "seal": frozenset({"key", "trusted", "revoked", "witness", "tracker", "tracking_uri"}),
    "seal.revoked": frozenset({"key", "since", "why"}),
    "cache": frozenset({"canary_seconds", "declared"}),
    "cache.declared": frozenset({"name", "raw", "entry", "build", "manifest"}),
    "proof": frozenset({"days"}),
    "gate": frozenset({"name", "command", "sabotage", "covers", "seconds", "when"}),
    "attest": frozenset({"question", "about", "days"}),
    "waiver": frozenset({"target", "reason", "author", "until"}),
    "attestation": frozenset({"term", "value", "author", "seen", "until"}),
}
Kept = TypeVar("Kept")


class SettingsError(AffidavitError):
    """``affidavit.toml`` cannot be read, or says something that nothing would heed."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What holds in a project; every field has the value it has where nobody wrote a file.

    Args:
        root: the project's folder.
        tokens: how much of the data a record may keep: ``off``, ``ids`` or ``text``.
        marks: whether ``affidavit.json`` is left beside each model that a run saves.
        names: what is done with a command whose names nothing takes: ``refuse`` or ``tell``.
        numbers: what is done with a command whose files say a number that was taken back: ``refuse`` or ``tell``.
        gate: what the tree gate does with code that no commit holds: ``refuse``, ``snapshot`` or ``allow``.
        gate_reason: why it is allowed; ``allow`` has one.
        expected: what every run of the project must resolve to, or None where nothing is expected.
        panels: JSON files measured elsewhere that stand under the role ``panel/``.
        key: who signs what is sealed: the name of a private key of this user, or its path; "" where nobody does.
        trusted, revoked: the public keys whose signature this project believes, and those that it believes no longer.
        witness: what outside of a run folder remembers its seal: ``none`` or ``git``.
        tracker: the experiment tracker whose run of the training carries the seal as a tag: ``none`` or ``mlflow``.
        tracking_uri: where that tracker is; "" for where the environment, or the tracker itself, says.
        canary_seconds: how long a run may wait while rows out of its caches are recomputed; 0 recomputes none.
        declared: caches of the project's own, of which rows are rebuilt before a command starts.
        attestations: ``[[attestation]]``, a person's word for a term that no instrument sees, written by that person
            into the file itself.
        questions: ``[[attest]]``, what a person is asked before a rehearsal; the file holds the question, and the
            answer goes to attestations.jsonl with what they looked at.
        gates: commands of the project's own that must be able to say no, each with what makes it.
        proof_days: how long an instrument counts as able to fail after it was last seen to.
    """

    root: Path
    tokens: str = "text"
    marks: bool = True
    names: str = "refuse"
    numbers: str = "refuse"
    gate: str = "refuse"
    gate_reason: str = ""
    waivers: tuple[Waiver, ...] = ()
    attestations: tuple[Attestation, ...] = ()
    expected: Record | None = None
    panels: tuple[Path, ...] = ()
    key: str = ""
    trusted: tuple[Named, ...] = ()
    revoked: tuple[Revoked, ...] = ()
    witness: str = "none"
    tracker: str = "none"
    tracking_uri: str = ""
    canary_seconds: float = CANARY_SECONDS
    declared: tuple[Declared, ...] = ()
    questions: tuple[Question, ...] = ()
    gates: tuple[Gate, ...] = ()
    proof_days: int = PROOF_DAYS


def find_root(start: Path) -> Path:
    """Return the nearest folder upwards with an affidavit.toml, an affidavit.lock or a repository; else ``start``."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if any((folder / mark).exists() for mark in ROOT_MARKS):
            return folder
    return here


def load(root: Path, vocabulary: Vocabulary) -> Settings:
    """Return the settings of a project; a missing file is all defaults.

    Raises:
        SettingsError: with every complaint, each by its key, and a line where the file is no TOML.
    """
    path = root / names.SETTINGS
    if not path.exists():
        return Settings(root=root)
    try:
        document = tomllib.loads(file.read(path.resolve(), limit=SIZE_BYTES).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, file.FileShapeError) as error:
        raise SettingsError(_refused([str(error)])) from error
    reader = _Reader(root, vocabulary)
    settings = reader.settings(document)
    if reader.complaints:
        raise SettingsError(_refused(reader.complaints))
    return settings


@dataclass
class _Reader(Keys):
    """Reads the sections of one file, and collects what it has to complain about."""

    root: Path
    vocabulary: Vocabulary

    def settings(self, document: dict[str, object]) -> Settings:
        self._known(document, {"expect", *(name for name in _SECTIONS if "." not in name)}, "")
        run, tree, panel, seal, cache, proof = (
            self._section(document, name) for name in ("run", "tree", "panel", "seal", "cache", "proof")
        )
        gate = self.choice(tree, "tree.gate", TREE_GATES)
        reason = self.text(tree, "tree.reason") if gate == "allow" or "reason" in tree else ""
        if reason and gate != "allow":
            self.complaints.append(f'tree.reason: only gate = "allow" has a reason, saw gate = "{gate}"')
        return Settings(
            root=self.root,
            tokens=self.choice(run, "run.tokens", TOKEN_POLICIES, default="text"),
            marks=self.switch(run, "run.marks", default=True),
            names=self.choice(run, "run.names", NAME_GATES),
            numbers=self.choice(run, "run.numbers", NUMBER_GATES),
            gate=gate,
            gate_reason=reason,
            waivers=self._each(document, "waiver", self._waiver),
            attestations=self._each(document, "attestation", self._attestation),
            expected=self._expected(document.get("expect", {})),
            panels=tuple(self.root / name for name in self.texts(panel, "panel.files")),
            key=self.text(seal, "seal.key") if "key" in seal else "",
            trusted=trust.trusted(self, seal, "seal.trusted", self.root),
            revoked=self._each(seal, "seal.revoked", partial(trust.revoked, self, self.root), "key"),
            witness=self.choice(seal, "seal.witness", WITNESSES),
            tracker=self.choice(seal, "seal.tracker", TRACKERS),
            tracking_uri=self._place(seal),
            canary_seconds=self.seconds(
                cache, "cache.canary_seconds", default=CANARY_SECONDS, most=CANARY_SECONDS_MOST
            ),
            declared=self._each(cache, "cache.declared", partial(declared.cache, self)),
            questions=self._each(document, "attest", partial(declared.question, self), "question"),
            gates=self._each(document, "gate", partial(declared.gate, self), "name"),
            proof_days=self.whole(proof, "proof.days", default=PROOF_DAYS, most=declared.DAYS_MOST),
        )

    def _place(self, seal: dict[str, object]) -> str:
        """Return where the tracker is; the file is committed, so that what opens a server stays in the environment."""
        key = "seal.tracking_uri"
        place = self.text(seal, key) if "tracking_uri" in seal else ""
        if place and seal.get("tracker", "none") == "none":
            self.complaints.append(f'{key}: nothing asks it without tracker = "mlflow"')
        if redact(place) != place:
            self.complaints.append(f"{key}: expected no secret in a file that is committed, saw {redact(place)!r:.120}")
        return place

    def _waiver(self, entry: dict[str, object], key: str) -> Waiver:
        return Waiver(
            target=self.text(entry, f"{key}.target"),
            reason=self.text(entry, f"{key}.reason"),
            author=self.text(entry, f"{key}.author"),
            until=self.date(entry, f"{key}.until"),
        )

    def _attestation(self, entry: dict[str, object], key: str) -> Attestation | None:
        name = self.text(entry, f"{key}.term")
        author, seen = self.text(entry, f"{key}.author"), self.text(entry, f"{key}.seen")
        until = self.date(entry, f"{key}.until")
        try:
            term = self.vocabulary[name]
            if not term.satisfied_by(Method.ATTESTED):
                self.complaints.append(
                    f"{key}.term: {name} must be seen ({term.least.name}); a person's word is not enough"
                )
            return Attestation(
                term=name, value=plain.read(term, entry.get("value")), author=author, seen=seen, until=until
            )
        except AffidavitError as error:
            self.complaints.append(f"{key}: {error}")
            return None

    def _expected(self, table: object) -> Record | None:
        """Return the expectations; ``attention.kernels = […]`` may stand quoted or not."""
        facts: list[Fact] = []
        for name, raw in self._flat(table, ""):
            try:
                term = self.vocabulary[name]
                facts.append(
                    Fact(name=name, state=Known(plain.read(term, raw), term.least, f"{names.SETTINGS}:expect"))
                )
            except AffidavitError as error:
                self.complaints.append(f"expect: {error}")
        if not facts:
            return None
        return Record(kind=Kind.EXPECTATION, subject=names.SETTINGS, facts=ordered(facts), vocabulary=self.vocabulary)

    def _flat(self, table: object, prefix: str) -> Iterator[tuple[str, object]]:
        if not isinstance(table, dict):
            self.complaints.append(f"expect{prefix}: expected a table, saw {table!r:.60}")
            return
        for key, value in table.items():
            name = f"{prefix}.{key}" if prefix else key
            is_group = isinstance(value, dict) and any(term.name.startswith(f"{name}.") for term in self.vocabulary)
            yield from self._flat(value, name) if is_group else ((name, value),)

    def _known(self, table: Iterable[str], known: Iterable[str], prefix: str) -> None:
        names_known = sorted(known)
        for key in table:
            if key not in names_known:
                near = difflib.get_close_matches(key, names_known, 1)
                homes = [f'"{key}" under [{section}]' for section, keys in _SECTIONS.items() if key in keys]
                meant = f'"{near[0]}"' if near else " or ".join(homes)
                hint = f"; did you mean {meant}" if meant else f"; known: {', '.join(names_known)}"
                self.complaints.append(f"{prefix}{key}: nothing reads this{hint}")

    def _section(self, document: dict[str, object], name: str) -> dict[str, object]:
        table = document.get(name, {})
        if not isinstance(table, dict):
            self.complaints.append(f"{name}: expected a table [{name}], saw {table!r:.60}")
            return {}
        self._known(table, _SECTIONS[name], f"{name}.")
        return table

    def _each(
        self,
        document: dict[str, object],
        name: str,
        make: Callable[[dict[str, object], str], Kept | None],
        named: str = "",
    ) -> tuple[Kept, ...]:
        """Return what the tables of a section hold; ``named`` is the key that no two of them may share."""
        entries = document.get(name.rpartition(".")[2], [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.complaints.append(f"{name}: expected tables [[{name}]], saw {entries!r:.60}")
            return ()
        made: list[Kept] = []
        for number, entry in enumerate(entries, 1):
            self._known(entry, _SECTIONS[name], f"{name} {number}: ")
            one = make(entry, f"{name} {number}")
            made += [] if one is None else [one]
        held = [entry.get(named) for entry in entries if named]
        doubled = dict.fromkeys(str(value) for value in held if value and held.count(value) > 1)
        self.complaints += [f"{name}: two tables have the {named} {value!r:.60}" for value in doubled]
        return tuple(made)


def _refused(complaints: list[str]) -> str:
    return refusal(
        subject=names.SETTINGS,
        expected="keys that something reads, with values they can have",
        saw="; ".join(complaints),
        means="A setting that nobody heeds is a gate that cannot say no, so none of the file holds.",
        action=f"Mend {names.SETTINGS}.",
        unaffected="runs that are recorded already",
    )
