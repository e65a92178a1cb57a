#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A text file as an array in C: embed.py NAME INPUT OUTPUT."""
import sys

name, source, target = sys.argv[1:]
with open(source, "rb") as f:
    data = f.read() + b"\0"
rows = [",".join(str(b) for b in data[i:i + 32]) for i in range(0, len(data), 32)]
with open(target, "w") as f:
    f.write(f'#include "schema.h"\nconst char {name}[] = {{\n' + ",\n".join(rows) + "\n};\n")
