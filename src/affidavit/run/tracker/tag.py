"""The head of a record as a tag on the MLflow run of the same training: a witness on another machine.

Who holds a run folder and our key can write and sign all of it anew. What the tracker was told of it, he changes only
where he may write the tracker, too. The tag holds the newest head, which vouches for all before it, and is moved only
where the one that is there speaks of what lies here: a correction of a forged record does not carry the forgery over.

MLflow finds its run by a tag with the name of ours. Each run that is started in the training gets it by MLflow's own
``MLFLOW_RUN_CONTEXT``; one that was there before is named by ``MLFLOW_RUN_ID``. Nothing is guessed from times or names.

Source: anchors-provenance §5 (a param of a finished run cannot be changed, a tag can) and §11.3.
Blind to: who may write the tracker, too, for MLflow keeps no history of a tag; runs made by a client that asks for no
context, or observed from inside by ``affidavit.observe()``; a tracker that the script chose and neither
``[seal] tracking_uri`` nor ``MLFLOW_TRACKING_URI`` names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from affidavit.attach.launch import VARIABLE
from affidavit.attach.redact import redact
from affidavit.fact import folder as names
from affidavit.fact.errors import AffidavitError
from affidavit.observe.snapshot import is_ref_name
from affidavit.record import chain, file, manifest, seal
from affidavit.record.key import PASSWORD
from affidavit.record.manifest import Manifest, Status
from affidavit.record.record import Kind
from affidavit.record.seal import Head
from affidavit.record.standing import Examined, Standing
from affidavit.record.verification import Verified
from affidavit.run import attempt as attempts
from affidavit.run.process import myself
from affidavit.run.sealing import earlier
from affidavit.run.tracker import asked

WHAT = "tracker tag"
CONTEXT = "MLFLOW_RUN_CONTEXT"
CHOSEN = "MLFLOW_RUN_ID"
LIMIT_SECONDS = 30.0
_SHOWN = 200
_PYTHONS = ("python", "python3")
_BRISK = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}
"""How MLflow is asked where nobody said otherwise: it would wait minutes for a server that is down."""


class TrackerError(AffidavitError):
    """The tracker could not be asked."""


class Carrier(msgspec.Struct, frozen=True, kw_only=True):
    """An MLflow run, the name of ours that it carries, and the head, "" where it carries none."""

    id: str
    run: str
    seal: str

    @property
    def shown(self) -> str:
        return f"MLflow run {_plain(self.id):.40}"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a Python answered: it has no MLflow, there is no such store, why it could not ask, or what it found."""

    uri: str = ""
    runs: tuple[Carrier, ...] = ()
    absent: bool = False
    failed: str = ""
    missing: bool = False


def announced(environment: Mapping[str, str], run: str) -> dict[str, str]:
    """Return the environment in which every MLflow run that is started carries the name of a run of ours.

    What a person put there stays; where that cannot be read, MLflow itself refuses it, and nothing is added.
    """
    try:
        tags = json.loads(environment.get(CONTEXT) or "{}")
    except ValueError:
        tags = None
    if not isinstance(tags, dict):
        return dict(environment)
    return {**environment, CONTEXT: json.dumps({**tags, asked.RUN: run})}


