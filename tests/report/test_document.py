import json

from tests.report.world import healthy, statement

from affidavit.report import document


def test_the_document_says_what_the_text_says() -> None:
    case = healthy(ranks=2).altered("attention.kernels", ("math",), rank=1)
    said = json.loads(document.encode(document.statement(statement(case))))
    assert said["format"] == 1
    assert said["decision"]["exit_code"] == 1
    assert said["decision"]["blocking"] == ["attention-as-requested"]
    assert [row["section"] for row in said["checklist"]] == [f"4.{number}" for number in range(1, 8)]
    assert said["checklist"][0]["verdict"] is None and said["checklist"][0]["uncovered"]
    fail = next(found for found in said["findings"] if found["verdict"] == "FAIL")
    assert fail["sites"][0]["rank"] == 1 and fail["sites"][0]["fingerprint"]
    assert said["attached"] == said["world"] == 2


def test_every_fact_stands_with_its_method_source_and_ranks() -> None:
    said = json.loads(document.encode(document.statement(statement(healthy(ranks=2)))))
    kernels = next(fact for fact in said["facts"] if fact["term"] == "attention.kernels")
    assert kernels["resolved"] == {"value": {"strings": ["flash"]}, "method": "EXECUTED", "source": "example"}
    assert kernels["ranks"] == [0, 1] and kernels["requested"] is None


def test_the_document_is_ascii_whatever_a_value_holds() -> None:
    case = healthy().altered("tree.commit", "\x1b[2J‮漢\udcff")
    encoded = document.encode(document.statement(statement(case)))
    assert encoded.isascii() and "\x1b" not in encoded
    json.loads(encoded)
