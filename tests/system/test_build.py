# SPDX-License-Identifier: BSD-3-Clause
"""How DPDK comes into the program: from static libraries or shared ones, and with a DPDK outside of the system's folders that one and no other."""
import os
import pathlib
import re
import subprocess
import sys

import harness
import pytest

WIRERATE = harness.binary()
TREE = pathlib.Path(__file__).resolve().parents[2]


def output(*command, **kwargs):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, **kwargs).stdout


def pkg_config(variable):
    return pathlib.Path(output("pkg-config", f"--variable={variable}", "libdpdk").strip())


@pytest.fixture
def prefix(tmp_path):
    """The libraries of this machine's DPDK once more, in a folder that no loader looks into."""
    lib = tmp_path / "prefix" / "lib"
    (lib / "pkgconfig").mkdir(parents=True)
    for library in pkg_config("libdir").glob("librte_*"):
        (lib / library.name).symlink_to(library)
    for described in pkg_config("pcfiledir").glob("libdpdk*.pc"):
        text = re.sub("^libdir=.*", f"libdir={lib}", described.read_text(), flags=re.M)
        (lib / "pkgconfig" / described.name).write_text(text)
    return lib


def test_a_dpdk_in_a_prefix_of_its_own(prefix, tmp_path):
    build = tmp_path / "build"
    output("meson", "setup", str(build), "-Dtests=enabled", cwd=TREE, env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "pkgconfig")})
    # Every program of the tree: what is linked by its path comes from the prefix, drivers included, and no driver is left to the linker's search.
    linked = [word for line in (build / "build.ninja").read_text().splitlines() if line.startswith(" LINK_ARGS = ") for word in line.split()]
    named = {word for word in linked if re.search(r"(librte_|-lrte_)(net_ring|bus_vdev)\b", word)}
    static = {str(path) for path in prefix.glob("librte_*.a")}
    assert named - static == {str(prefix / f"librte_{name}.so") for name in ("net_ring", "bus_vdev")}
    assert not static or named & static
    assert not {word for word in linked if "librte_" in word and not word.startswith(f"{prefix}/")}
    # One program, the smallest, for the loader: libraries of DPDK that only other libraries of DPDK need are found there too.
    output("ninja", "-C", str(build), "--quiet", "tests/unit/mbox_test")
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    loaded = re.findall(r"librte_(\S+?)\.so\S* => (\S+)", output("ldd", str(build / "tests/unit/mbox_test"), env=env))
    assert {"ring", "eal", "kvargs", "telemetry"} <= {name for name, _ in loaded}
    assert not [path for _, path in loaded if pathlib.Path(path).parent != prefix]


def run(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **kwargs)


def test_what_the_program_says_of_its_libraries():
    static = "librte_eal.so" not in output("ldd", WIRERATE)
    said = re.search(r"versions .*DPDK \S+ \((.*?)\)", run(WIRERATE, "doctor").stdout)
    assert said and said[1] == ("static" if static else "shared")
    refused = run(WIRERATE, "-d", "nosuch.so", "--", "-p", "wire", "-b")
    assert (refused.returncode, "-Ddpdk_link=shared" in refused.stderr, "nosuch.so: cannot open" in refused.stderr) == (
        (2, True, False) if static else (3, False, True))
    unknown = run(WIRERATE, "-p", "vdev:net_nosuch0", "-b")
    assert unknown.returncode == 3 and "DPDK has no driver 'net_nosuch' " + ("in this program" if static else "here (looked in") in unknown.stderr


def test_static_libraries_that_are_not_there(prefix):
    """Then the program is linked with shared ones, and what is missing is said."""
    if not list(prefix.glob("librte_*.a")):
        pytest.skip("no static library of DPDK here")
    (prefix / "librte_ring.a").unlink()
    done = run(sys.executable, str(TREE / "app/dpdk_static.py"), "pkg-config", "cc", env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "pkgconfig")})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"librte_ring.a is not in {prefix}\n"
