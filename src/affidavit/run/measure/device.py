"""What a number was measured on: processor, cores, GPUs and system, as the kernel names them.

A GPU is named without importing a framework: that would take longer than most of what is measured, and hold the device.

Source: /proc/cpuinfo, sched_getaffinity(2), /proc/driver/nvidia, nvidia-smi, sysfs.
Blind to: a quota of a container, clocks, the load of neighbours, devices on other nodes.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

SMI_SECONDS = 20.0
_SIZE = 1 << 16


def device(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what this machine is; a part that cannot be seen is left out.

    Args:
        root: where the file systems of the kernel are.
        environment: of what is measured; our own by default.
    """
    found = {
        "processor": _processor(root),
        "cores": str(len(os.sched_getaffinity(0))),
        "gpu": _counted(_gpus(root)),
        "gpu_visible": _visible(environment),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    return {name: text for name, text in found.items() if text}


def _visible(environment: Mapping[str, str] | None) -> str:
    """Return which GPUs the measured process may use, in CUDA's words; "none" where they are hidden from it."""
    said = (os.environ if environment is None else environment).get("CUDA_VISIBLE_DEVICES")
    return "" if said is None else said.strip() or "none"


def _processor(root: Path) -> str:
    found = re.search(r"^(?:model name|Model|cpu)\s*:\s*(.+)$", _text(root / "proc/cpuinfo"), re.M)
    return found[1].strip() if found else platform.processor()


def _gpus(root: Path) -> list[str]:
    told = [_text(path) for path in sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))]
    named = [found[1].strip() for text in told if (found := re.search(r"^Model:\s*(.+)$", text, re.M))]
    amd = [_text(path).strip() for path in sorted((root / "sys/class/drm").glob("card[0-9]*/device/product_name"))]
    return named or _from_smi() or [name for name in amd if name]


def _from_smi() -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        asked = [program, "--query-gpu=name", "--format=csv,noheader"]
        said = subprocess.run(
            asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=SMI_SECONDS, check=True
        ).stdout
        return [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return []


def _counted(names: list[str]) -> str:
    return ", ".join(f"{count} × {name}" for name, count in sorted(Counter(names).items()))


def _text(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(_SIZE).decode("utf-8", "replace")
    return ""
