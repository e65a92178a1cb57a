# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: the files of the tree, and how a finding is told."""
import os
import pathlib
import re
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


WORK_LAYERS = {"run": "lib/dp", "ctl": "lib/ctl", "app": "app", "page": "app/ui/page"}


def layer(name):
    """The folder whose rules hold for a file: its own, but for a file of a module (lib/work/NAME) that of the layer whose list in
    the module's meson.build has it. "lib/base" for a library of its own, which is a pure function; "plain" for headers that control
    and program share; "" for a file that no list has."""
    parts = name.split("/")
    if parts[:2] != ["lib", "work"] or len(parts) < 4:
        return os.path.dirname(name)
    if parts[-1].endswith(("_cfg.h", "_face.h")):
        return "plain"
    for which, folder in WORK_LAYERS.items():
        if parts[-1].endswith(f"_{which}.h"):
            return folder
    lists = re.findall(r"work_(\w+)_files \+= files\((.*?)\)|static_library\((.*?)\)", read(f"lib/work/{parts[2]}/meson.build"), re.S)
    listed_name = re.sub(r"\.inc$", ".c", "/".join(parts[3:]))  # the build lists no text that others include
    for which, listed, pure in lists:
        if f"'{listed_name}'" in listed + pure:
            return WORK_LAYERS[which] if which else "lib/base"
    return ""


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
