"""The errors of this package: nothing was measured."""

from __future__ import annotations

from affidavit.fact.errors import AffidavitError, refusal


class MeasureError(AffidavitError):
    """Nothing was measured; the message says why, and what was seen before that."""

    def __init__(self, *, subject: str, expected: str, saw: str, action: str, earlier: str = "") -> None:
        self._said = {"subject": subject, "expected": expected, "saw": saw, "action": action}
        means = f"What failed was not measured, so nothing was written{f'; {earlier}' if earlier else ''}."
        super().__init__(refusal(**self._said, means=means, unaffected="the measurements that are there"))

    def after(self, earlier: str) -> MeasureError:
        """Return the same error with what had been measured until then, which is written nowhere else."""
        return type(self)(**self._said, earlier=earlier)


class StoppedError(MeasureError):
    """Somebody stopped the measurement; it ends as a shell says that it was stopped."""

    code = 130


def unmeasured(*, subject: str, expected: str, saw: str, action: str) -> MeasureError:
    """Return the error for what gave no number: nothing is written then, and no earlier number is touched."""
    return MeasureError(subject=subject, expected=expected, saw=saw, action=action)
