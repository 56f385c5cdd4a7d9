# ruff: noqa: E501  a row of a table is one line
"""One thing changes: the key moves with the result, and stays when only the text moved. The peer's stands beside it.

Source: anchors-mechanisms C1 and hf-stack-spike §5; datasets' ``Hasher`` is asked in the same process.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pairs import ENC, HELPER, LATE, Seen, look, make

from affidavit.cache.preimage import differ

STALE, SEEN, NOT_ASKED = "stale", "seen", ""
ENCODE = "import enc\nfunction = enc.encode\n"
TOK = "import enc, functools\nfunction = functools.partial(enc.encode, tok=enc.Tok())\n"


@dataclass(frozen=True)
class Pair:
    """A change that moves the result; ``peer`` is what datasets does, ``says`` what our difference must say."""

    name: str
    build: str
    file: str
    old: str
    new: str
    peer: str
    says: str
    memory: str = "stale"
    """What ``joblib.Memory`` does."""


MOVES = [
    Pair("body of the function", ENCODE, "enc.py", "kept[:LIMIT]", "kept[1:LIMIT]", STALE, "source enc.encode changed",
         SEEN),
    Pair("global constant", ENCODE, "enc.py", "LIMIT = 3", "LIMIT = 2", STALE, "global enc.LIMIT was 3, is 2"),
    Pair("method of an argument's class", TOK, "enc.py", "* self.scale + self", "* self.scale - 1 + self", STALE,
         "source enc.Tok.ids changed", NOT_ASKED),
    Pair("attribute of a class", ENCODE, "enc.py", "scale = 2", "scale = 3", STALE, "attribute enc.Tok.scale was 2, is 3"),
    Pair("body of a helper", "import enc\nfunction = enc.encode\n", "helper.py", "len(text) + 1", "len(text) + 2", STALE,
         "source helper.h changed"),
    Pair("the mask in another module", ENCODE, "helper.py", "{196, 200}", "{196, 198}", STALE,
         "global helper.MASK was {196, 200}, is {196, 198}"),
    Pair("helper imported by name", ENCODE, "helper.py", "+ 1", "+ 3", STALE, "source helper.h changed"),
    Pair("import inside the body", "import enc\nfunction = enc.inside\n", "late.py", "text + SUFFIX", "text * 2 + SUFFIX",
         STALE, "source late.shape changed"),
    Pair("global behind an import inside the body", "import enc\nfunction = enc.inside\n", "late.py", '"x"', '"y"', STALE,
         "global late.SUFFIX was 'x', is 'y'"),
    Pair("file read inside", "import enc\nfunction = enc.opened\n", "mask.txt", "ab", "abc", STALE,
         "file mask.txt was 2 bytes, is 3 bytes"),
    Pair("default value", ENCODE, "enc.py", "tok=None", "tok=Tok(9)", STALE, "default enc.encode.tok", SEEN),
]  # fmt: skip


def _both(folder: Path, pair: Pair) -> tuple[Seen, Seen]:
    make(folder)
    before = look(folder, pair.build)
    path = folder / pair.file
    assert path.read_text().count(pair.old) >= 1
    path.write_text(path.read_text().replace(pair.old, pair.new))
    return before, look(folder, pair.build)


def _said(before: Seen, after: Seen) -> str:
    assert before.ours is not None, before.refused
    assert after.ours is not None, after.refused
    return "\n".join(change.says for change in differ(before.ours, after.ours))


@pytest.mark.parametrize("pair", MOVES, ids=lambda pair: pair.name)
def test_the_key_moves_with_the_result(pair: Pair, tmp_path: Path) -> None:
    before, after = _both(tmp_path, pair)
    assert before.output != after.output
    assert pair.says in _said(before, after)
    assert (before.peer == after.peer) == (pair.peer == STALE)
    assert after.memory == {STALE: before.output, SEEN: after.output, NOT_ASKED: ""}[pair.memory]


BUILT = [
    ("attribute of an argument", "function = functools.partial(enc.encode, tok=enc.Tok(pad={0}))", ("0", "7"), SEEN,
     "argument tok"),
    ("value of a closure", "function = enc.factory({0})", ("1", "2"), SEEN, "closure enc.factory.<locals>.repeat.times was 1, is 2"),
    ("argument of a partial", "function = functools.partial(lambda n, row: n, {0})", ("1", "2"), SEEN, "argument 0 was 1, is 2"),
    ("method patched on an instance's class", "enc.Tok.ids = lambda self, text: [{0}]\nfunction = enc.encode", ("1", "2"),
     STALE, "source .<lambda> changed"),
    ("global of the script", "LIMIT = {0}\ndef function(row):\n    return row['text'][:LIMIT]", ("1", "2"), SEEN,
     "LIMIT was 1, is 2"),
    ("another function under the same explicit fingerprint", "function = enc.{0}", ("inside", "stated"), SEEN, "is new"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "build", "values", "peer", "says"), BUILT, ids=[row[0] for row in BUILT])
def test_the_key_moves_with_live_values(
    name: str, build: str, values: tuple[str, str], peer: str, says: str, tmp_path: Path
) -> None:
    make(tmp_path)
    before, after = (look(tmp_path, "import enc, functools\n" + build.replace("{0}", value)) for value in values)
    assert before.output != after.output
    assert says in _said(before, after)
    assert (before.peer == after.peer) == (peer == STALE)


def test_an_environment_variable_moves_the_key(tmp_path: Path) -> None:
    make(tmp_path)
    build = "import enc\nfunction = enc.stated\n"
    before, after = (look(tmp_path, build, environment={"STYLE": style}) for style in ("plain", "bold"))
    assert before.output != after.output
    assert _said(before, after) == "environment STYLE was plain, is bold"
    assert before.peer == after.peer
    assert after.memory == before.output


def test_a_closure_moves_the_key_and_not_the_memory(tmp_path: Path) -> None:
    make(tmp_path)
    before, after = (look(tmp_path, f"import enc\nfunction = enc.factory({times})\n") for times in (1, 2))
    assert before.output != after.output
    assert _said(before, after) == "closure enc.factory.<locals>.repeat.times was 1, is 2"
    assert after.memory == before.output


def test_a_draw_from_the_process_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    seen = look(tmp_path, "import enc\nfunction = enc.drawn\n")
    assert seen.ours is None
    assert "cache key, random:" in seen.refused


STAYS = [
    ("comment", "enc.py", "    kept =", "    # kept in order\n    kept ="),
    ("docstring", "enc.py", '"""Return ids."""', '"""Return the ids of a row."""'),
    ("docstring taken away", "enc.py", '    """Return ids."""\n', ""),
    ("function moved down", "enc.py", "def encode", "def between():\n    return 1\n\n\ndef encode"),
    ("local variable renamed", "enc.py", "kept", "left"),
    ("what the function cannot reach", "late.py", "text + SUFFIX", "text"),
    ("a value written otherwise", "helper.py", "{196, 200}", "{200, 98 * 2}"),
]


@pytest.mark.parametrize(("name", "file", "old", "new"), STAYS, ids=[row[0] for row in STAYS])
def test_the_key_stays_where_only_the_text_moved(name: str, file: str, old: str, new: str, tmp_path: Path) -> None:
    before, after = _both(tmp_path, Pair(name, ENCODE, file, old, new, STALE, ""))
    assert before.output == after.output
    assert _said(before, after) == ""


def test_a_renamed_function_is_a_miss_that_says_so(tmp_path: Path) -> None:
    make(tmp_path)
    before = look(tmp_path, ENCODE)
    (tmp_path / "enc.py").write_text(ENC.replace("def encode", "def encoded"))
    said = _said(before, look(tmp_path, "import enc\nfunction = enc.encoded\n"))
    assert "source enc.encode is gone" in said
    assert "source enc.encoded is new" in said


PACKAGE = {"lib/site-packages/pack/__init__.py": "__version__ = '1'\nMASK = {97}\n\n\ndef cut(row):\n    return [ord(x) for x in row['text'] if ord(x) not in MASK]\n"}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [("{97}", "{98}", "global pack.MASK was {97}, is {98}"), ("ord(x) for", "-ord(x) for", "source pack.cut changed")],
    ids=["global", "upgraded"],
)
def test_a_module_under_site_packages_is_no_blind_spot(old: str, new: str, says: str, tmp_path: Path) -> None:
    make(tmp_path, PACKAGE)
    build = "import pack\nfunction = lambda row: pack.cut(row)\n"
    file = tmp_path / "lib/site-packages/pack/__init__.py"
    before = look(tmp_path, build)
    file.write_text(file.read_text().replace(old, new).replace("'1'", "'2'"))
    after = look(tmp_path, build)
    assert before.output != after.output
    assert says in _said(before, after)
    assert before.peer == after.peer


def test_installed_by_a_distribution_the_mapped_function_is_followed_all_the_same(tmp_path: Path) -> None:
    """The user's own package, installed and not editable: where it lies must not change what the key sees."""
    site = "lib/site-packages/pack-1.dist-info"
    make(tmp_path, {**PACKAGE, f"{site}/METADATA": "Metadata-Version: 2.1\nName: pack\nVersion: 1\n",
                    f"{site}/RECORD": "pack/__init__.py,sha256=x,1\n", f"{site}/top_level.txt": "pack\n"})  # fmt: skip
    build = "import pack\nfunction = pack.cut\n"
    file = tmp_path / "lib/site-packages/pack/__init__.py"
    before = look(tmp_path, build)
    file.write_text(file.read_text().replace("{97}", "{98}"))
    assert "global pack.MASK was {97}, is {98}" in _said(before, look(tmp_path, build))


