# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel tells of a process's threads."""
import os


class CannotRun(Exception):
    pass


def threads(pid):
    """Thread id -> name."""
    tasks, names = f"/proc/{pid}/task", {}
    for tid in os.listdir(tasks):
        try:
            with open(f"{tasks}/{tid}/comm", encoding="ascii", errors="replace") as f:
                names[int(tid)] = f.read().strip()
        except OSError:  # it ended
            continue
    return names


def workers(pid):
    """Threads of DPDK's worker lcores: their names differ between its versions."""
    return [tid for tid, name in threads(pid).items() if "worker" in name]


def run_ns(pid, tid):
    """Time that a thread has had on a CPU; None where the kernel does not count it."""
    try:
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0])
    except OSError:
        return None
