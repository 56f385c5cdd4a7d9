"""What a guard is worth: its function is disarmed in memory, one way at a time, and a test is asked whether it minds.

    target (resolve "module:function") → sites (what can be disarmed) → mutant (code to put in its place) → swap, limit

Nothing is written anywhere: a mutant is a code object that stands in ``function.__code__`` for the length of one test.
"""
