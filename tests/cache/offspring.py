"""Which children this process has: whoever forks must leave none behind, whatever others of the worker have."""

from pathlib import Path


def children() -> set[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}
