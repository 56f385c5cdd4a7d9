"""A project's settings are read whole, or refused with every complaint; a key that nothing reads is one."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from affidavit.fact.observation import Known
from affidavit.fact.term import Method, Scope, Term
from affidavit.fact.values import Tally
from affidavit.fact.vocabulary import load as load_vocabulary
from affidavit.gate import Attestation, Waiver
from affidavit.record.declared import Declared, Gate, Question
from affidavit.record.key import PublicKey
from affidavit.record.record import Kind
from affidavit.record.trust import Revoked
from affidavit.settings import Settings, SettingsError, find_root, load

LICENCE = Term("acme.licence", str, "", Scope.RUN, Method.ATTESTED, "what the data's licence allows")
WORDS = load_vocabulary().extended([LICENCE], prefix="acme")

FULL = """
[run]
tokens = "ids"
marks = false

[tree]
gate = "allow"
reason = "a notebook, not a release"

[panel]
files = ["panels/h100.json"]

[seal]
key = "ada"
trusted = ["ada.pub", "keys/grace.pub", "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= Lin"]
revoked = [{ key = "old.pub", since = 2026-11-01, why = "left on a train" }]
witness = "git"
tracker = "mlflow"
tracking_uri = "http://tracker:5000"

[cache]
canary_seconds = 10

[[cache.declared]]
name = "chats"
raw = "data/chats.jsonl"
entry = "cache/*.jsonl"
build = "pkg.encode:encode_row"

[proof]
days = 30

[[gate]]
name = "labels"
command = "python tools/labels.py data"
sabotage = "sed -i s/assistant/user/ data/chats.jsonl"
covers = ["tools/*.py"]
seconds = 5
when = "run"

[[attest]]
question = "Do the chats read like chats?"
about = ["data/*.jsonl"]
days = 90

[[waiver]]
target = "ranks-agree@0123456789ab"
reason = "two cards, two kernels"
author = "ada"
until = 2026-12-31

[[attestation]]
term = "acme.licence"
value = "research only"
author = "ada"
seen = "the contract of 2026-01-01"
until = 2027-01-01