@dataclass(frozen=True, kw_only=True)
class Tracker:
    """The tracker of a project, asked through the Python that has MLflow: ours, or else the one on PATH.

    Args:
        root: the project; a relative ``uri`` of its settings begins there.
        uri: of the store or server; "" for the one that MLflow itself would take here.
    """

    root: Path
    uri: str = ""
    limit_seconds: float = LIMIT_SECONDS
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def remember(self, folder: Path) -> Iterator[str]:
        """Let the MLflow runs of a run carry its head; yield what of that could not be done, and raise nothing."""
        try:
            document = seal.read_sealed(folder).manifest
            if not _trained(document):
                return
            if not is_ref_name(document.run):
                raise TrackerError(f"expected a plain name of a run (letters, digits, . _ -), saw {document.run!r:.80}")
            head = seal.read_head(folder).encode().decode()
            question = {"names": [document.run], "head": head, "known": _known(folder), "named": self._named(folder)}
            answer = self._ask(question)
        except (AffidavitError, OSError) as error:
            yield f"no tracker witness: {_plain(str(error))}"
            return
        if not answer.runs:
            yield f"no tracker witness: {_nothing(answer)}"
        for carrier in answer.runs:
            if carrier.run not in ("", document.run):
                yield f"no tracker witness: {carrier.shown} is {_plain(carrier.run)}'s, and was left alone"
            elif carrier.seal != head:
                yield f"no tracker witness: {carrier.shown} saw another seal of this run, and keeps it"

    def examine(self, folder: Path, found: Verified) -> Examined | None:
        """Hold what the tracker remembers of a run against what lies in its folder.

        It is asked for the folder's name, too: a manifest that is written anew can call itself another run. None where
        there is nothing that a tracker could know.
        """
        wanted = [name for name in dict.fromkeys((found.run, folder.name)) if is_ref_name(name)]
        try:
            answer = self._ask({"names": wanted})
        except (AffidavitError, OSError) as error:
            return _told(Standing.UNCHECKED, _plain(str(error)))
        if not answer.runs:
            return _told(Standing.UNCHECKED, _nothing(answer)) if _could_log(folder) else None
        return _held(answer, found)

    def reach(self) -> str:
        """Return where the tracker is that would be told, once it has answered.

        Raises:
            TrackerError: none would be; this is said before a training rather than after it.
        """
        answer = self._ask({"names": []})
        return f"{_where(answer)}, which the first run makes" if answer.missing else _where(answer)

    def _named(self, folder: Path) -> str:
        """Return the MLflow run that the command was told to go on with: our own environment is only that command's."""
        chosen = self.environment.get(CHOSEN, "")
        if not chosen:
            return ""
        here = myself()
        return chosen if any(told.start.supervisor == here for told in attempts.read_attempts(folder)) else ""

    def _ask(self, question: Mapping[str, object]) -> Answer:
        """Return what the first Python says that has MLflow.

        Raises:
            TrackerError: none has, or it could not ask, or not in time.
        """
        pythons = [sys.executable, *(shutil.which(name, path=self.environment.get("PATH")) for name in _PYTHONS)]
        tried = tuple(dict.fromkeys(python for python in pythons if python))
        for python in tried:
            answer = self._answer(python, {"uri": self.uri, **question})
            if answer.failed:
                raise TrackerError(f"{_where(answer)} could not be asked: {_plain(answer.failed)}")
            if not answer.absent:
                return answer
        raise TrackerError(f"MLflow could not be asked: none of {', '.join(tried)} has it")

    def _answer(self, python: str, question: Mapping[str, object]) -> Answer:
        hidden = (VARIABLE, PASSWORD, CHOSEN)
        passed = {name: value for name, value in self.environment.items() if name not in hidden}
        place = self.root if self.uri else Path.cwd()
        try:
            ended = subprocess.run(
                [python, asked.__file__],
                input=json.dumps(question).encode(),
                capture_output=True,
                timeout=self.limit_seconds,
                env={**_BRISK, **passed},
                cwd=place,
                check=True,
            )
            lines = [line for line in ended.stdout.splitlines() if line.startswith(b"{")]
            return msgspec.json.decode(lines[-1] if lines else b"", type=Answer)
        except subprocess.TimeoutExpired as error:
            raise TrackerError(f"MLflow could not be asked: no answer in {self.limit_seconds:g} s") from error
        except (OSError, subprocess.SubprocessError, msgspec.DecodeError, msgspec.ValidationError) as error:
            raise TrackerError(f"MLflow could not be asked: {python} answered nothing that we read") from error


def _trained(document: Manifest) -> bool:
    """Say whether a command was started whose training an MLflow run may be of."""
    return document.kind in (Kind.RUN, Kind.REHEARSAL) and document.status is not Status.REFUSED


def _could_log(folder: Path) -> bool:
    try:
        return _trained(manifest.decode(file.read(folder / names.MANIFEST, limit=manifest.SIZE_BYTES)))
    except AffidavitError:
        return True


def _known(folder: Path) -> list[str]:
    """Return every head that what lies in a folder has had, those of earlier attempts included.

    Raises:
        AffidavitError: the seal or its corrections do not hold.
    """
    heads: list[Head] = []
    for place in (*earlier(folder), folder):
        walked = chain.walk(place)
        if walked.problems:
            raise TrackerError(f"the corrections do not hold: {walked.problems[0]}")
        first = walked.links[0]
        heads += [Head(manifest=first, count=count, last=last) for count, last in enumerate(walked.links)]
    return [head.encode().decode() for head in heads]


def _held(answer: Answer, found: Verified) -> Examined:
    heads = {carrier: seal.parse_head(carrier.seal.encode()) for carrier in answer.runs if carrier.seal}
    for carrier, head in heads.items():
        if head is None:
            return _told(Standing.BROKEN, f"{carrier.shown}: its tag {asked.SEAL} is no head of ours")
        if not any(links.carries(head) for links in found.sealed):
            return _told(Standing.BROKEN, f"{carrier.shown} saw {head.shown}, which does not lie here")
    if not heads:
        return _told(Standing.UNCHECKED, f"{answer.runs[0].shown} is of this run, and was told no seal of it")
    newest = found.sealed[-1]
    for carrier, head in heads.items():
        if head and head.manifest == newest.manifest and head.count == len(newest.links) - 1:
            return _told(Standing.HOLDS, f"{carrier.shown} in {_where(answer)} carries this head")
    return _told(Standing.UNCHECKED, "what was sealed or corrected last was not told to it")


def _told(standing: Standing, said: str) -> Examined:
    return Examined(what=WHAT, standing=standing, said=said)


def _nothing(answer: Answer) -> str:
    where = _where(answer)
    return f"there is no store at {where}" if answer.missing else f"{where} has no run of this training"


def _where(answer: Answer) -> str:
    return _plain(answer.uri) or "MLflow"


def _plain(text: str) -> str:
    """Return the first line of somebody else's text: short, without secrets, without what a terminal would obey."""
    line = redact(text).strip().partition("\n")[0]
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:_SHOWN]
