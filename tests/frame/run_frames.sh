#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's scapy belongs to the system's Python. pytest ends with 5 when nothing was run.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
"$python" -c 'import pytest' 2>/dev/null || { echo "pytest is not installed" >&2; exit 77; }
"$python" -c 'import scapy' 2>/dev/null || { echo "scapy is not installed" >&2; exit 77; }
command -v tshark >/dev/null || { echo "tshark is not installed" >&2; exit 77; }
"$python" -m pytest -q -p no:cacheprovider "$(dirname "$0")/test_frames.py" "$@"
rc=$?
[ "$rc" -eq 5 ] && exit 77
exit "$rc"