def test_a_distribution_stands_by_version_and_content(tmp_path: Path) -> None:
    site = "lib/site-packages/pack-1.dist-info"
    make(tmp_path, {**PACKAGE, f"{site}/METADATA": "Metadata-Version: 2.1\nName: pack\nVersion: 1\n",
                    f"{site}/RECORD": "pack/__init__.py,sha256=x,1\n", f"{site}/top_level.txt": "pack\n"})  # fmt: skip
    build = "import pack\nfunction = lambda row: pack.cut(row)\n"
    file = tmp_path / "lib/site-packages/pack/__init__.py"
    before = look(tmp_path, build)
    file.write_text(file.read_text().replace("ord(x) for", "-ord(x) for"))
    edited = look(tmp_path, build)
    assert "package pack changed" in _said(before, edited)  # by hand, under the same version
    (tmp_path / site / "METADATA").write_text("Metadata-Version: 2.1\nName: pack\nVersion: 2\n")
    assert "package pack was 1, is 2" in _said(edited, look(tmp_path, build))


TOKENIZER = """
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast
backend = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2, "[PAD]": 3}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")
row = {"text": "a b c a"}
{0}
function = lambda row: tok(row["text"])["input_ids"]
"""
TOKENIZERS = [
    ("tokens added", "tok.add_tokens(['c'])", SEEN, "tok.backend.added_tokens"),
    ("maximal length", "tok.model_max_length = 2", SEEN, "tok.model_max_length"),
    ("post processor", "tok.backend_tokenizer.post_processor = processors.TemplateProcessing(single='a $0', "
     "special_tokens=[('a', 0)])", SEEN, "tok.backend.post_processor"),
    ("chat template", "tok.chat_template = '{{ messages }}'", SEEN, "tok.chat_template"),
    ("padding side", "tok.padding_side = 'left'", SEEN, "tok.padding_side was 'right', is 'left'"),
    ("special token", "tok.eos_token = 'b'", SEEN, "special_tokens_map"),
    ("method patched on its class", "PreTrainedTokenizerFast.__call__ = lambda self, text: {'input_ids': [7]}", STALE,
     "TokenizersBackend.__call__"),
    ("method patched on it", "tok._encode_plus = lambda *rest, **more: {'input_ids': [8]}", SEEN, "tok._encode_plus"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "peer", "says"), TOKENIZERS, ids=[row[0] for row in TOKENIZERS])
