"""What may be taken back, and by what: nothing is written of which nobody could look for the numbers.

Source: playbook §4.7.
Blind to: a successor that is taken back later; its places are told then.
"""

from __future__ import annotations

from affidavit.claims.error import ClaimsError
from affidavit.claims.quantity import quantities
from affidavit.claims.superseded import said_now
from affidavit.fact.errors import refusal
from affidavit.record.measurement import FILE, Measurement, Measurements, Supersession, is_name

_BASES = {"time": "s", "fraction": "percent"}
"""How the base unit of a dimension is written where it is not the dimension's own name."""


def estimated(said: Supersession, was: str, measurements: Measurements) -> tuple[Measurement, ...]:
    """Return what a claim said that nobody ever measured, as a line of its own; nothing where it was.

    Args:
        was: what it said, with its unit, or "".
    Raises:
        ClaimsError: it is no quantity, of several claims, or of one that was measured.
    """
    if not was:
        return ()
    claims, found = said.claims, quantities(was)
    known = len(claims) == 1 and measurements.last(claims[0]) is None and is_name(claims[0])
    if len(found) != 1 or not known:
        raise ClaimsError(_no_estimate(claims, was))
    one, unit = found[0], found[0].unit.strip()
    value = float(one.exact / one.scale) if unit else one.value
    known_as = unit or _BASES.get(one.dimension, one.dimension)
    return (Measurement(name=claims[0], value=value, unit=known_as, date=said.date, note="never measured"),)


def refuse_dangling(said: Supersession, measurements: Measurements, *, has_estimate: bool) -> None:
    """See that claims are known, and that what is to stand in their place stands.

    Args:
        has_estimate: whether the claim is one that nobody ever measured.
    Raises:
        ClaimsError: a name is unknown, a successor was taken back itself, or there is no reason.
    """
    asked = [*(() if has_estimate else said.claims), *filter(None, (said.by,))]
    unknown = [name for name in asked if measurements.last(name) is None]
    now = said_now(said.by, measurements) if said.by and not unknown else None
    is_dead = bool(said.by) and not unknown and (now is None or now.name in said.claims)
    if unknown or is_dead or not said.why:
        raise ClaimsError(_cannot_supersede(said, unknown, measurements))


def _no_estimate(claims: tuple[str, ...], was: str) -> str:
    return refusal(
        subject="--was",
        expected="one number with its unit, of one claim that was never measured",
        saw=f"{was!r:.60} of {', '.join(claims):.200}",
        means="It could not be looked for, so nothing was written.",
        action="Give the estimate a name of its own, such as encode-cache-estimate, and say --was '4.3 h'.",
        unaffected=f"the lines of {FILE} that are there",
    )


def _cannot_supersede(said: Supersession, unknown: list[str], measurements: Measurements) -> str:
    near = [f"{name} (did you mean {near}?)" if (near := measurements.near(name)) else name for name in unknown]
    taken_back = f"{said.by}, which was taken back itself" if measurements.superseded(said.by) else "no reason"
    circle = f"{said.by} in its own place" if said.by in said.claims else taken_back
    return refusal(
        subject="supersede",
        expected=f"claims that are in {FILE}, another one that stands as successor, and why",
        saw=f"no measurement of {', '.join(near)}" if unknown else circle,
        means="Nobody could look for their numbers, so nothing was written.",
        action='Run "affidavit claims ls"; of a number that was never measured, say what it was with --was.',
        unaffected=f"the lines of {FILE} that are there",
    )
