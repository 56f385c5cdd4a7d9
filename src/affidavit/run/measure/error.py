"""The one error of this package: nothing was measured."""

from __future__ import annotations

from affidavit.fact.errors import AffidavitError, refusal


class MeasureError(AffidavitError):
    """Nothing was measured; the message says why."""


def unmeasured(*, subject: str, expected: str, saw: str, action: str) -> MeasureError:
    """Return the error for what gave no number: nothing is written then, and no earlier number is touched."""
    return MeasureError(
        refusal(
            subject=subject,
            expected=expected,
            saw=saw,
            means="What failed was not measured, so nothing was written.",
            action=action,
            unaffected="the measurements that are there",
        )
    )
