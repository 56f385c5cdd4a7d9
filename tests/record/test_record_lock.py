"""The lock holds what nobody asked for, a line a term, and a lock that cannot be read holds nothing."""

from __future__ import annotations

import datetime
import difflib
from dataclasses import replace
from pathlib import Path

import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st
from record_world import FLASH, WORDS, fact, record

from affidavit.case import Case
from affidavit.fact.observation import Cause, Known, Unknown
from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Digest, Layers, Series, Table, Tally, Value
from affidavit.record import lock, lockfile, plain
from affidavit.record.compare import differ
from affidavit.record.lock import LockError
from affidavit.record.record import Fact

KERNELS, CONFIGURED, ROLES = "attention.kernels", "attention.configured", "tokens.supervised_roles"
SDPA = Layers.of({f"layers.{layer}.attn": "sdpa" for layer in range(4)})
MONDAY, TUESDAY = datetime.date(2026, 11, 30), datetime.date(2026, 12, 1)


def test_only_what_nobody_asked_for_and_everybody_saw_is_accepted() -> None:
    accepted = lock.accepted(
        record(
            fact(KERNELS, ("flash",), ranks=(0, 1)),
            fact(KERNELS, ("flash",), ranks=(0, 1), episode=1),
            fact(CONFIGURED, SDPA, ranks=(0, 1), request=SDPA),  # asked for: a sweep over it must not touch the lock
            fact("attention.executed", FLASH, ranks=(0, 1)),  # no lock term
            fact("adapter.kind", "lora", ranks=(0,)),  # not seen on rank 1
            fact("adapter.kind", "lora", ranks=(0,), episode=1),
            Fact(name="adapter.kind", state=Unknown(Cause.JOURNAL_LOST, ""), ranks=(1,), episode=1),
            Fact(name=ROLES, state=Unknown(Cause.NOT_REACHED, ""), ranks=(0, 1)),
            world=2,
            episodes=2,
        )
    )
    assert [(one.name, one.ranks) for one in accepted] == [(KERNELS, ())]


def test_what_is_known_by_too_weak_a_method_is_not_accepted() -> None:
    weak = replace(fact(KERNELS, ("flash",)), state=Known(("flash",), Method.DECLARED, "the script"))
    assert lock.accepted(record(weak)) == ()


def test_ranks_that_disagree_cannot_be_accepted() -> None:
    with pytest.raises(LockError, match=r"flash \(rank 0,2\) and math \(rank 1\)"):
        lock.accepted(record(fact(KERNELS, ("flash",), ranks=(0, 2)), fact(KERNELS, ("math",), ranks=(1,)), world=3))


