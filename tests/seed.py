# SPDX-License-Identifier: BSD-3-Clause
"""Where what is random in a test begins: each run the same, so that a gate says the same twice. WIRERATE_SEED=N begins elsewhere, and
WIRERATE_SEED=random anew in each run; what is used is printed."""
import os
import random


def random_seed():
    given = os.environ.get("WIRERATE_SEED") or "1"
    return random.SystemRandom().randrange(1 << 32) if given == "random" else int(given, 0)
