# SPDX-License-Identifier: BSD-3-Clause
"""A program built with a DPDK outside of the system's folders links and loads that DPDK, and nothing of another one."""
import os
import pathlib
import re
import subprocess

import pytest

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
    assert named == {str(prefix / f"librte_{name}.so") for name in ("net_ring", "bus_vdev")}
    assert not {word for word in linked if "librte_" in word and not word.startswith(f"{prefix}/")}
    # One program, the smallest, for the loader: libraries of DPDK that only other libraries of DPDK need are found there too.
    output("ninja", "-C", str(build), "--quiet", "tests/unit/mbox_test")
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    loaded = re.findall(r"librte_(\S+?)\.so\S* => (\S+)", output("ldd", str(build / "tests/unit/mbox_test"), env=env))
    assert {"ring", "eal", "kvargs", "telemetry"} <= {name for name, _ in loaded}
    assert not [path for _, path in loaded if pathlib.Path(path).parent != prefix]