[expect]
attention.kernels = ["flash"]
"adapter.kind" = "lora"
attention.executed = { tally = { of = "calls", counts = [["flash", 4]] } }
"""


def reads(root: Path, text: str) -> Settings:
    (root / "affidavit.toml").write_text(text)
    return load(root, WORDS)


def test_no_file_is_all_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, WORDS) == Settings(root=tmp_path)
    assert reads(tmp_path, "") == Settings(root=tmp_path)


def test_every_section_is_read(tmp_path: Path) -> None:
    settings = reads(tmp_path, FULL)
    assert (settings.tokens, settings.gate, settings.gate_reason) == ("ids", "allow", "a notebook, not a release")
    assert settings.marks is False
    assert settings.canary_seconds == 10.0
    assert settings.declared == (
        Declared(name="chats", raw="data/chats.jsonl", entry="cache/*.jsonl", build="pkg.encode:encode_row"),
    )
    assert settings.proof_days == 30
    assert settings.gates == (
        Gate(
            name="labels",
            command="python tools/labels.py data",
            sabotage="sed -i s/assistant/user/ data/chats.jsonl",
            covers=("tools/*.py",),
            seconds=5.0,
            when="run",
        ),
    )
    assert settings.questions == (Question(question="Do the chats read like chats?", about=("data/*.jsonl",), days=90),)
    assert (settings.key, settings.witness) == ("ada", "git")
    assert (settings.tracker, settings.tracking_uri) == ("mlflow", "http://tracker:5000")
    *files, written = settings.trusted
    assert files == [tmp_path / "ada.pub", tmp_path / "keys" / "grace.pub"]
    assert isinstance(written, PublicKey) and (written.name, written.raw) == ("Lin", bytes(32))
    assert settings.revoked == (
        Revoked(key=tmp_path / "old.pub", since=datetime.date(2026, 11, 1), why="left on a train"),
    )
    assert settings.panels == (tmp_path / "panels" / "h100.json",)
    assert settings.waivers == (
        Waiver(
            target="ranks-agree@0123456789ab",
            reason="two cards, two kernels",
            author="ada",
            until=datetime.date(2026, 12, 31),
        ),
    )
    assert settings.attestations == (
        Attestation(
            term="acme.licence",
            value="research only",
            author="ada",
            seen="the contract of 2026-01-01",
            until=datetime.date(2027, 1, 1),
        ),
    )


def test_expectations_are_a_record_whose_names_need_no_quotes(tmp_path: Path) -> None:
    expected = reads(tmp_path, FULL).expected
    assert expected is not None and expected.kind is Kind.EXPECTATION
    assert {fact.name: fact.state.value for fact in expected.facts if isinstance(fact.state, Known)} == {
        "adapter.kind": "lora",
        "attention.executed": Tally.count("calls", {"flash": 4}),
        "attention.kernels": ("flash",),
    }
    assert {fact.state.source for fact in expected.facts if isinstance(fact.state, Known)} == {"affidavit.toml:expect"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[run]\ntoken = "ids"', 'run.token: nothing reads this; did you mean "tokens"'),
        ("[rnu]", 'rnu: nothing reads this; did you mean "run"'),
        ("zzz = 1", "zzz: nothing reads this; known: attest, attestation, cache, "),
        ('tokens = "ids"', 'tokens: nothing reads this; did you mean "tokens" under [run]'),
        ('run = "ids"', "run: expected a table [run]"),
        ('[run]\ntokens = "some"', "run.tokens: expected one of off, ids, text, saw 'some'"),
        ('[run]\nmarks = "off"', "run.marks: expected true or false, saw 'off'"),
        ("[cache]\ncanary_seconds = -1", "cache.canary_seconds: expected 0 to 60 seconds, saw -1"),
        ("[cache]\ncanary_seconds = true", "cache.canary_seconds: expected 0 to 60 seconds, saw True"),
        ("[[cache.declared]]\nname = 'a'", "cache.declared 1.build: expected text"),
        (
            "[[cache.declared]]\nname = 'a'\nraw = 'a'\nentry = '../a'\nbuild = 'a.b'",
            "cache.declared 1.build: expected module:function, saw 'a.b'; "
            "cache.declared 1.entry: expected a pattern below the project, saw '../a'",
        ),
        ("[[cache.declared]]\nnames = 'a'", 'cache.declared 1: names: nothing reads this; did you mean "name"'),
        ("[cache]\nentry = 'a'", "cache.entry: nothing reads this"),
        ("[run]\ntokens = 3", "run.tokens: expected one of off, ids, text, saw 3"),
        ('[tree]\ngate = "allow"', "tree.reason: expected text"),
        ('[tree]\ngate = "allow"\nreason = " "', "tree.reason: expected text"),
        ('[tree]\nreason = "why"', 'only gate = "allow" has a reason'),
        ('[panel]\nfiles = "a.json"', "panel.files: expected a list of texts"),
        ('[seal]\nkey = ""', "seal.key: expected text"),
        ('[seal]\ntrusted = "ada.pub"', "seal.trusted: expected a list of texts"),
        ('[seal]\ntrusted = ["ed25519:AAAA"]', "seal.trusted: public key: expected ed25519: and 32 bytes in base64"),
        ('[seal]\nrevoked = ["ada.pub"]', "seal.revoked: expected tables [[seal.revoked]], saw ['ada.pub']"),
        ('[[seal.revoked]]\nkey = "ada.pub"\nwhen = 1', "seal.revoked 1: when: nothing reads this"),
        ('[[seal.revoked]]\nkey = "ada.pub"\nwhy = "lost"', "seal.revoked 1.since: expected a date"),
        ('[seal]\nwitness = "svn"', "seal.witness: expected one of none, git, saw 'svn'"),
        ('[seal]\ntracker = "wandb"', "seal.tracker: expected one of none, mlflow, saw 'wandb'"),
        ('[seal]\ntracking_uri = "mlruns"', 'seal.tracking_uri: nothing asks it without tracker = "mlflow"'),
        (
            '[seal]\ntracker = "mlflow"\ntracking_uri = "http://ada:hunter2@tracker"',
            "seal.tracking_uri: expected no secret in a file that is committed, saw 'http://[redacted]@tracker'",
        ),
        ('[seal]\nkeys = "ada"', 'seal.keys: nothing reads this; did you mean "key"'),
        ('gate = "refuse"', "gate: expected tables [[gate]]"),
        ('[[gate]]\nname = "a"\ncommand = "b"', "gate 1.sabotage: expected text"),
        ('[[gate]]\nname = "a"\ncommand = "b"\nsabotage = "b"', "what plants a fault, saw the command itself"),
        ('[[gate]]\ncovers = ["../a"]', "gate 1.covers: expected a pattern below the project, saw '../a'"),
        ("[[gate]]\nseconds = 3601", "gate 1.seconds: expected 0 to 3600 seconds"),
        ('[[gate]]\nwhen = "ci"', "gate 1.when: expected one of preflight, run, saw 'ci'"),
        ('[[gate]]\nname = "a"\n[[gate]]\nname = "a"', "gate: two tables have the name 'a'"),
        ('[[attest]]\nquestion = "a"\ndays = 3', "attest 1.about: expected the files"),
        ('[[attest]]\nquestion = "a"\nabout = ["a"]', "attest 1.days: expected a whole number from 1 to 3,650, saw 0"),
        ('[[attest]]\nabout = ["data/**.jsonl"]', "attest 1.about: expected a pattern such as data/**/*.jsonl, saw"),
        ('[[gate]]\ncovers = ["."]', "gate 1.covers: expected a pattern such as data/**/*.jsonl, saw '.'"),
        ('[[gate]]\ncommand = "true \\u0000"', "gate 1.command: expected text without a NUL, saw"),
        ('[[attest]]\nabout = ["a\\u0000"]', "attest 1.about: expected texts without a NUL, saw"),
        ('[panel]\nfiles = ["a\\u0000"]', "panel.files: expected texts without a NUL, saw"),
        ("[proof]\ndays = 0", "proof.days: expected a whole number from 1 to 3,650, saw 0"),
        ('[waiver]\ntarget = "a"', "waiver: expected tables [[waiver]]"),
        ('[[waiver]]\ntarget = "a"\nreason = "b"\nauthor = "c"', "waiver 1.until: expected a date"),
        (
            '[[waiver]]\ntarget = "a"\nreason = "b"\nauthor = "c"\nuntil = "2026-12-31"',
            "waiver 1.until: expected a date",
        ),
        ('[[waiver]]\nchek = "a"', "waiver 1: chek: nothing reads this"),
        ('[expect]\n"attention.kernel" = ["flash"]', 'did you mean "attention.kernels"'),
        ("[expect]\nattention.kernel = 1", 'did you mean "attention.kernels"'),
        ('[expect]\n"attention.kernels" = "flash"', "attention.kernels: expected a tuple, saw 'flash'"),
        ("expect = 1", "expect: expected a table"),
        (
            '[[attestation]]\nterm = "attention.kernels"\nvalue = ["flash"]\nauthor = "a"\nseen = "b"\n'
            "until = 2027-01-01",
            "must be seen (EXECUTED); a person's word is not enough",
        ),
        (
            '[[attestation]]\nterm = "acme.licence"\nauthor = "a"\nseen = "b"\nuntil = 2027-01-01',
            "acme.licence: expected a str, saw None",
        ),
        ('[run]\ntokens = "ids"\ntokens = "off"\n', "line 3"),
        ("[run", "end of document"),
        ("a = " + "[" * 50_000, "recursion"),
        ("#" * 2_000_000, "2,000,000 bytes, 1,048,576 allowed"),
    ],
    ids=lambda text: text[:40],
)
def test_a_file_that_says_what_nothing_heeds_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        reads(tmp_path, text)
    assert why.lower() in str(caught.value).lower()
    assert str(caught.value).startswith("affidavit.toml: expected ") and "Not affected: " in str(caught.value)


def test_all_complaints_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        reads(tmp_path, '[run]\ntoken = "ids"\n[tree]\ngate = "open"\n[[waiver]]\ntarget = "a"\n')
    for part in ("run.token", "tree.gate", "waiver 1.reason", "waiver 1.author", "waiver 1.until"):
        assert part in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "affidavit.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="decode"):
        load(tmp_path, WORDS)


@pytest.mark.parametrize("mark", ["affidavit.toml", "affidavit.lock", ".git"])
def test_the_root_is_the_nearest_folder_upwards_with_a_mark(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).touch()
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find_root(deep) == tmp_path.resolve() == find_root(tmp_path)
    (tmp_path / "a" / ".git").mkdir()
    assert find_root(deep) == tmp_path.resolve() / "a"


def test_without_a_mark_the_root_is_where_one_stands(tmp_path: Path) -> None:
    assert find_root(tmp_path) == tmp_path.resolve()
