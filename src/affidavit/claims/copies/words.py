"""Words by which a number is known to be about a claim: in their stems, without those that stand everywhere.

Blind to: synonyms; words of another language than English, which are compared as they stand.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_ENDINGS: Final = {
    **dict.fromkeys(("izations", "ization", "izers", "izer", "izing", "ized", "izes", "ize"), "iz"),
    **dict.fromkeys(("isations", "isation", "isers", "iser", "ising", "ised"), "iz"),
    **dict.fromkeys(("ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing", "ers", "er", "ed", "es"), ""),
    **dict.fromkeys(("e", "s"), ""),
}
_SHORTEST: Final = 4
"""What is left of a word is no shorter, or the ending was none; an s may leave three."""
_SAME: Final = {
    "built": "build",
    "rebuilt": "rebuild",
    "ran": "run",
    "wrote": "writ",
    "written": "writ",
    "took": "take",
}
_STOP_WORDS = """
about above after again all also an and another any are as at be because been before being below between both but by
can cannot could did do does doing done down during each every few first for from further get gets got had has have
he her here his how if in into is it its itself just last like made make makes many may me might more most much must
my near need needs never new no nor not now of off old on once one only onto or other our out over own per please
same see seen she should since so some still such take takes than that the their them then there these they this
those through thus to too two under until up upon us use used uses using very via was way we well were what when
where which while who whose why will with within without would yes yet you your second seconds minute minutes hour
hours day days sec secs min mins ms percent point points byte bytes mb gb kb mib gib tb tok toks flop flops claim
claims measure measured measurement number numbers value values total median mean roughly around approximately least
best worst note todo fixme nb http https www com org html md py sh
"""
_STOP: Final = frozenset(_STOP_WORDS.split())
_COMMON_WORDS = """
run train model data dataset test file time step batch epoch token sample row example load save build size memory
gpu cpu code default script python layer param argument option config set list type return call function class
method input output eval evaluation loss learn rate length max number value path key name text line page process thread
worker server client request response connect timeout cache limit second speed fast slow performance benchmark usage
increase decrease reduce change update error fail start stop end wait pass result report log print document version user
system compute tensor array matrix kernel attention weight gradient optimizer scheduler warmup cost
"""


def stems(text: str) -> dict[str, str]:
    """Return the stem of each word of a text that says something, and the word; names are taken apart."""
    found = {_stem(word): word.lower() for word in reversed(_WORD.findall(text))}
    found.pop("", None)
    return found


def weight(stem: str) -> float:
    return 0.5 if stem in COMMON else 1.0


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    low = word.lower()
    if low in _STOP:
        return ""
    if low in _SAME:
        return _SAME[low]
    for ending, instead in _ENDINGS.items():
        if low.endswith(ending) and not low.endswith("ss"):
            left = low[: -len(ending)]
            if len(left) >= _SHORTEST or (ending == "s" and len(left) == 3):
                return left + instead
    return low


COMMON: Final = frozenset(map(_stem, _COMMON_WORDS.split()))
"""Stems that stand in any text of our subject; one of them says half of what another word says."""
