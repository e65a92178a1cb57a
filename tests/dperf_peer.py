# SPDX-License-Identifier: BSD-3-Clause
"""dperf itself as a process: a program of that project, built as docs/dperf.md says, at the client's end of a memif. DPERF names it."""
import os
import re
import signal
import subprocess

DEVICE = "net_memif000"  # a name of 12 characters, which dperf takes for a PCI address
MEMORY_MB = 1536
PAIR = re.compile(r"([A-Za-z][A-Za-z0-9()]*) +([0-9][0-9,.]*)")
COLOURS = re.compile(r"\033\[[0-9;]*m")


def program():
    """Its path, or None where there is none."""
    path = os.environ.get("DPERF", "")
    return os.path.abspath(path) if os.access(path, os.X_OK) else None


def numbers(text):
    """The numbers of one of its blocks, by name."""
    return {name: float(n.replace(",", "")) if "." in n else int(n.replace(",", "")) for name, n in PAIR.findall(COLOURS.sub("", text))}


class Dperf:
    """One that runs. Its devices are `DEVICE`; memif: the arguments of theirs."""

    def __init__(self, folder, conf, memif, memory_mb=MEMORY_MB, huge=False):
        self.name = os.path.join(folder, f"dperf-{os.path.basename(folder)}-{id(self)}.conf")
        with open(self.name, "w", encoding="ascii") as f:
            f.write(conf)
        pages = ["--in-memory"] if huge else ["--no-huge", "--no-shconf"]
        eal = [*pages, "-m", str(memory_mb), "--no-pci", f"--vdev={DEVICE},{memif}"]
        # it would print a block when its buffer is full
        self.proc = subprocess.Popen(["stdbuf", "-oL", program(), "-c", self.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, errors="replace", env=os.environ | {"DPERF_EAL": " ".join(eal)})
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.wait()
        self.proc.stdout.close()

    def until(self, what):
        """All that it prints up to a line which has this."""
        begin = len(self.text)
        for line in self.proc.stdout:
            self.text += line
            if what in line:
                return self.text[begin:]
        raise AssertionError(f"dperf ended with {self.proc.wait()} before {what!r}:\n{self.text[-3000:]}")

    def ready(self):
        """Until it has found its gateway, which is when it answers."""
        self.until("gateway's MAC address")

    def second(self):
        """The block of its next second."""
        self.until("seconds ")
        return numbers(self.until("ierrors "))

    def stop(self):
        """Its end, in four seconds."""
        self.proc.send_signal(signal.SIGINT)

    def totals(self):
        """What it tells at its end, which comes by itself when its time is over."""
        self.until("Total Numbers:")
        totals = numbers(self.until("ierrors "))
        self.text += self.proc.stdout.read()
        if self.proc.wait() != 0:
            raise AssertionError(f"dperf ended with {self.proc.returncode}:\n{self.text[-3000:]}")
        return totals
