"""Config files keep what a loader throws away: lines, duplicates, quotes; what is broken is said and never raised."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit.lint.configs import Document, kind_of, read_document
from affidavit.lint.configs.document import last, twice
from affidavit.lint.request import Unread

TEXT = {
    "a.yaml": "x: 1\ny:\n  z: two\n",
    "a.json": '{"x": 1,\n "y": {\n  "z": "two"}}',
    "a.toml": 'x = 1\n[y]\nz = "two"\n',
}


def one(tmp_path: Path, text: str, name: str = "a.yaml") -> Document:
    (tmp_path / name).write_text(text)
    read = read_document(tmp_path / name)
    assert not isinstance(read, Unread)
    (document,) = read
    return document


@pytest.mark.parametrize("name", TEXT)
def test_every_form_gives_names_values_and_lines(tmp_path: Path, name: str) -> None:
    x, y = one(tmp_path, TEXT[name], name).entries
    (z,) = y.inside
    assert [(entry.key, entry.line, entry.value, entry.tag) for entry in (x, y, z)] == [
        ("x", 1, "1", "int"),
        ("y", 2, "", "map"),
        ("z", 3, "two", "str"),
    ]


def test_a_file_of_several_documents_gives_each(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("x: 1\n---\n- 2\n---\ny: 3\n")
    read = read_document(tmp_path / "a.yaml")
    assert not isinstance(read, Unread)
    assert [document.names for document in read] == [("x",), ("y",)]


def test_a_merged_key_loses_to_one_that_is_written(tmp_path: Path) -> None:
    document = one(tmp_path, "d: &d\n  a: 1\n  b: 2\nuse:\n  <<: *d\n  b: 3\nmany:\n  <<: [*d, {c: 4}]\n")
    use, many = document.entries[1:]
    assert document.entries[0].is_anchored and not use.is_anchored
    assert {entry.key: entry.value for entry in last(use.inside)} == {"a": "1", "b": "3"}
    assert {entry.key for entry in many.inside} == {"a", "b", "c"}
    assert not list(twice(document.entries))


@pytest.mark.parametrize(
    ("name", "text"), [("a.yaml", "a:\n  b: 1\n  c: 2\n  b: 3\n"), ("a.json", '{"a": {"b": 1,\n"c": 2,\n"b": 3}}')]
)
def test_a_duplicate_is_kept_at_any_depth(tmp_path: Path, name: str, text: str) -> None:
    ((before, after),) = twice(one(tmp_path, text, name).entries)
    assert (before.key, before.value, after.value) == ("b", "1", "3")
    assert not list(twice(one(tmp_path, text.replace("1", "3"), name).entries))


@pytest.mark.parametrize(
    ("name", "text", "line", "word"),
    [
        ("a.yaml", "a: 1\nb: [1\n", 3, "no YAML"),
        ("a.yaml", "a: 1\n\tb: 2\n", 2, "no YAML"),
        ("a.json", '{"a": 1,\n "b": }', 2, "no JSON"),
        ("a.json", '{"a": {"b": 1}\n {"b": 2}}', 2, "no JSON"),
        ("a.json", '{"a": 1}\n}', 2, "no JSON"),
        ("a.toml", "a = 1\na = 2\n", 2, "no TOML"),
        ("a.yaml", b"\xff\xfe", 1, "no UTF-8 text"),
    ],
)
def test_a_broken_file_is_said_with_its_line(
    tmp_path: Path, name: str, text: str | bytes, line: int, word: str
) -> None:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    read = read_document(tmp_path / name)
    assert isinstance(read, Unread)
    assert (read.line, read.why.partition(":")[0]) == (line, word)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package-lock.json", "{"),
        ("tokenizer.json", "{"),
        ("config.json", "{"),
        (".vscode/settings.json", "{ // a comment\n}"),
        ("rows.json", "[1, 2]"),
        ("lines.json", '{"sentence": "one", "label": 0}\n{"sentence": "two", "label": 1}\n'),
        ("cut_off.json", '\ufeff{"label": 0}\n\n{"labe'),
        ("chart.yaml", "a: {{ .Values.a }}\nb: {{ c\n"),
    ],
)
def test_what_is_no_config_is_passed_over(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert read_document(tmp_path / name) == ()


def test_aliases_of_aliases_end(tmp_path: Path) -> None:
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 40))]
    (tmp_path / "a.yaml").write_text("\n".join(lines))
    begun = time.process_time()
    assert read_document(tmp_path / "a.yaml") == ()
    assert time.process_time() - begun < 2


def test_a_mapping_that_holds_itself_ends(tmp_path: Path) -> None:
    assert one(tmp_path, "a: &a\n  b: *a\n  c: 1\n").names == ("a",)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("compute_environment: LOCAL_MACHINE\ndistributed_type: NO\n", "accelerate"),
        ("zero_optimization: {stage: 2}\n", "deepspeed"),
        ("base_model: x\nsequence_len: 8\ndatasets: []\n", "axolotl"),
        ("model_name_or_path: x\nstage: sft\nfinetuning_type: lora\n", "llamafactory"),
        ("learning_rate: 1.0e-4\nnum_train_epochs: 1\noutput_dir: x\nmy_key: 1\n", "arguments"),
        ("on: push\njobs: {}\nname: ci\n", ""),
        ("model: {learning_rate: 1}\ntrainer: {max_steps: 3}\nseed: 1\n", ""),
    ],
)
def test_a_config_says_what_it_is(tmp_path: Path, text: str, kind: str) -> None:
    assert kind_of(one(tmp_path, text)) == kind


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(st.binary(max_size=300), st.text(alphabet='{}[]:,"&*<!-\n\t ab1.=#', max_size=200).map(str.encode)),
    suffix=st.sampled_from([".yaml", ".json", ".toml"]),
)
def test_no_bytes_raise(tmp_path: Path, text: bytes, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    file.write_bytes(text)
    read = read_document(file)
    if not isinstance(read, Unread):
        for document in read:
            assert kind_of(document) is not None
            list(twice(document.entries))
            assert all(1 <= entry.line <= text.count(b"\n") + text.count(b"\r") + 1 for entry in document.entries)


@pytest.mark.parametrize(
    "text", ["[" * 5000, "{" * 5000, '{"a":' * 5000, "\n".join(" " * n + "a:" for n in range(1500))]
)
@pytest.mark.parametrize("suffix", [".yaml", ".json", ".toml"])
def test_no_depth_raises(tmp_path: Path, text: str, suffix: str) -> None:
    (tmp_path / f"a{suffix}").write_text(text)
    read_document(tmp_path / f"a{suffix}")
