#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A sweep over a running program: port 0 sends 5 % to 100 % of its link's speed, and what is lost of each is printed.
Start one first: wirerate -p wire --socket, and for something to see: set wire limit 6Mpps.
Then: examples/python/sweep.py [ADDRESS [DURATION [TOKEN_FILE]]]; a token is for addresses of TCP."""
import sys

import wirerate

address = sys.argv[1] if len(sys.argv) > 1 else "wirerate"
duration = sys.argv[2] if len(sys.argv) > 2 else "500ms"
print(f"{'rate':>6} {'sent':>12} {'received':>12} {'lost':>9}  verdict")
with wirerate.connect(address, token_file=sys.argv[3] if len(sys.argv) > 3 else None) as wr:
    for percent in range(5, 101, 5):
        t = wr.trial(ports=0, rate=f"{percent}%", duration=duration)
        sent, received = t["fates"]["sent"], t["fates"]["received"]
        lost = "-" if t["loss_ratio"] is None else f"{100 * t['loss_ratio']:.3f}%"  # not known where nothing was sent
        print(f"{percent:5}% {sent:12} {received:12} {lost:>9}  {t['verdict']}", flush=True)
