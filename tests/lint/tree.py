# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: the files of the tree, and how a finding is told."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*suffixes, under=("",)):
    """Paths relative to ROOT of all files that belong to the tree (known to git or not yet), sorted."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True,
                         text=True)
    if git.returncode == 0:
        names = [name for name in git.stdout.split("\0") if name]
    else:  # an unpacked archive
        names = []
        for place, dirs, found in os.walk(ROOT):
            dirs[:] = [d for d in dirs if not d.startswith("build") and d not in (".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(place, name), ROOT) for name in found]
    return sorted(name for name in set(names)
                  if name.endswith(suffixes or ("",)) and name.startswith(tuple(under)) and (ROOT / name).is_file())


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def kind(name):
    """c, py, sh, meson or ''."""
    base = os.path.basename(name)
    if base.endswith((".c", ".h", ".inc")):
        return "c"
    if base in ("meson.build", "meson_options.txt"):
        return "meson"
    first = read(name).split("\n", 1)[0]
    if base.endswith(".py") or (first.startswith("#!") and "python" in first):
        return "py"
    if base.endswith(".sh") or (first.startswith("#!") and first.endswith("sh")):
        return "sh"
    if base.endswith(".lua"):
        return "lua"
    return ""


class Findings:
    def __init__(self):
        self.count = 0

    def add(self, where, text):
        self.count += 1
        print(f"{where}: {text}")

    def end(self):
        sys.exit(1 if self.count else 0)
