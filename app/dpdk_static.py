# SPDX-License-Identifier: BSD-3-Clause
"""dpdk_static.py PKG_CONFIG CC...: the linker's arguments, one a line, by which a program takes DPDK in from its static libraries. If that cannot be
done here, what is in the way goes to stderr, and the exit code is 1."""
import os
import re
import subprocess
import sys
import tempfile

# Drivers of what is no port: of them only what the others call. All else is taken in whole, because drivers are found by constructors of theirs.
OTHER = re.compile(r"librte_(baseband|compress|crypto|dma|event|gpu|ml|raw|regex|vdpa)_")
PROGRAM = "int rte_eal_init(int, char **);\nint main(int n, char **v) { return rte_eal_init(n, v); }\n"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def arguments(pkg_config, cc):
    words = output(pkg_config, "--static", "--libs", "libdpdk").split()
    folders = list(dict.fromkeys([w[2:] for w in words if w.startswith("-L")] + [output(pkg_config, "--variable=libdir", "libdpdk").strip()]))
    archives = list(dict.fromkeys(w.removeprefix("-l:") for w in words if w.endswith(".a")))
    if not archives:
        raise OSError("pkg-config names no static library of DPDK")
    paths = {}
    for a in archives:
        paths[a] = next((p for p in (a, *(f"{f}/{a}" for f in folders)) if os.path.isabs(p) and os.path.exists(p)), None)
        if paths[a] is None:
            raise OSError(f"{a} is not in {' or '.join(folders)}")
    # What other libraries name that they need may be missing: if nothing uses it, nothing is missing.
    libraries = [w for w in dict.fromkeys(words) if w.startswith("-l") and not w.startswith(("-l:", "-lrte_"))]
    libraries = [w for w in libraries if any(os.path.isabs(output(*cc, f"-print-file-name=lib{w[2:]}.{end}").strip()) for end in ("so", "a"))]
    whole = [p for a, p in paths.items() if not OTHER.match(os.path.basename(a))]
    rest = [p for a, p in paths.items() if OTHER.match(os.path.basename(a))]
    return ["-Wl,--whole-archive", *whole, "-Wl,--no-whole-archive", "-Wl,--as-needed", "-Wl,--start-group", *rest, "-Wl,--end-group",
            *[f"-L{f}" for f in folders], *libraries]


def main():
    pkg_config, *cc = sys.argv[1:]
    try:
        args = arguments(pkg_config, cc)
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "program.c")
            with open(source, "w", encoding="ascii") as f:
                f.write(PROGRAM)
            done = subprocess.run([*cc, source, "-o", os.path.join(folder, "program"), "-pthread", *args, "-lm"], stderr=subprocess.PIPE,
                                  text=True, check=False)
        if done.returncode != 0:
            raise OSError("\n".join(done.stderr.splitlines()[:5]))
    except (OSError, subprocess.CalledProcessError) as e:
        print(e, file=sys.stderr)
        return 1
    print("\n".join(args))
    return 0


if __name__ == "__main__":
    sys.exit(main())
