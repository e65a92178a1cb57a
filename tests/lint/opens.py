#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files whose names come from outside are opened by lib/base/userfile.c and nowhere else: another call would wait for a pipe, or for a device.

A call whose path is a literal of the kernel's own places is none of them. Others stand in the list below, each with its reason.
"""
import re

import tree

CALLS = re.compile(r"\b(open|openat|open64|creat|fopen|fopen64|freopen|luaL_loadfilex?|luaL_dofile|json_load_file|json_dump_file|"
                   r"pcap_open_\w+|pcap_dump_open\w*|gzopen|mkstemp|mkostemp|ifstream)\s*\((?!\))([^,;]*)")
KERNEL = re.compile(r'\s*"/(proc|sys|dev)/')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
# file: (calls, why)
ALLOWED = {
    "lib/base/userfile.c": (3, "the one place"),
    "app/file.c": (2, "folders, O_DIRECTORY"),
    "app/part/machine_cpus.c": (1, "/proc/cpuinfo below a root that tests set"),
    "app/cmd/lb_cpu.c": (1, "/proc/PID/stat"),
    "app/spool.c": (1, "/proc/self/fd of standard output"),
    "app/ui/outlet.c": (2, "/proc/self/fd of the terminal, and its name"),
    "lib/filter/child/filter_pcap.c": (1, "pcap_open_dead() opens nothing"),
    "lib/work/recorder/recorder_ctl.c": (1, "a folder, O_PATH and O_DIRECTORY"),
    "lib/port/port.c": (1, "a port's function of this name"),
    "lib/port/eal.c": (1, "/sys/kernel/mm/hugepages"),
    "lib/port/ethtool.c": (1, "/sys/class/net"),
    "lib/port/kern.c": (1, "/proc/sys/net"),
    "lib/port/pci.c": (1, "/sys/bus/pci"),
    "lib/stacks/stacks_end.c": (1, "/proc/PID/task"),
    "lib/stacks/stacks_net.c": (1, "/proc/sys/net"),
    "lib/ctl/workers.c": (1, "/proc/self/task"),
}

found = tree.Findings()
seen = {}
for name in tree.files(".c", ".h", ".inc", under=("lib/", "app/")):
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), tree.read(name))
    for match in CALLS.finditer(text):
        if KERNEL.match(match.group(2)):
            continue
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > ALLOWED.get(name, (0, ""))[0]:
            line = text.count("\n", 0, match.start()) + 1
            found.add(f"{name}:{line}", f"{match.group(1)}() of a file: userfile_open() or userfile_read() open what somebody names")
for name, (calls, _) in ALLOWED.items():
    if (tree.ROOT / name).exists() and seen.get(name, 0) < calls:
        found.add(name, f"opens fewer files than the list of tests/lint/opens.py allows ({calls})")
found.end()
