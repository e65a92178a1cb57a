#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""symbols.py BUILD: what the code on workers may call. The undefined symbols of the archives of lib/dp, and of what it links of
lib/frame, lib/neigh, lib/filter, lib/workload and lib/flow, against a list.

A worker never waits, locks, allocates, logs or enters the kernel; only idle.c may yield and sleep. And nobody, on
whatever thread, ends the process as an answer to an error.
"""
import collections
import pathlib
import re
import subprocess
import sys

import tree

ALLOWED = re.compile("|".join(f"(?:{pattern})$" for pattern in (
    r"mem(cpy|set|move|cmp|mem)(_chk)?", r"__mem(cpy|set|move)_chk", r"__stack_chk_fail", r"__assert_fail", r"__tls_get_addr",
    r"_GLOBAL_OFFSET_TABLE_",
    r"__cpu_model", r"__cpu_indicator_init",  # which instruction sets there are
    # DPDK: what its inline functions of the fast path refer to, and the reading of clocks.
    r"per_lcore_\w+", r"rte_eth_fp_ops", r"rte_eth_devices", r"rte_mempool_ops_table", r"rte_mempool_contig_blocks_\w+",
    r"rte_pktmbuf_\w+", r"__rte_pktmbuf_\w+", r"rte_mbuf_\w+", r"rte_get_tsc_hz", r"rte_rtm_supported", r"rte_cpu_\w+",
    r"rte_mbuf_dynflag_\w+", r"rte_mbuf_dynfield_\w+", r"rte_eth_call_[rt]x_callbacks",
    # rte_mempool_get_ops() verifies its index; a panic of our own is found in the source, below.
    r"__rte_panic",
    r"rte_eth_tx_done_cleanup", r"rte_net_get_ptype", r"rte_net_skip_ip6_ext", r"rte_thash_\w+",
    # Our own libraries below: functions that say in their header that they run on workers.
    r"(mbox|clock|pace|hist|cnt|count|cell|vary|frame|frun|neigh|filter|proto|flow|wl)_\w+", r"fnv1a")))
IDLE = re.compile(r"(sched_yield|nanosleep|clock_nanosleep|usleep|poll|ppoll|read|write|__errno_location|rte_pause)$")


def archives(build):
    parts = ("lib/dp/**/*.a", "lib/frame/libframe_run.a", "lib/neigh/libneigh_run.a", "lib/filter/libfilter_run.a",
             "lib/workload/libworkload_run.a", "lib/flow/libflow_run.a")
    return sorted(path for part in parts for path in build.glob(part) if path.is_file())


def undefined(archive):
    """{object: [symbol]}; names that another object of the same archive defines are its own affair."""
    users = collections.defaultdict(list)
    defined = set()
    member = "?"
    for line in subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1].rsplit("/", 1)[-1]
        elif line.strip():
            *_, letter, symbol = line.split()
            if letter in "Uw":
                users[member].append(symbol)
            else:
                defined.add(symbol)
    return users, defined


build = pathlib.Path(sys.argv[1]).resolve()
found = tree.Findings()
parts = [(archive, *undefined(archive)) for archive in archives(build)]
if not parts and (tree.ROOT / "lib/dp/meson.build").exists():
    found.add("lib/dp", f"its archive is not in {build}")
own = set().union(*(defined for _, _, defined in parts))
for archive, users, _ in parts:
    for member, symbols in sorted(users.items()):
        for symbol in sorted(set(symbols) - own):
            if ALLOWED.match(symbol) or (member == "idle.c.o" and IDLE.match(symbol)):
                continue
            found.add(f"{archive.name}({member})", f"a worker may not call {symbol}")
for name in tree.files(".c", ".h", under=("lib/", "app/")):
    for number, line in enumerate(tree.read(name).split("\n"), 1):
        if re.search(r"\b(rte_panic|rte_exit|abort)\s*\(", line):
            found.add(f"{name}:{number}", "no panic, exit or abort: return an error that a user can read")
found.end()
