# SPDX-License-Identifier: BSD-3-Clause
"""The siege (tests/fuzz/siege.py) for some seconds: the program stays, its memory within its limits, and no frame is missing. How late
answers come is judged by `./dev siege` alone."""
import pathlib
import subprocess
import sys

import harness
import pytest

SIEGE = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "siege.py"


def siege(*args, timeout=200):
    return subprocess.run([sys.executable, str(SIEGE), harness.binary(), *args, "--no-times", "--seed", str(harness.random_seed())],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)


def test_a_short_siege():
    r = siege("0.1")
    assert r.returncode == 0, r.stdout


@pytest.mark.parametrize("name", ["lua recursion", "odd files", "silent"])
def test_one_attack_alone(name):
    """Those that once ended the program, stopped it, or kept others out."""
    r = siege("0.05", "--attack", name)
    assert r.returncode == 0, r.stdout
