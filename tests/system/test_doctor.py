# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate doctor`, on the machines that tests/unit/doctor_test.c describes. Facts of the process (rights, CPUs, kernel) are those of this one."""
import itertools
import os
import pathlib
import re
import shutil

import harness
import pytest
import readme_blocks
from rpc_server import wirerate

MACHINES = readme_blocks.TOP / "tests" / "unit" / "doctor"


def expanded(path):
    """(path, what was put in last) of each path that the braces stand for."""
    parts = []
    for text, inside in re.findall(r"([^{]+)(?:\{([^}]*)\})?", path):
        words = []
        for word in inside.split(",") if inside else []:
            span = re.fullmatch(r"(\d+)-(\d+)", word)
            words += [str(i) for i in range(int(span[1]), int(span[2]) + 1)] if span else [word]
        parts += [[text]] + ([words] if words else [])
    for found in itertools.product(*parts):
        yield "".join(found), found[1] if len(found) > 1 else ""


def unpack(name, root):
    """Makes the files of a machine below root."""
    for line in (MACHINES / name).read_text().split("\n=\n")[0].split("\n"):
        if line.startswith("@include "):
            unpack(line.split()[1] + ".part", root)
        elif line.startswith("-/"):
            shutil.rmtree(root + line[1:]) if os.path.isdir(root + line[1:]) else os.unlink(root + line[1:])
        elif line.startswith("/"):
            path, _, text = re.fullmatch(r"(\S+?)(: |:$| -> |$)(.*)", line).groups()
            for one, inside in expanded(path):
                here = pathlib.Path(root + one)
                (here if one.endswith("/") else here.parent).mkdir(parents=True, exist_ok=True)
                if " -> " in line:
                    here.unlink(missing_ok=True)
                    here.symlink_to(text)
                elif not one.endswith("/"):
                    here.write_text(text.replace("{}", inside).replace("\\n", "\n") + "\n")


@pytest.fixture
def on(tmp_path):
    """Runs the program on a machine."""
    def start(machine, *args):
        root = tmp_path / machine
        if not root.exists():
            unpack(machine + ".machine", str(root))
        return harness.run([*args], env={**os.environ, "WIRERATE_SYSROOT": str(root)})
    return start


def findings(r):
    doc = harness.document(r.stdout)
    counts = [sum(f["severity"] == s for f in doc["findings"]) for s in ("error", "warning", "note", "ok")]
    assert counts == [doc["errors"], doc["warnings"], doc["notes"], doc["passed"]]
    return {(f["severity"], f["id"], f["subject"]): f for f in doc["findings"]}


def test_the_manual_shows_what_comes(on):
    block = next(b for b in readme_blocks.blocks() if b.path.name == "doctor.md" and b.first.startswith("$ ./dev run doctor"))
    r = on("amd-two-sockets", *block.first.split()[3:])
    shown = "\n".join(block.lines[1:])
    assert r.returncode == 1 and r.stderr == ""
    assert readme_blocks.is_shown(shown, r.stdout), readme_blocks.first_difference(shown, r.stdout)


def test_json_and_exit_codes(on):
    r = on("slow-slot", "--json", "doctor", "0000:3b:00.0", "3b:00.1")
    found = findings(r)
    assert r.returncode == 1
    assert "lspci" in found["warning", "pcie", "0000:3b:00.0"]["why"]
    assert found["ok", "driver", "0000:3b:00.1"]["mend"] is None
    # Without names nothing is an error, and a port spec is a name.
    assert not any(severity == "error" for severity, _, _ in findings(on("amd-two-sockets", "--json", "doctor")))
    assert ("error", "iommu", None) in findings(on("amd-two-sockets", "-p", "pci:3b:00.0", "--json", "doctor"))
    assert ("error", "iommu", None) in findings(on("amd-two-sockets", "-a", "0000:3b:00.0", "--", "--json", "doctor"))
    # Devices of other buses are EAL's business: nothing is named, and nothing is an error.
    r = on("amd-two-sockets", "-a", "auxiliary:mlx5_core.sf.4", "--", "--json", "doctor")
    assert findings(r) and harness.document(r.stdout)["errors"] == 0


