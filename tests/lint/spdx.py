#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file says its licence in the first line, or in the second after #!."""
import tree

found = tree.Findings()
for name in tree.files():
    if tree.kind(name) and "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(tree.read(name).split("\n")[:2]):
        found.add(f"{name}:1", "no line with SPDX-License-Identifier: BSD-3-Clause")
found.end()
