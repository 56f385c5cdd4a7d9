"""The one base exception of Affidavit."""


class AffidavitError(Exception):
    """Affidavit could not judge; a FAIL, by contrast, is a judgement and is never raised."""


def refusal(*, subject: str, expected: str, saw: str, means: str, action: str, unaffected: str) -> str:
    """Return the one shape that every error of ours has.

    >>> refusal(subject="x", expected="1 (lock)", saw="2 (executed)", means="It lies.",
    ...         action='Run "affidavit show".', unaffected="the loss")
    'x: expected 1 (lock), saw 2 (executed).\\nIt lies. Run "affidavit show".\\nNot affected: the loss.'
    """
    said = f"{subject}: expected {expected}, saw {saw.removesuffix('.')}."
    said = said.replace("\n", "⏎")  # a value must not forge a line of ours
    return f"{said}\n{means} {action}\nNot affected: {unaffected}."
