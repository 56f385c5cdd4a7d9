"""What runs at the start of every interpreter we reach: a listing of files, a finder, and nothing else.

It costs milliseconds and imports only what the interpreter has loaded already; everything heavier waits until a
framework that an adapter knows is imported. Loaded by file path, because Affidavit need not be installed here.

Source: critic-architect R5–R8; DESIGN §5.1–5.4.
Blind to: native file access (safetensors, tokenizers, pyarrow raise no audit event), code that was never executed.
"""

from __future__ import annotations

import os
import stat
import sys
from _frozen_importlib_external import spec_from_file_location

CONFIG_SUFFIXES = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".jinja", ".jinja2")
CONFIG_BYTES = 1 << 20
"""A file larger than this is data, not a config; hashing it here would hold up whoever opened it."""
DATA_SUFFIXES = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".arrow", ".feather", ".parquet", ".npy", ".npz", ".bin", ".mds"),
    *(".pt", ".pth", ".pkl", ".pickle", ".h5", ".hdf5", ".msgpack", ".gz", ".zst", ".tar"),
)
MOST_DATA = 4096
"""So many files of data are listed; a run over a million small ones must not pay for each."""
_WRITING = os.O_WRONLY | os.O_RDWR
BOUND = "__affidavit_bound__"
"""Where a module says that it is bound; run anew, it is not."""
_HEARD = ("exec", "open", "cpython.run_file", "os.rename")


class Listing:
    """The files whose code this interpreter executes and the configs it opens, with a digest; and the data it opens.

    The digest is taken when the file passes, because a file edited a minute later is not what ran. An audit hook
    cannot be removed, so it is switched off by ``close()`` and from then on returns at once. What lies in the folders
    that are ``ours`` is no file of the run's. Of data that is ``read`` the size and the time of change are kept, since
    hashing it would hold up whoever opened it; data that this process has ``written`` is not read as somebody else's.
    """

    def __init__(self, *ours: str) -> None:
        self.digests: dict[str, str] = {}
        self.configs: dict[str, str] = {}
        self.elsewhere: dict[str, None] = {}
        self.read: dict[str, tuple[int, float]] = {}
        self.written: dict[str, None] = {}
        self.late = False
        self.missed = 0
        self._open = True
        scripts = tuple(os.path.join(prefix, "bin") + os.sep for prefix in {sys.prefix, sys.base_prefix})
        self._foreign = (os.path.dirname(os.__file__) + os.sep, *scripts)
        self._ours = tuple(place + os.sep for place in ours)

    def hook(self, event: str, args: tuple[object, ...]) -> None:
        if not self._open or event not in _HEARD:
            return
        try:
            if event == "exec":
                self._executed(getattr(args[0], "co_filename", ""))
            elif event == "open":
                self._opened(args)
            elif event == "os.rename":
                self._renamed(args)
            else:
                self._executed(str(args[0]))
        except Exception:  # noqa: BLE001  an exception from here would be the run's own open or import that fails
            self.missed += 1

    def close(self) -> None:
        self._open = False

    def add_modules(self, modules: object) -> None:
        """Add the files of modules that were imported before this listing began, or natively."""
        for module in list(modules.values()):  # type: ignore[attr-defined]
            try:  # not by getattr: a lazy module would do its import now, or raise
                path = object.__getattribute__(module, "__dict__").get("__file__")
            except (AttributeError, TypeError):
                continue
            if isinstance(path, str) and os.path.isabs(path):  # torch.ops calls itself "_ops.py", and no file is there
                self._executed(path)

    def _executed(self, path: str) -> None:
        if not path or path[0] == "<" or path in self.digests or path in self.elsewhere or path.startswith(self._ours):
            return
        if self._is_foreign(path):
            self.elsewhere[path] = None
        else:
            self.digests[path] = ""  # known from now on: what the digest opens and imports comes by here as well
            self.digests[path] = _digest(path)

    def _opened(self, args: tuple[object, ...]) -> None:
        path, _, flags = (*args, None, None, None)[:3]
        if not isinstance(path, str):
            if not isinstance(path, (bytes, os.PathLike)):
                return
            path = os.fsdecode(path)
        is_written = isinstance(flags, int) and bool(flags & _WRITING)
        if is_written:  # under whatever name: a writer that is careful renames what is whole
            self._wrote(path)
            return
        is_config = path.endswith(CONFIG_SUFFIXES)
        if not is_config and not path.endswith(DATA_SUFFIXES):
            return
        path = os.path.abspath(path)
        if path.startswith(self._ours) or self._is_foreign(path):
            return
        if path.endswith(DATA_SUFFIXES):
            self.add_data(path)
        if is_config and path not in self.configs and _is_small_file(path):
            self.configs[path] = ""
            self.configs[path] = _digest(path)

    def add_data(self, path: str) -> None:
        """Add a file of data that is read, unless this process wrote it."""
        if path in self.read or path in self.written or len(self.read) >= MOST_DATA:
            return
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(found.st_mode):
            self.read[path] = found.st_size, found.st_mtime

    def _wrote(self, path: str) -> None:
        if len(self.written) < MOST_DATA and not path.startswith(("/proc/", "/dev/", "/sys/")):
            path = os.path.abspath(path)
            if not path.startswith(self._ours):
                self.written[path] = None

    def _renamed(self, args: tuple[object, ...]) -> None:
        source, target = (os.path.abspath(os.fsdecode(path)) for path in args[:2])  # type: ignore[arg-type]
        if source in self.written:
            del self.written[source]
            self.written[target] = None

    def _is_foreign(self, path: str) -> bool:
        return path.startswith(self._foreign) or "site-packages" in path or "dist-packages" in path


