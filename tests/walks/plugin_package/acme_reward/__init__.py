"""A plugin as its author ships it: one term, one instrument, one check, each under the prefix ``acme``.

It names its parts and imports none of them: the instrument loads in the training process, the check outside, and
neither environment has what the other needs.
"""

TERMS = ("terms",)
INSTRUMENTS = ("instrument",)
CHECKS = ("check",)
