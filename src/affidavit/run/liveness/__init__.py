"""Whether a run lives: what is seen of it, how long it may be silent, and one word for both.

An alarm that can only say "alive" is worse than none (landmine 4.5): it matches its own text, takes a dead process that
nobody has asked for yet for a living one, or hears a heartbeat of a thread beside a loop that stands still. So identity
is boot, pid namespace, pid and start time; progress is a step that the loop itself has taken; and what cannot be seen
from here is no sign of life.

``look`` touches the world and ``judge`` does not, so that every case of the table is a test of its own.
"""