def _digest(path: str) -> str:
    try:
        from hashlib import sha256

        with open(path, "rb") as file:
            return sha256(file.read()).hexdigest()
    except (OSError, ValueError, ImportError):
        return ""


def _is_small_file(path: str) -> bool:
    """Say whether a path may be read beside the run; a pipe may not, it gives what it holds only once."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= CONFIG_BYTES


class Finder:
    """Stands first in ``sys.meta_path``: serves our own package from the launcher's install, and wakes adapters.

    A framework that an adapter is named for is found by the finders behind us; its loader then tells us, after the
    module has run. Loader type, spec and source stay what they were.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.awaited: dict[str, object] = {}
        self._searching: set[str] = set()
        for entry in os.listdir(os.path.join(package, "adapters")):
            if not entry.startswith("_"):
                self.awaited[entry.removesuffix(".py")] = _wake

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name == "affidavit":
            return spec_from_file_location(
                name, os.path.join(self.package, "__init__.py"), submodule_search_locations=[self.package]
            )
        if name not in self.awaited or name in self._searching:
            return None
        self._searching.add(name)
        try:
            spec = _search(self, name, path, target)
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None:
            _tell(spec.loader, self.awaited[name])
        return spec

    def expect(self, name: str, bind: object) -> None:
        """Call ``bind(module)`` once a module has run, at once where it has run already."""
        self.awaited[name] = bind  # also where it has run: it may be reloaded
        module = sys.modules.get(name)
        if module is not None:
            bind(module)  # type: ignore[operator]


def _search(finder: object, name: str, path: object, target: object):  # type: ignore[no-untyped-def]
    for other in sys.meta_path:
        if other is not finder and hasattr(other, "find_spec"):
            spec = other.find_spec(name, path, target)  # type: ignore[arg-type]
            if spec is not None:
                return spec
    return None


def _tell(loader: object, bind: object) -> None:
    run = loader.exec_module  # type: ignore[attr-defined]

    def exec_module(module: object) -> None:
        loader.__dict__.pop("exec_module", None)
        module.__dict__.pop(BOUND, None)
        run(module)
        bind(module)  # type: ignore[operator]

    try:
        loader.exec_module = exec_module  # type: ignore[attr-defined]
    except AttributeError:
        refuse(f"{type(loader).__name__} lets nobody wait for the module that it loads")


def _wake(module: object) -> None:
    """Load the inner half and hand it the framework; whatever goes wrong there is ours to keep."""
    try:
        from affidavit import boot

        boot.wake(module.__name__)  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001  an adapter that cannot load must not stop the import it waited for
        refuse(f"adapter for {getattr(module, '__name__', module)}: {type(error).__name__}: {error}")


def refuse(why: str) -> None:
    """Write down why something of ours did not attach, where the launcher looks for it; else say it, once."""
    global _said
    try:
        with open(os.path.join(os.path.dirname(os.environ["AFFIDAVIT_LAUNCH"]), "hello.refused"), "a") as file:
            file.write(why + "\n")
    except (OSError, KeyError):
        if not _said:
            _said = True
            sys.stderr.write(f"affidavit: {why}\n")


_said = False


listing: Listing
finder: Finder


def start(package: str) -> None:
    """Attach to this interpreter. Called once, by the shadow or by the explicit line."""
    global listing, finder
    launch = os.environ.get("AFFIDAVIT_LAUNCH", "")
    listing = Listing(package, os.path.dirname(launch)) if launch else Listing(package)
    finder = Finder(package)
    sys.modules["_affidavit_early"] = sys.modules[__name__]
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    sys.addaudithook(listing.hook)
    _hello(launch)
    _rehearse(launch)


def _rehearse(launch: str) -> None:
    """Put the write veto in place before the script's first line, where this is a rehearsal."""
    try:
        with open(launch) as file:
            if '"mode":"rehearsal"' not in file.read().replace(" ", ""):
                return
    except OSError:
        return
    from pathlib import Path

    from affidavit.attach.veto import rehearse

    rehearse(Path(launch).parent)


def _hello(launch: str) -> None:
    """Make the file that proves that anything attached at all; the first process to come wins."""
    if not launch:
        return
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(os.path.join(os.path.dirname(launch), "hello"), flags, 0o644)
    except OSError:
        return
    executable = str(sys.executable).replace("\\", "\\\\").replace('"', '\\"')
    text = f'{{"pid": {os.getpid()}, "python": "{sys.version.split()[0]}", "executable": "{executable}"}}\n'
    os.write(descriptor, text.encode("utf-8", "surrogateescape"))
    os.close(descriptor)
