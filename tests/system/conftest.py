# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the whole program as a user meets it. WIRERATE=path/to/wirerate python3 -m pytest tests/system"""
import os
import shutil
import subprocess

import pytest

import harness


def pytest_configure(config):
    config.addinivalue_line("markers", "alone(why): judges when things happen, or what the whole machine has: nothing may run beside it")
    try:
        harness.binary()
    except RuntimeError as e:
        pytest.exit(str(e), returncode=2)


@pytest.fixture
def run():
    return harness.run


@pytest.fixture
def live():
    """Start programs that are driven line by line; whatever still runs is ended."""
    started = []

    def start(args, **kw):
        started.append(harness.Live(args, **kw))
        return started[-1]

    yield start
    for p in started:
        p.close()


def _namespace_trouble():
    if os.geteuid() != 0:
        return "needs root: namespaces and raw sockets"
    for tool in ("ip", "ethtool", "sysctl"):
        if shutil.which(tool) is None:
            return f"needs the program {tool}"
    name = f"wirerate-{os.getpid()}-try"
    r = subprocess.run(["ip", "netns", "add", name], stderr=subprocess.PIPE, text=True)
    if r.returncode != 0:
        return f"needs network namespaces: {r.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return None


@pytest.fixture(scope="session")
def namespaces():
    trouble = _namespace_trouble()
    if trouble:
        pytest.skip(trouble)


@pytest.fixture
def veth(namespaces):
    v = harness.Veth()
    yield v
    v.remove()


@pytest.fixture
def need(request):
    def check(*tools):
        for tool in tools:
            if shutil.which(tool) is None:
                pytest.skip(f"needs the program {tool}")

    return check


@pytest.fixture
def serve(tmp_path):
    """Start programs with a remote socket; whatever still runs is ended."""
    import rpc_server
    started = []

    def start(*args, **kw):
        started.append(rpc_server.Server(kw.pop("folder", tmp_path), *args, **kw))
        return started[-1]

    yield start
    for server in started:
        server.close()
