"""What a child process does that is asked about a user's module: it imports it, and answers in one JSON document.

    python -m affidavit.cache.probe.asked ANSWER < order.json

What the module prints goes to stderr, so that nothing gets between the lines of an answer.

Source: CPython ``-m``: the working directory is the first place where modules are looked for, as for the user.
Blind to: a module that behaves otherwise where it is not the script.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from affidavit.cache.preimage import shown
from affidavit.cache.probe.bench import Bench, arguments, config_type
from affidavit.cache.probe.fields import built
from affidavit.cache.probe.readable import config_of, rows_of, table_of, wanted_entry
from affidavit.fact.errors import AffidavitError, refusal

MOST_ROWS = 50_000
Order = Mapping[str, Any]


class NotFoundError(AffidavitError):
    """A module cannot be imported, or has nothing of that name."""


def named(said: str) -> Any:
    """Return the object that ``MODULE:NAME`` or ``FILE.py:NAME`` stands for."""
    module, _, name = said.rpartition(":")
    if not module or not name:
        raise NotFoundError(_refused(said, "MODULE:NAME", "no colon between two names"))
    if module.endswith(".py"):
        path = Path(module).resolve()
        sys.path.insert(0, str(path.parent))
        module = path.stem
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        saw = shown(f"{type(error).__name__}: {error}")
        raise NotFoundError(_refused(said, "a name that can be imported here", saw)) from error
    return found


def bench_of(order: Order) -> Bench:
    function = named(order["function"])
    masks = named(order["masks"]) if order.get("masks") else ()
    return Bench(
        function,
        config=_config(order, function),
        tokenizer=_tokenizer(order["tokenizer"]) if order.get("tokenizer") else None,
        batched=bool(order.get("batched")),
        masks=masks if isinstance(masks, (list, tuple)) else (masks,),
    )


def _tokenizer(said: str) -> Any:
    if Path(said).exists() or ":" not in said:
        return importlib.import_module("transformers").AutoTokenizer.from_pretrained(said)
    found = named(said)
    return found() if callable(found) and not hasattr(found, "padding_side") else found


def _config(order: Order, function: Callable[..., Any]) -> Any:
    said = order.get("config") or ""
    kind = config_type(function)
    if not said:
        try:
            return kind() if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__") else None
        except TypeError:  # a field of it has no default
            return None
    if not Path(said).exists() and ":" in said:
        found = named(said)
        is_made = not callable(found) or (hasattr(found, "__dataclass_fields__") and not isinstance(found, type))
        return found if is_made else found()
    try:
        return built(kind, config_of(Path(said)))
    except (TypeError, ValueError) as error:
        saw = shown(f"{type(error).__name__}: {error}")
        raise NotFoundError(_refused(said, f"a configuration that {kind} takes", saw)) from error


def probe(order: Order) -> Any:
    from affidavit.cache.probe import probe as probed

    bench = bench_of(order)
    found = probed(
        bench.function,
        rows=rows_of(Path(order["rows"]), MOST_ROWS),
        config=bench.config,
        tokenizer=bench.tokenizer,
        key=named(order["key"]) if order.get("key") else None,
        artifacts=order.get("artifacts") or (),
        witness=order.get("witness") or {},
        irrelevant=order.get("irrelevant") or {},
        batched=bench.batched,
        masks=bench.masks,
        seconds=order["seconds"],
    )
    return found.to_json()


def explain(order: Order) -> Any:
    from affidavit.cache.key import preimage_of

    bench = bench_of(order)
    alone = not arguments(bench.function, bench.config, bench.tokenizer, after=1)
    rows = rows_of(Path(order["rows"]), 8) if order.get("rows") and alone else None
    if rows is not None and bench.batched:
        rows = [{name: [row[name] for row in rows] for name in rows[0]}]
    found = preimage_of(
        bench.function,
        config=bench.config,
        tokenizer=bench.tokenizer,
        artifacts=order.get("artifacts") or (),
        irrelevant=order.get("irrelevant") or {},
        rows=rows,
    )
    return found.to_json()


def audit(order: Order) -> Any:
    from affidavit.cache.probe.audit import audit as audited

    bench = bench_of(order)
    path = Path(order["entry"])
    if path.is_file():
        stored = rows_of(path)
    else:
        entry = wanted_entry(order["entry"], order.get("store") or "")
        stored = [row for file in entry.files for row in table_of(file).to_pylist()] if entry.form == "rows" else []
    raw = rows_of(Path(order["raw"]))
    if len(raw) != len(stored):
        saw = f"{len(stored):,} in the entry and {len(raw):,} in {order['raw']}"
        raise NotFoundError(_refused(order["entry"], "a stored row for each raw one", saw))
    found = audited(bench, stored, raw, rows=order["count"], seed=order["seed"], seconds=order["seconds"])
    return {**asdict(found), "says": found.says}


WORK: Mapping[str, Callable[[Order], Any]] = {"probe": probe, "explain": explain, "audit": audit}


def main() -> None:
    """Answer the order on stdin, in the file that is named."""
    order = json.load(sys.stdin)
    os.dup2(2, 1)
    answer: dict[str, Any]
    try:
        answer = {"answer": WORK[order["do"]](order)}
    except AffidavitError as error:
        answer = {"refused": str(error), "kind": type(error).__name__}
    path = Path(sys.argv[1])
    path.write_text(json.dumps(answer))


def _refused(subject: str, expected: str, saw: str) -> str:
    return refusal(
        subject=subject,
        expected=expected,
        saw=saw,
        means="Nothing was probed.",
        action="Call it from the folder in which your script runs.",
        unaffected="what is cached",
    )


if __name__ == "__main__":
    main()
