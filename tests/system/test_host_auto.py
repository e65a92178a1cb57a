# SPDX-License-Identifier: BSD-3-Clause
"""Where streams of a host go, judged by a kernel at the other end of a veth: eth.dst auto, and hosts beside the kernel's own."""
import subprocess
import time

import pytest

from harness import binary, run
from serving import server, until  # noqa: F401
from test_host import peer  # noqa: F401, a fixture

THERE = ["set 0/0 ipv4.dst 10.0.0.2", "stream add 0/1", "set 0/1 frame eth/ipv6/udp", "set 0/1 ipv6.dst fd00::2", "stream add 0/2",
         "set 0/2 ipv4.dst 192.0.2.0/24", "set 0 gateway 10.0.0.2", "set 0 rate 1kpps"]
OWN = "10.0.0.1/24,fd00::1/64"


def goes_to(program, stream):
    return next(h for h in program.ask(f"show frame {stream}")["frames"][0]["headers"] if h["name"] == "eth")["fields"]["dst"]


def told(program, text, timeout=20):
    """Waits until the program has said this."""
    until = time.monotonic() + timeout
    while text not in program.errors():
        assert time.monotonic() < until, program.errors()
        time.sleep(0.05)


def test_the_mac_is_that_of_the_kernel(peer, live):  # noqa: F811
    """Of a neighbour of each family and of a gateway, and it is followed when it moves while frames go there."""
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", OWN], prefix=peer.prefix)
    p.send("; ".join([*THERE, "start 0"]))
    mac = peer.link(peer.b)["address"]
    assert [goes_to(p, f"0/{i}") for i in range(3)] == [mac] * 3
    while p.stats()[0]["run"]["state"] != "sending" or p.stats()[0]["run"]["sent"] == 0:
        time.sleep(0.05)
    peer.do("sysctl", "-q", f"net.ipv4.conf.{peer.b}.arp_notify=1")
    peer.do("ip", "link", "set", peer.b, "address", "02:00:00:00:00:77")
    told(p, "its gateway 10.0.0.2 is at 02:00:00:00:00:77 now")
    assert [goes_to(p, "0/0"), goes_to(p, "0/2")] == ["02:00:00:00:00:77"] * 2
    before = p.stats()[0]["run"]["sent"]
    while p.stats()[0]["run"]["sent"] == before:
        time.sleep(0.05)
    p.send("stop 0; wait 0")
    assert p.stats()[0]["run"]["state"] == "idle" and p.quit()[0] == 0


def test_a_stream_is_turned_elsewhere_while_it_is_sent(peer, live):  # noqa: F811
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", OWN], prefix=peer.prefix)
    p.send("set 0 host.neighbours 10.0.0.9=02:00:00:00:00:09; set 0 ipv4.dst 10.0.0.9; set 0 rate 1kpps; start 0")
    assert goes_to(p, "0/0") == "02:00:00:00:00:09"
    p.send("set 0 ipv4.dst 10.0.0.2")
    until = time.monotonic() + 20
    while goes_to(p, "0/0") != peer.link(peer.b)["address"]:
        assert time.monotonic() < until
        time.sleep(0.05)
    p.send("stop 0; wait 0")
    assert p.quit()[0] == 0


@pytest.mark.parametrize("ip, field, own", [("10.0.0.9", "ipv4.dst", "10.0.0.1/24"), ("fd00::9", "ipv6.dst", "fd00::1/64")])
def test_nobody_answers(peer, ip, field, own):  # noqa: F811
    frame = f"set 0 frame eth/{field.split('.', maxsplit=1)[0]}/udp; set 0 {field} {ip}; "
    done = run(["-p", f"packet:{peer.a}", "--ip", own, "-b", "--json", "-k", "-e", frame + "start 0 for 1s; show stats"], prefix=peer.prefix)
    assert done.returncode == 2 and f"port 0: {ip}, the next hop of stream 0/0, did not answer 3 times" in done.stderr
    assert '"sent":0' in done.stdout


def test_a_first_start_names_both(veth):
    """A port that has neither an address nor somebody to send to."""
    done = run(["-p", f"packet:{veth.a}", "start", "0", "for", "1ms"], prefix=veth.prefix)
    assert done.returncode == 0
    assert "which no receiver takes; `set 0 eth.dst ADDRESS` says to whom, with `set 0 ip A/LEN` it is found from where frames go" in done.stderr
    done = run(["-p", f"packet:{veth.a}", "-b", "-e", "set 0 eth.dst 02:00:00:00:00:01; start 0 for 1ms"], prefix=veth.prefix)
    assert done.returncode == 0 and "warning" not in done.stderr


def test_beside_the_kernel(peer):  # noqa: F811
    """What the kernel has is refused, and nothing is set; what it forwards is warned of."""
    def asked(ip):
        return run(["-p", f"packet:{peer.b}", "-b", "-k", "-e", f"set 0 ip {ip}; show settings 0"], prefix=peer.prefix)

    for ip in ("10.0.0.2/24", "10.0.0.7/24,fd00::2/64"):
        done = asked(ip)
        assert done.returncode == 2 and f"the kernel has the address {'fd00::2' if ',' in ip else '10.0.0.2'} on this interface" in done.stderr
        assert any(line.split()[:3] == ["0", "ip", "none"] for line in done.stdout.splitlines())
    peer.do("sysctl", "-q", "net.ipv4.ip_forward=0", "net.ipv6.conf.all.forwarding=0")
    done = asked("10.0.0.7/24,fd00::7/64")
    assert done.returncode == 0 and "forwards" not in done.stderr
    peer.do("sysctl", "-q", "net.ipv4.ip_forward=1")
    assert "the kernel forwards IPv4 on this interface" in asked("10.0.0.7/24").stderr
    assert "forwards" not in asked("fd00::7/64").stderr
    peer.do("sysctl", "-q", "net.ipv6.conf.all.forwarding=1")
    assert "the kernel forwards IPv6 on this interface" in asked("fd00::7/64").stderr


def test_a_trial_that_waits_stops_nobody(server):
    """While a trial asks for a next hop that does not answer, another session starts the port. The trial ends, the other run goes on."""
    served = server()
    served.ask("set 0 ip 10.0.0.1/24; set 1 ip 10.0.0.2/24; set 0 ipv4.dst 10.0.0.77")
    trial = subprocess.Popen([binary(), "attach", served.socket, "-e", "trial 0 rate 1kpps for 1s"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: any(n["address"] == "10.0.0.77" for n in served.doc("show neighbours 0")["ports"][0].get("neighbours", [])), "the question")
    served.ask("set 0 eth.dst 02:77:72:00:00:01; set 0 rate 1kpps; start 0")
    out, err = trial.communicate(timeout=60)
    assert trial.returncode != 0 and "port 0" in err, (out, err)
    served.sends()
    served.ask("stop 0; wait 0")
