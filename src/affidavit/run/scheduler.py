"""What the scheduler says of this job: its id, how often it was restarted, which task this is, when time is up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """The job as its scheduler names it; ``job`` is empty where there is none.

    Args:
        name: ``slurm``, ``torchelastic`` or "".
        job: an id that is the same for every task and every restart of one job.
        restart: how often it was restarted, by Slurm and then by torchelastic; it only grows.
        task: which of the supervisors of one job this is; 0 where there is one.
        is_task: the scheduler itself started this supervisor as one of several.
        ends_at: when the time limit is reached, Unix seconds; 0 where nobody says.
    """

    name: str = ""
    job: str = ""
    restart: tuple[int, int] = (0, 0)
    task: int = 0
    is_task: bool = False
    ends_at: int = 0


def scheduler(environment: Mapping[str, str]) -> Scheduler:
    """Return the job that an environment belongs to.

    Source: sbatch(1) and srun(1) output environment; torch.distributed.run's environment.
    Blind to: other schedulers; a job step's id before ``srun`` has started one.
    """
    elastic = environment.get("TORCHELASTIC_RUN_ID", "none")
    in_elastic = elastic not in ("", "none")
    job = environment.get("SLURM_JOB_ID", "")
    restart = (_number(environment, "SLURM_RESTART_COUNT"), _number(environment, "TORCHELASTIC_RESTART_COUNT"))
    if not job:
        if not in_elastic:
            return Scheduler()
        return Scheduler(
            name="torchelastic", job=elastic, restart=restart, task=_number(environment, "RANK"), is_task=True
        )
    step = environment.get("SLURM_STEP_ID", "")
    in_step = step != ""
    return Scheduler(
        name="slurm",
        job=f"{job}.{step}" if in_step else job,
        restart=restart,
        task=_number(environment, "RANK" if in_elastic else "SLURM_PROCID") if in_elastic or in_step else 0,
        is_task=in_elastic or in_step,
        ends_at=_number(environment, "SLURM_JOB_END_TIME"),
    )


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else 0
