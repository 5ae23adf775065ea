"""A Slurm cluster of one node on this machine, with its files in a temporary folder."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun")
PATIENCE = 60  # maximum seconds until the cluster is ready
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"

CONFIGURATION = """\
ClusterName=incast
SlurmctldHost=localhost(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=1
MinJobAge=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Slurm:
    """A running cluster.

    Parameters
    ----------
    folder
        Folder of the cluster's files. Jobs start in this folder.
    environment
        Environment variables for the cluster's commands.
    """

    folder: Path
    environment: dict[str, str]

    def call(self, *command: str) -> str:
        """Run a command of Slurm; return its output."""
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, check=True, capture_output=True,
            text=True, timeout=60,
        ).stdout  # fmt: skip

    def wait(self, seconds: float) -> None:
        """Wait until no job is left."""
        deadline = time.monotonic() + seconds
        while self.call("squeue", "--noheader"):
            if time.monotonic() > deadline:
                raise TimeoutError(self.call("squeue"))
            time.sleep(0.3)


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


@contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    """Start a cluster whose files are in a folder; end it when the `with` block ends."""
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(mode=0o700)
    (folder / "munge" / "key").write_bytes(secrets.token_bytes(128))
    (folder / "munge" / "key").chmod(0o400)
    (folder / "munge").chmod(0o711)
    ports = _free_ports(2)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder, user=getpass.getuser(), controller=ports[0], node=ports[1],
            cpus=os.cpu_count(), memory=_memory_mib(),
        )
    )  # fmt: skip
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}
    munge = folder / "munge"
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in (
            ["munged", "--foreground", "--force", f"--socket={munge}/socket",
             f"--key-file={munge}/key", f"--pid-file={munge}/pid", f"--log-file={munge}/log",
             f"--seed-file={munge}/seed"],
            ["slurmctld", "-D", "-c"],
            ["slurmd", "-D", "-c", "-N", "localhost"],
        ):  # fmt: skip
            log = (folder / f"{command[0]}.out").open("wb")
            started.append(
                subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
            )
            if command[0] == "munged":
                _until((munge / "socket").exists)
        slurm = Slurm(folder, environment)
        _until(lambda: "idle" in _said(slurm))
        yield slurm
    finally:
        for one in reversed(started):
            one.send_signal(signal.SIGTERM)
            try:
                one.wait(15)
            except subprocess.TimeoutExpired:
                one.kill()


def _said(slurm: Slurm) -> str:
    try:
        return slurm.call("sinfo", "--noheader", "--format=%t")
    except subprocess.CalledProcessError:
        return ""


def _until(ready: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError("Slurm does not start")
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 // 2
