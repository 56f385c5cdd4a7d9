"""Lightning under its older name, a package of its own with the same modules."""

from affidavit.adapters.lightning import BINDS as UNDER_THE_NEWER_NAME
from affidavit.adapters.lightning import DESCRIBERS, TURN

BINDS = {name.replace("lightning.pytorch", "pytorch_lightning"): bind for name, bind in UNDER_THE_NEWER_NAME.items()}

__all__ = ["BINDS", "DESCRIBERS", "TURN"]