def test_the_file_is_a_line_an_entry_under_its_sentence(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    run = record(
        fact(KERNELS, ("flash",)),
        fact(CONFIGURED, SDPA),
        fact("adapter.kind", "none"),
        fact("run.owners", Table(("fact", "owner"), ((CONFIGURED, "default of Gemma"),))),
    )
    lock.write_lock(path, 'sft "small"', lock.accepted(run), vocabulary=WORDS, as_of=MONDAY)
    lines = path.read_text().splitlines()
    assert lines[0].startswith("#: affidavit.lock: ") and "accept" in lines[1]
    assert lines[3:] == [
        "format = 1",
        "",
        '[recipe."sft \\"small\\""]',
        '"adapter.kind" = { value = "none", since = 2026-11-30 }  #: no adapter',
        "#: attention is configured as sdpa in 4 places (default of Gemma)",
        '"attention.configured" = { value = { layers = [["layers.{0..3}.attn", "sdpa"]] }, by = "default of Gemma", '
        "since = 2026-11-30 }",
        "#: attention ran as flash (default of Gemma)",
        '"attention.kernels" = { value = ["flash"], by = "default of Gemma", since = 2026-11-30 }',
    ]


def _said(
    *facts: Fact, path: Path, recipe: str = "sft", as_of: datetime.date = MONDAY, dry_run: bool = False
) -> list[str]:
    changes = lock.write_lock(path, recipe, facts, vocabulary=WORDS, as_of=as_of, dry_run=dry_run)
    return [str(change) for change in changes]


def _fact(name: str, value: Value, by: str = "") -> Fact:
    return Fact(name=name, state=Known(value, Method.EXECUTED, by))


def test_each_line_that_changes_is_explained_and_the_others_keep_their_date(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    flash, lora = _fact(KERNELS, ("flash",)), _fact("adapter.kind", "lora")
    assert _said(flash, lora, path=path) == ["attention ran as flash", "the adapter is lora"]
    _said(flash, path=path, recipe="dpo")
    math = _fact(KERNELS, ("math",), "default of torch")
    would = _said(math, lora, path=path, as_of=TUESDAY, dry_run=True)
    assert would == ["attention ran as math (default of torch); before: flash"]
    assert tomllib.loads(path.read_text())["recipe"]["sft"][KERNELS]["value"] == ["flash"], "a dry run writes nothing"
    assert _said(math, lora, path=path, as_of=TUESDAY) == would
    held = tomllib.loads(path.read_text())["recipe"]
    assert held["sft"] == {
        KERNELS: {"value": ["math"], "by": "default of torch", "since": TUESDAY},
        "adapter.kind": {"value": "lora", "since": MONDAY},
    }
    assert held["dpo"] == {KERNELS: {"value": ["flash"], "since": MONDAY}}
    before = path.stat().st_mtime_ns, path.read_bytes()
    assert _said(_fact(KERNELS, ("math",), "somebody else"), path=path, as_of=TUESDAY) == []
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before, "nothing new writes nothing"


def test_one_setting_that_changes_is_one_hunk_that_reads_as_english(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    others = [_fact("adapter.kind", "lora"), _fact("schedule.kind", "linear"), _fact(ROLES, ("assistant",))]
    _said(_fact(KERNELS, ("flash",), "default of A"), *others, path=path)
    before = path.read_text().splitlines()
    _said(_fact(KERNELS, ("math",), "default of B"), *others, path=path, as_of=TUESDAY)
    _, _, hunk, *moved = difflib.unified_diff(before, path.read_text().splitlines(), n=0)
    assert hunk.startswith("@@") and moved == [
        "-#: attention ran as flash (default of A)",
        '-"attention.kernels" = { value = ["flash"], by = "default of A", since = 2026-11-30 }',
        "+#: attention ran as math (default of B)",
        '+"attention.kernels" = { value = ["math"], by = "default of B", since = 2026-12-01 }',
    ]


def test_what_becomes_unusual_and_what_is_usual_again_is_said_in_whole_sentences(tmp_path: Path) -> None:
    path, name = tmp_path / "affidavit.lock", "model.checkpointing"
    assert _said(_fact(name, "off", "default of A"), path=path) == ["no gradient checkpointing"]
    (line,) = [line for line in path.read_text().splitlines() if line.startswith(f'"{name}"')]
    assert line.endswith("#: no gradient checkpointing") and "default" not in line
    said = _said(_fact(name, "on", "default of B"), path=path)
    assert said == ["gradient checkpointing is on (default of B); before: no gradient checkpointing"]
    said = _said(_fact(name, "off", "default of C"), path=path)
    assert said == ["no gradient checkpointing; before: gradient checkpointing is on (default of B)"]


def test_layers_that_are_named_anew_are_said_in_the_parts_that_moved(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    _said(_fact(CONFIGURED, SDPA), path=path)
    (said,) = _said(_fact(CONFIGURED, Layers.of({f"blocks.{layer}": "sdpa" for layer in range(4)})), path=path)
    assert said.startswith("attention is configured as sdpa in 4 places; before: sdpa in 4 places; in part: blocks")


REMARKED = """\
# Ours since the spring.
#: an older heading that we wrote
format = 1  # the first

# The small one.
[recipe."sft"]  # for laptops
# Ada: flash, because of the long rows.
#: attention ran as something that nobody wrote
"attention.kernels" = { value = ["flash"], since = 2026-11-30 }  # see the ticket, "#7"
"adapter.kind" = { value = "lora", since = 2026-11-30 }  #: the adapter is lora
# The last word.
"""


def test_what_people_wrote_stays_and_what_we_wrote_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    path.write_text(REMARKED)
    assert lock.read_lock(path, "sft", WORDS) is not None
    _said(_fact(KERNELS, ("math",)), path=path, as_of=TUESDAY)
    text = path.read_text()
    assert (
        text.removeprefix(lockfile.HEADER)
        == """\
# Ours since the spring.
# the first
format = 1

# The small one.
# for laptops
[recipe."sft"]
#: the adapter is lora
"adapter.kind" = { value = "lora", since = 2026-11-30 }
# Ada: flash, because of the long rows.
# see the ticket, "#7"
#: attention ran as math
"attention.kernels" = { value = ["math"], since = 2026-12-01 }

# The last word.
"""
    )
    _said(_fact(KERNELS, ("flash",)), path=path)
    assert [line for line in path.read_text().splitlines() if line.startswith("# ")] == [
        line for line in text.splitlines() if line.startswith("# ")
    ]


def test_a_comment_of_an_entry_that_is_gone_goes_to_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    path.write_text(
        'format = 1\n[recipe."sft"]\n# why\n"attention.kernels@1" = { value = ["math"], since = 2026-11-30 }\n'
    )
    said = _said(_fact(KERNELS, ("flash",)), path=path)
    assert said[0].startswith("no longer: attention ran as math, in training 2")
    assert path.read_text().splitlines()[-3:-1] == ["# why", "#: attention ran as flash"]


def test_a_comment_that_no_rewriting_could_keep_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    text = (
        'format = 1\n[recipe."sft"]\n"attention.kernels" = { value = [\n"flash", # long rows\n], since = 2026-11-30 }\n'
    )
    path.write_text(text)
    with pytest.raises(LockError, match=r"affidavit\.lock:3: .*a comment inside of a value"):
        _said(_fact(KERNELS, ("math",)), path=path)
    assert path.read_text() == text
    path.write_text(text.replace(" # long rows", ""))
    assert len(_said(_fact(KERNELS, ("math",)), path=path)) == 1


def test_an_entry_of_a_term_that_is_no_longer_there_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    path.write_text('format = 1\n[recipe."sft"]\n"acme.gone" = { value = 3, since = 2026-11-30 }\n')
    _said(_fact(KERNELS, ("flash",)), path=path)
    assert "#: acme.gone is 3\n" in path.read_text()
    assert tomllib.loads(path.read_text())["recipe"]["sft"]["acme.gone"]["value"] == 3


def test_the_order_of_facts_changes_no_byte(tmp_path: Path) -> None:
    facts = [fact(KERNELS, ("flash",), ranks=()), fact("adapter.kind", "lora", ranks=())]
    for name, order in (("one", facts), ("two", facts[::-1])):
        lock.write_lock(tmp_path / name, "sft", order, vocabulary=WORDS, as_of=MONDAY)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_was_locked_is_read_back_and_compared(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    run = record(fact(KERNELS, ("flash",)), fact(CONFIGURED, SDPA))
    lock.write_lock(path, "sft", lock.accepted(run), vocabulary=WORDS)
    held = lock.read_lock(path, "sft", WORDS)
    assert held is not None
    assert differ(run, held, [KERNELS, CONFIGURED]) == ()
    moved = record(fact(KERNELS, ("math",)), fact(CONFIGURED, SDPA.with_layer("layers.2.attn", "eager")))
    assert [difference.name for difference in differ(moved, held, [KERNELS, CONFIGURED])] == [KERNELS, CONFIGURED]
    assert {found.state.method for found in held.facts if isinstance(found.state, Known)} == {
        WORDS[KERNELS].least,
        WORDS[CONFIGURED].least,
    }


def test_two_trainings_of_one_script_are_locked_apart_where_they_differ(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    run = record(
        fact(ROLES, ("assistant",), episode=0),
        fact(ROLES, ("assistant", "user"), episode=1),
        fact(KERNELS, ("flash",), episode=0),
        fact(KERNELS, ("flash",), episode=1),
        episodes=2,
    )
    lock.write_lock(path, "sft", lock.accepted(run), vocabulary=WORDS)
    assert set(tomllib.loads(path.read_text())["recipe"]["sft"]) == {KERNELS, f"{ROLES}@0", f"{ROLES}@1"}
    held = lock.read_lock(path, "sft", WORDS)
    assert held is not None
    case = Case(records={"run": run, "lock": held}, as_of=MONDAY)
    for episode in (0, 1):
        at = replace(case, episode=episode)
        assert at.differ(ROLES, f"lock/{ROLES}") == () == at.differ(KERNELS, f"lock/{KERNELS}")
    swapped = replace(case, episode=1).altered(ROLES, ("assistant",))
    assert len(swapped.differ(ROLES, f"lock/{ROLES}")) == 1
    joined = lock.write_lock(path, "sft", [fact(ROLES, ("assistant",), ranks=())], vocabulary=WORDS)
    assert len(joined) == 3 and set(tomllib.loads(path.read_text())["recipe"]["sft"]) == {KERNELS, ROLES}


def test_no_file_and_no_recipe_are_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    assert lock.read_lock(path, "sft", WORDS) is None
    lock.write_lock(path, "sft", [fact(KERNELS, ("flash",), ranks=())], vocabulary=WORDS)
    assert lock.read_lock(path, "dpo", WORDS) is None


_GOOD = 'format = 1\n[recipe."sft"]\n"attention.kernels" = { value = ["flash"], since = 2026-11-30 }\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_GOOD[:-20], r"affidavit\.lock:3: .*end of document"),
        (_GOOD.replace("format = 1", "format = 2"), r"affidavit\.lock: .* format 2; this version reads 1"),
        (_GOOD.replace("format = 1", ""), "format None"),
        (_GOOD.replace('["flash"]', "3"), r"affidavit\.lock:3: .* expected a tuple, saw 3"),
        (_GOOD.replace('["flash"]', "{ tally = { of = 1 } }"), r"affidavit\.lock:3: "),
        (_GOOD.replace("kernels", "kernel"), r'affidavit\.lock:3: .*did you mean "attention.kernels"'),
        (_GOOD.replace("kernels", "kernels@one"), r"affidavit\.lock:3: .*term@training"),
        (_GOOD.replace(", since = 2026-11-30", ""), r"affidavit\.lock:3: .*since = date"),
        (_GOOD.replace("2026-11-30", "2026-11-30T10:00:00"), r"affidavit\.lock:3: .*since = date"),
        (_GOOD + _GOOD.splitlines()[2] + "\n", "line 4"),
        (_GOOD + "[surprise]\n", "surprise"),
        ('format = 1\nrecipe = "sft"\n', "only recipes"),
        ("a = " + "[" * 100_000, "RecursionError|TOML|nest"),
        ("\udcff", "UnicodeDecodeError"),
        ("#" * 2_000_000, "2,000,000 bytes"),
    ],
    ids=lambda text: text[:16] if text.startswith("line") else None,
)
def test_a_lock_that_is_truncated_newer_or_hostile_is_one_clear_error(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "affidavit.lock"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(LockError, match=why) as caught:
        lock.read_lock(path, "sft", WORDS)
    assert "Not affected: " in str(caught.value) and len(str(caught.value)) < 700


def test_a_lock_that_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "affidavit.lock"
    path.write_text("format = 2\n")
    with pytest.raises(LockError):
        lock.write_lock(path, "sft", [fact(KERNELS, ("flash",), ranks=())], vocabulary=WORDS)
    assert path.read_text() == "format = 2\n"


@pytest.mark.parametrize("recipe", ["", "a\nb", "\udcff"])
def test_a_recipe_has_a_name_that_a_person_can_review(tmp_path: Path, recipe: str) -> None:
    with pytest.raises(LockError, match="expected a name that prints"):
        lock.write_lock(tmp_path / "affidavit.lock", recipe, [fact(KERNELS, ("flash",), ranks=())], vocabulary=WORDS)


_TEXTS = st.text(max_size=10)
_VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    _TEXTS,
    st.lists(_TEXTS, max_size=3).map(tuple),
    st.just(Digest("sha256", "ab" * 32)),
    st.builds(Tally.count, _TEXTS, st.dictionaries(_TEXTS, st.integers(0, 9), max_size=3)),
    st.builds(lambda rows: Table(("a", "b"), tuple(rows)), st.lists(st.tuples(_TEXTS, st.integers()), max_size=3)),
    st.just(Series((1, 2), (0.5, float("inf")), "loss")),
    st.builds(Layers.of, st.dictionaries(st.sampled_from(["a.0", "a.1", "b"]), _TEXTS)),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_VALUES, _TEXTS)
def test_every_value_survives_the_file(value: Value, recipe: str) -> None:
    term = Term("acme.any", type(value), "", Scope.RUN, Method.INSPECTED, "anything", lock=True)
    words = WORDS.extended([term], prefix="acme")
    entry = lockfile.Entry(value=plain.plain(value), since=MONDAY)
    held = lockfile.Lockfile(recipes={recipe.encode("utf-8", "replace").decode(): {"acme.any": entry}})
    text = lockfile.written(held, words)
    (table,) = tomllib.loads(text)["recipe"].values()
    back = plain.read(words["acme.any"], table["acme.any"]["value"])
    assert back == value and type(back) is type(value)
    assert len(text.splitlines()) == len(lockfile.HEADER.splitlines()) + 5
