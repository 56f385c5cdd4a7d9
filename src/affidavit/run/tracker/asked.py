"""Asks MLflow for the runs that carry a name of ours, and lets them carry a seal: a program for the user's Python.

MLflow lives in the environment that trains, and need not be in ours. So this is started as a file by an interpreter
that may have it, imports nothing of ours, reads one question from stdin and prints one answer.

Blind to: who else may write the tracker. MLflow keeps no history of a tag.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

RUN = "affidavit.run"
SEAL = "affidavit.seal"
PARENT = "mlflow.parentRunId"
_PAGE = 1000


def main() -> None:
    """Answer on stdout: ``runs`` with what each carries; or no MLflow is here, no store is there, or it failed."""
    asked = json.loads(sys.stdin.read())
    try:
        tracking = importlib.import_module("mlflow.tracking")
    except Exception as error:  # noqa: BLE001  an MLflow that is there and broken can raise anything
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == "mlflow"
        _answer({"absent": True} if is_absent else {"failed": _said(error)})
        return
    uri = asked["uri"] or tracking.get_tracking_uri()
    answer: dict[str, Any]
    try:
        answer = {"runs": _runs(tracking.MlflowClient(uri), asked)} if _is_there(uri) else {"missing": True}
    except Exception as error:  # noqa: BLE001  whatever a client raises is one answer: it could not be asked
        answer = {"failed": _said(error)}
    _answer({**answer, "uri": uri})


def _answer(said: dict[str, Any]) -> None:
    """Print on a line of its own: what MLflow prints may end in the middle of one."""
    print("\n" + json.dumps(said))


def _said(error: BaseException) -> str:
    """Say what went wrong at the bottom: a client wraps a refused connection four times, each time with its URL."""
    found, below = error, error.__cause__ or error.__context__
    while below is not None:
        found = below if isinstance(below, OSError) else found
        below = below.__cause__ or below.__context__
    return f"{type(found).__name__}: {found}"


def _is_there(uri: str) -> bool:
    """Say whether a store on this machine exists: to ask for one that does not would make it."""
    scheme, separator, rest = uri.partition(":")
    if scheme == "sqlite":
        place = unquote(rest.removeprefix("///").partition("?")[0])
        return Path(place).is_file()
    if scheme == "file":
        return Path(unquote(urlsplit(uri).path)).is_dir()
    return bool(separator) or uri.startswith("databricks") or Path(uri).is_dir()


def _runs(client: Any, asked: dict[str, Any]) -> list[dict[str, str]]:
    """Return the MLflow runs of ours, deleted ones included, once they carry the head that is told, if any."""
    if not asked["names"]:
        client.search_experiments(max_results=1)  # it answers, and nothing else was asked
    found = {run.info.run_id: run for name in asked["names"] for run in _search(client, name)}
    named = asked.get("named", "")
    if named and named not in found:
        found[named] = client.get_run(named)
    if "head" not in asked:
        return [_seen(run) for run in found.values()]
    outer = [run for run in found.values() if run.data.tags.get(PARENT) not in found]
    return [_told(client, run, asked) for run in outer if run.info.lifecycle_stage == "active"]


def _search(client: Any, name: str) -> list[Any]:
    """Return every MLflow run that carries a name; the caller let no quote into it."""
    everything = 3  # ViewType.ALL: a run that was moved to the bin still says what it was told
    experiments = _pages(client.search_experiments, view_type=everything)
    places = [experiment.experiment_id for experiment in experiments]
    if not places:
        return []
    wanted = f"tags.`{RUN}` = '{name}'"
    return _pages(client.search_runs, experiment_ids=places, filter_string=wanted, run_view_type=everything)


def _pages(search: Any, **arguments: Any) -> list[Any]:
    found = search(max_results=_PAGE, **arguments)
    entries = list(found)
    while found.token:
        found = search(max_results=_PAGE, page_token=found.token, **arguments)
        entries += found
    return entries


def _told(client: Any, run: Any, asked: dict[str, Any]) -> dict[str, str]:
    """Let one MLflow run carry the head, unless it carries what does not lie in our folder; return what it carries."""
    tags, identity = run.data.tags, run.info.run_id
    is_ours = tags.get(RUN, "") in ("", *asked["names"])
    if not is_ours or (SEAL in tags and tags[SEAL] not in asked["known"]):
        return _seen(run)
    if RUN not in tags:
        client.set_tag(identity, RUN, asked["names"][0])
    if tags.get(SEAL) != asked["head"]:
        client.set_tag(identity, SEAL, asked["head"])
    return _seen(client.get_run(identity))


def _seen(run: Any) -> dict[str, str]:
    tags = run.data.tags
    return {"id": run.info.run_id, "run": tags.get(RUN, ""), "seal": tags.get(SEAL, "")}


if __name__ == "__main__":
    main()
