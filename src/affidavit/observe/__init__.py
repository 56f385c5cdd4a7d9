"""The world as git, the file system and the source text show it: no framework, nothing of the user's is run.

Who owns each file that ran and whether its owner's record describes the bytes (`identify`), which files a
script would import (`script_closure`), what of a dirty tree matters (`examine`), and a commit of it that
touches nothing of the user's (`take`).
"""

from affidavit.observe.arguments import config_arguments
from affidavit.observe.code import CodeIdentity, identify
from affidavit.observe.error import ObserveError
from affidavit.observe.identity import FileIdentity, LoadedFile
from affidavit.observe.interpreter import Interpreter
from affidavit.observe.owner import Owner, OwnerKind
from affidavit.observe.repository import Repository
from affidavit.observe.scripts import Closure, module_closure, script_closure
from affidavit.observe.search_path import search_roots
from affidavit.observe.snapshot import Snapshot, take
from affidavit.observe.tree import TreeReport, TreeState, examine
from affidavit.observe.verdict import FileVerdict

__all__ = [
    "Closure",
    "CodeIdentity",
    "FileIdentity",
    "FileVerdict",
    "Interpreter",
    "LoadedFile",
    "ObserveError",
    "Owner",
    "OwnerKind",
    "Repository",
    "Snapshot",
    "TreeReport",
    "TreeState",
    "config_arguments",
    "examine",
    "identify",
    "module_closure",
    "script_closure",
    "search_roots",
    "take",
]
