"""The shadow that PYTHONPATH puts in front: attaches to this interpreter, then steps aside.

This folder holds nothing else, so it shadows no package. It removes itself from ``sys.path``, starts the early half,
and lets the environment's own ``sitecustomize`` run as if nothing had been there. An error of ours is written down
and never raised; an error of theirs is raised as it would have been. Written so that any Python 3 can parse it.

Source: critic-architect R7 (without the last line every process without a sitecustomize of its own prints KeyError).
Blind to: python -I, -E and -S, and environments that were cleaned; ``hello`` then never appears, and that is said.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_package = os.path.dirname(os.path.dirname(_here))
_me = sys.modules.get("sitecustomize")
sys.path[:] = [place for place in sys.path if place != _here]

if os.environ.get("AFFIDAVIT_LAUNCH"):
    try:
        if sys.version_info < (3, 10):
            raise RuntimeError("Python {}.{} is too old to attach to; 3.10 is needed".format(*sys.version_info))
        from _frozen_importlib_external import spec_from_file_location
        from importlib import _bootstrap  # type: ignore[attr-defined]

        _spec = spec_from_file_location("_affidavit_early", os.path.join(_package, "attach", "early.py"))
        _bootstrap._load(_spec).start(_package)
    except Exception as _error:
        try:
            _where = os.path.dirname(os.environ["AFFIDAVIT_LAUNCH"])
            with open(os.path.join(_where, "hello.refused"), "a") as _file:
                _file.write(f"{type(_error).__name__}: {_error}\n")
        except OSError:
            sys.stderr.write(f"affidavit: not attached: {_error}\n")

sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ModuleNotFoundError as _missing:
    if _missing.name != "sitecustomize":
        raise
finally:
    if _me is not None:
        sys.modules.setdefault("sitecustomize", _me)