def test_every_part_of_a_tokenizer_moves_the_key(name: str, change: str, peer: str, says: str, tmp_path: Path) -> None:
    make(tmp_path)
    before, after = (look(tmp_path, TOKENIZER.replace("{0}", done)) for done in ("", change))
    assert says in _said(before, after)
    assert (before.peer == after.peer) == (peer == STALE)


def test_a_call_that_truncates_and_pads_leaves_the_key(tmp_path: Path) -> None:
    make(tmp_path)
    call = "tok('a b a', truncation=True, max_length=2, padding='max_length')"
    before, after = (look(tmp_path, TOKENIZER.replace("{0}", done)) for done in ("", call))
    assert _said(before, after) == ""


DATA = """
import datasets
data = datasets.load_from_disk("data")
function = lambda row: row
keywords = {"config": {"data": data}, "artifacts": ["data"]}
peer = data._fingerprint
result = lambda: repr(data[0])
"""


def test_rows_swapped_on_disk_under_the_same_state_move_the_key(tmp_path: Path) -> None:
    make(tmp_path)
    write = (
        "import datasets\ndatasets.Dataset.from_dict({'x': [{0}]}).save_to_disk('{1}')\nfunction = lambda row: row\n"
    )
    look(tmp_path, write.replace("{0}", "59").replace("{1}", "data"))
    look(tmp_path, write.replace("{0}", "5900").replace("{1}", "other"))
    before = look(tmp_path, DATA)
    (table,) = (tmp_path / "data").glob("*.arrow")
    (other,) = (tmp_path / "other").glob("*.arrow")
    table.write_bytes(other.read_bytes())
    after = look(tmp_path, DATA)
    assert before.output != after.output
    said = _said(before, after)
    assert "artifact data" in said
    assert "config data changed" in said
    assert before.peer == after.peer


def test_a_source_rewritten_under_its_old_time_moves_the_key(tmp_path: Path) -> None:
    import os

    make(tmp_path, {"rows.json": '{"x": 1}\n', "pyproject.toml": ""})
    build = "function = lambda row: row\nkeywords = {'artifacts': ['rows.json']}\n"
    before = look(tmp_path, build)
    stat = (tmp_path / "rows.json").stat()
    (tmp_path / "rows.json").write_text('{"x": 2}\n')
    os.utime(tmp_path / "rows.json", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "artifact rows.json changed" in _said(before, look(tmp_path, build))


def test_names_used_here_are_those_of_the_project() -> None:
    assert "LIMIT = 3" in ENC
    assert "MASK" in HELPER
    assert "SUFFIX" in LATE