def test_csv_has_a_line_for_each_finding(on):
    r = on("laptop", "--csv", "doctor")
    lines = r.stdout.splitlines()
    assert lines[0] == "severity,id,subject,what,why,mend"
    assert len(lines) - 1 == len(findings(on("laptop", "--json", "doctor")))


def test_the_prompt_says_the_same(on):
    r = on("ice-without-ddp", "-p", "wire", "-b", "--json", "-e", "doctor 3b:00.0")
    assert r.returncode == 1
    assert ("error", "firmware", "0000:3b:00.0") in findings(r)
    # Ports without a device: it is about all NICs.
    assert ("warning", "firmware", "0000:3b:00.0") in findings(on("ice-without-ddp", "-p", "null", "-b", "--json", "-e", "doctor"))


def test_a_map_is_judged_before_anything_starts(on):
    cpus = harness.cpus()
    if cpus[:2] != [0, 1]:
        pytest.skip("this process does not have CPUs 0 and 1")
    found = findings(on("wrong-node", "-m", "1.0", "--json", "doctor", "3b:00.0"))
    assert ("ok", "numa", "0000:3b:00.0") in found
    found = findings(on("wrong-node", "-l", "0,6", "--", "-m", "6.0", "--json", "doctor", "3b:00.0"))
    assert "CPU 6 is not" in found["warning", "numa", "0000:3b:00.0"]["what"]
    # What EAL's other options say of cores is not read, and no map is known.
    found = findings(on("wrong-node", "--lcores", "0,6", "--", "-m", "6.0", "--json", "doctor", "3b:00.0"))
    assert ("ok", "numa", "0000:3b:00.0") in found


def test_lcores_that_share_a_cpu_are_told(on):
    # One CPU: control and the worker share it.
    r = harness.run(["-p", "null", "-b", "--json", "-e", "doctor"], prefix=("taskset", "-c", str(harness.cpus()[0])))
    assert "lcore 1 and control are both on CPU" in findings(r)["warning", "map", None]["what"] and r.returncode == 1


def test_tab_completes_devices(serve, tmp_path):
    unpack("laptop.machine", str(tmp_path / "laptop"))
    with wirerate.connect(serve(ports="null", env={**os.environ, "WIRERATE_SYSROOT": str(tmp_path / "laptop")}).path, timeout=60) as wr:
        assert wr.complete("doctor 0000:00:1f") == {"0000:00:1f.6": "e1000e, interface enp0s31f6"}
        assert wr.complete("doctor 0000:00:1f.6 enp") == {"enp0s31f6": "an interface"}


def test_a_start_that_fails_tells_the_reason(on):
    r = on("amd-two-sockets", "-p", "pci:3b:00.0", "-b", "-e", "show ports")
    assert r.returncode == 3
    lines = r.stderr.splitlines()
    assert lines[0].startswith("wirerate: port 'pci:3b:00.0': ")
    assert "`wirerate doctor` finds:" in lines
    below = lines[lines.index("`wirerate doctor` finds:") + 1:]
    assert [line.split()[1] for line in below if line.startswith("error")] == ["driver", "iommu"]
    assert all(line.startswith(("error", " ")) for line in below)
    # A name that leads to nothing has been told.
    assert "doctor" not in on("amd-two-sockets", "-p", "if:nosuch7", "-b", "-e", "show ports").stderr


def test_nothing_is_changed(on, tmp_path):
    unpack("container.machine", str(tmp_path / "container"))
    before = {p: p.lstat().st_mtime_ns for p in tmp_path.rglob("*")}
    on("container", "doctor", "3b:00.0")
    on("container", "-p", "null", "-b", "-e", "doctor")
    assert {p: p.lstat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_colours_are_for_terminals(on):
    assert "\x1b" not in on("laptop", "doctor", "nosuch7").stdout
    assert "\x1b" in harness.run(["--color", "always", "doctor", "nosuch7"], env={**os.environ, "TERM": "xterm"}).stdout
