"""What keeps claims from being judged, or taken back."""

from __future__ import annotations

from affidavit.fact.errors import AffidavitError


class ClaimsError(AffidavitError):
    """What was asked of claims cannot be answered: nothing was measured, or no claim has that name."""
