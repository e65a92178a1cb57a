# SPDX-License-Identifier: BSD-3-Clause
"""Where streams of a host go, judged by a kernel at the other end of a veth: eth.dst auto, and hosts beside the kernel's own."""
import subprocess
import sys
import time

import pytest

from harness import Tcpdump, binary, documents, run, tshark
from serving import server, until  # noqa: F401
from test_host import peer  # noqa: F401, a fixture

THERE = ["set 0/0 ipv4.dst 10.0.0.2", "stream add 0/1", "set 0/1 frame eth/ipv6/udp", "set 0/1 ipv6.dst fd00::2", "stream add 0/2",
         "set 0/2 ipv4.dst 192.0.2.0/24", "set 0 gateway 10.0.0.2", "set 0 rate 1kpps"]
OWN = "10.0.0.1/24,fd00::1/64"


def goes_to(program, stream):
    return next(h for h in program.ask(f"show frame {stream}")["frames"][0]["headers"] if h["name"] == "eth")["fields"]["dst"]


def told(program, text, timeout=60):
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


def test_a_start_waits_for_one_who_comes_later(peer, live):  # noqa: F811
    """With host.wait: longer than three questions take."""
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", OWN], prefix=peer.prefix)
    p.send("set 0 host.wait 1m; set 0 ipv4.dst 10.0.0.50; set 0 count 4; start 0; wait 0")
    time.sleep(5)
    peer.do("ip", "address", "add", "10.0.0.50/24", "dev", peer.b)
    assert p.stats()[0]["run"]["sent"] == 4 and "did not answer" not in p.errors()
    p.send("set 0 host.wait 4s; set 0 ipv4.dst 10.0.0.51; start 0")
    told(p, "10.0.0.51, the next hop of stream 0/0, did not answer within host.wait")
    p.quit()


def test_a_stream_is_turned_elsewhere_while_it_is_sent(peer, live):  # noqa: F811
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", OWN], prefix=peer.prefix)
    p.send("set 0 host.neighbours 10.0.0.9=02:00:00:00:00:09; set 0 ipv4.dst 10.0.0.9; set 0 rate 1kpps; start 0")
    assert goes_to(p, "0/0") == "02:00:00:00:00:09"
    p.send("set 0 ipv4.dst 10.0.0.2")
    until = time.monotonic() + 60
    while goes_to(p, "0/0") != peer.link(peer.b)["address"]:
        assert time.monotonic() < until
        time.sleep(0.05)
    p.send("stop 0; wait 0")
    assert p.quit()[0] == 0


def several(peer, n):  # noqa: F811
    """Hosts 10.0.0.11, fd00::11 and so on, each with a MAC address of its own. Returns these."""
    peer.do("sysctl", "-q", "net.ipv4.conf.all.arp_ignore=1", "net.ipv6.conf.default.disable_ipv6=0")
    for i in range(1, n + 1):
        peer.do("ip", "link", "add", f"mv{i}", "link", peer.b, "address", f"02:00:00:00:11:{i:02x}", "type", "macvlan", "mode", "bridge")
        peer.do("ip", "addr", "add", f"10.0.0.{10 + i}/32", "dev", f"mv{i}")
        peer.do("ip", "link", "set", f"mv{i}", "up")
        peer.do("ip", "-6", "addr", "add", f"fd00::{10 + i}/128", "dev", f"mv{i}", "nodad")
    return [f"02:00:00:00:11:{i:02x}" for i in range(1, n + 1)]


@pytest.mark.parametrize("six", [False, True])
def test_a_list_of_destinations(peer, live, tmp_path, six):  # noqa: F811
    """Each frame goes to the MAC address of its destination, also where the destination is a slow digit, and follows one that moves."""
    macs = several(peer, 5)
    l3, net = ("ipv6", "fd00::") if six else ("ipv4", "10.0.0.")
    p = live(["--no-screen", "-p", f"packet:{peer.a}", "--ip", OWN], prefix=peer.prefix)
    p.send(f"set 0 frame eth/{l3}/udp; set 0 {l3}.dst {net}11..{net}15; set 0 udp.src 1..3; set 0 nest udp.src,{l3}.dst; "
           f"set 0 udp.dst 7777; set 0 count 300; set 0 rate 1kpps")

    def pairs(path):
        dump = Tcpdump(peer, path)  # its counts are of what the kernel sends, too, so that they never agree
        p.send("start 0; wait 0")
        seen, until = [], time.monotonic() + 60
        while len(seen) < 300 and time.monotonic() < until:
            time.sleep(0.2)
            seen = tshark(path, "udp.dstport==7777", "eth.dst", "ipv6.dst" if six else "ip.dst", "udp.srcport")
        dump.proc.kill()
        dump.proc.communicate()
        return seen

    seen = pairs(tmp_path / "a.pcap")
    assert seen == [[macs[i // 3 % 5], f"{net}{11 + i // 3 % 5}", str(1 + i % 3)] for i in range(300)]
    assert set(p.ask("show streams 0")["streams"][0]["varies"]) == {"eth.dst", f"{l3}.dst", "udp.src"}
    peer.do("ip", "link", "set", "mv3", "address", "02:00:00:00:11:77")
    peer.do("ip", "neigh", "flush", "all")
    macs[2] = "02:00:00:00:11:77"
    p.send("clear neighbours")
    assert pairs(tmp_path / "b.pcap") == [[macs[i // 3 % 5], f"{net}{11 + i // 3 % 5}", str(1 + i % 3)] for i in range(300)]
    assert p.quit()[0] == 0


def test_one_of_a_list_is_not_there(peer):  # noqa: F811
    several(peer, 3)
    done = run(["-p", f"packet:{peer.a}", "--ip", OWN, "-b", "-k", "--json", "-e", "set 0 ipv4.dst 10.0.0.11..10.0.0.14; set 0 count 4; start 0; "
                "show stats 0; set 0 ipv4.dst 10.0.0.13,10.0.0.11,192.0.2.1; set 0 gateway 10.0.0.12; start 0; wait 0; show stats 0"],
               prefix=peer.prefix)
    assert done.returncode == 2 and "10.0.0.14, the next hop of stream 0/0, did not answer 3 times" in done.stderr
    assert [doc["ports"][0]["run"]["sent"] for doc in documents(done)] == [0, 4]


@pytest.mark.parametrize("value, why", [("10.1.0.0/16", "more than 4096 of them"), ("random 10.1.0.1..10.1.0.200", "without end")])
def test_too_many_next_hops(value, why):
    done = run(["-p", "wire", "-b", "-e", f"set 0 ip 10.1.0.1/8; set 0 ipv4.dst {value}; start 0"])
    assert done.returncode == 2 and why in done.stderr and "set 0 eth.dst MAC" in done.stderr


def test_thousands_of_next_hops():
    """As many as are allowed, over streams; each stream has values of its own."""
    done = run(["-p", "wire", "-b", "--json", "-e", "set 0 ip 10.0.0.1/16; set 1 ip 10.0.0.2/16; set 1 answer.for 10.0.16.0/20; "
                "set 0/0 ipv4.dst 10.0.16.0..10.0.23.255; stream add 0/1; set 0/1 ipv4.dst random 10.0.24.0..10.0.31.255 repeat 2048 seed 5; "
                "set 0 count 5000; set 0 rate 100kpps; start 0; wait 0; show stats 0; show neighbours 0"])
    assert done.returncode == 0, done.stderr
    stats, found = documents(done)
    known = {x["address"] for x in found["ports"][0]["neighbours"] if x["mac"] == "02:77:72:00:00:01"}
    assert stats["ports"][0]["run"]["sent"] == 5000 and {f"10.0.{i // 256}.{i % 256}" for i in range(16 * 256, 24 * 256)} <= known
    assert len(known) > 3000


TAGGED = [("eth/vlan/ipv4/udp", "set 0/0 vlan.vid 100", [100], "vlan.etype==0x0806 && vlan.id==100"),
          ("eth/qinq/vlan/ipv4/udp", "set 0/0 qinq.vid 10; set 0/0 vlan.vid 100", [10, 100], "ieee8021ad.id==10 && vlan.id==100 && arp")]


@pytest.mark.parametrize("frame, tags, vids, shown", TAGGED)
def test_the_stream_has_other_tags(frame, tags, vids, shown):
    """The same address is one neighbour without tags and another one, or nobody, in the VLAN of a stream."""
    other = tags.replace("set 0/0", "set 1")
    done = run(["-p", "wire", "-b", "--json", "-e", f"set 0 ip 10.0.0.1/24; set 1 ip 10.0.0.2/24; set 1 frame {frame}; {other}; "
                "set 1 ipv4.dst 10.0.0.1; "
                f"set 0/0 frame {frame}; {tags}; set 0/0 ipv4.dst 10.0.0.2; stream add 0/1; set 0/1 ipv4.dst 10.0.0.2; set all count 20; "
                "set all rate 1kpps; start 0-1; wait all; show stats; show neighbours; show host; set 0/0 eth.dst 02:00:00:00:00:01; "
                "set 0 count 1; start 0; wait 0; show host"])
    assert done.returncode == 0, done.stderr
    stats, there, hosts, after = documents(done)
    assert [p["run"]["sent"] for p in stats["ports"]] == [20, 20]
    known = [{(x["address"], tuple(x["vlans"])) for x in p["neighbours"]} for p in there["ports"]]
    assert known[0] == {("10.0.0.2", ()), ("10.0.0.2", tuple(vids))} and ("10.0.0.1", tuple(vids)) in known[1]
    assert [[(x["vlans"], x["state"]) for x in p["addresses"]] for p in hosts["ports"]] == [[([], "used"), (vids, "used")]] * 2
    # the link ends with its last stream
    assert [x["vlans"] for x in after["ports"][0]["addresses"]] == [[]]


@pytest.mark.parametrize("frame, tags, vids, shown", TAGGED)
def test_questions_have_the_tags(peer, frame, tags, vids, shown, tmp_path):  # noqa: F811
    """As tshark reads them; nobody answers there, although there is a host with this address without tags."""
    dump = Tcpdump(peer, tmp_path / "t.pcap")
    done = run(["-p", f"packet:{peer.a}", "--ip", OWN, "-b", "-e", f"set 0/0 frame {frame}; {tags}; set 0 ipv4.dst 10.0.0.2; start 0"],
               prefix=peer.prefix)
    assert done.returncode == 2 and f"10.0.0.2 in VLAN {'.'.join(map(str, vids))}, the next hop of stream 0/0, did not answer 3 times" in done.stderr
    seen, until = [], time.monotonic() + 60
    while len(seen) < 3 and time.monotonic() < until:
        time.sleep(0.2)
        seen = tshark(tmp_path / "t.pcap", f"{shown} && arp.dst.proto_ipv4==10.0.0.2 && arp.src.proto_ipv4==10.0.0.1")
    dump.proc.kill()
    dump.proc.communicate()
    assert len(seen) == 3


def test_too_many_vlans():
    adds = "; ".join(f"stream add 0/{i}; set 0/{i} frame eth/vlan/ipv4/udp; set 0/{i} vlan.vid {i}; set 0/{i} ipv4.dst 10.0.0.2"
                     for i in range(1, 18))
    done = run(["-p", "wire", "-b", "-e", f"set 0 ip 10.0.0.1/24; set 0/0 enabled off; {adds}; start 0"])
    assert done.returncode == 2 and "stream 0/17: the streams of port 0 have more than 16 VLANs beside host.vlan" in done.stderr


# Answers for 10.0.0.10 and above in each VLAN, with a MAC address of VLAN and address, and says of each datagram where it went. The kernel
# takes the tag off, and says what it was.
IN_EACH_VLAN = """
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind((sys.argv[1], 0))
s.setsockopt(263, 8, 1)
print("listens", flush=True)
while True:
    f, aux, _, _ = s.recvmsg(2048, 256)
    tci = next(struct.unpack("IIIHHHH", d[:20]) for level, kind, d in aux if (level, kind) == (263, 8))
    vid, inside = tci[5] & 4095, f[14:]
    if f[12:14] == b"\\x08\\x06" and inside[7] == 1 and inside[27] >= 10:
        mac = bytes([2, 0, 0, 0, vid, inside[27]])
        s.send(inside[8:14] + mac + struct.pack(">HHH", 0x8100, vid, 0x806) + inside[:7] + b"\\2" + mac + inside[24:28] + inside[8:18])
    elif f[12:14] == b"\\x08\\x00" and inside[22:24] == b"\\x1e\\x61":
        print(vid, inside[19], *f[4:6], flush=True)
"""
# What varies; of frame i its VLAN, and the last bytes of its destination and of its next hop.
SIDE_BY_SIDE = [("set 0 vlan.vid 1..5; set 0 ipv4.dst 10.0.0.10", lambda i: (1 + i % 5, 10, 10)),
                ("set 0 udp.src 1..3; set 0 nest udp.src,vlan.vid", lambda i: (1 + i // 3 % 5, 10, 10)),
                ("set 0 nest none; set 0 vlan.vid 1..4; set 0 ipv4.dst 10.0.0.10..10.0.0.12", lambda i: (1 + i % 4, 10 + i % 3, 10 + i % 3)),
                ("set 0 vlan.vid list 3,1; set 0 ipv4.dst 192.0.2.0/24; set 0 gateway 10.0.0.11", lambda i: ((3, 1)[i % 2], i, 11))]


def test_a_vlan_that_changes(veth, live):
    """Each frame goes to the neighbour of its own VLAN, where the same address is another one in each."""
    p = live(["--no-screen", "-p", f"packet:{veth.a}", "--ip", "10.0.0.1/24"], prefix=veth.prefix)
    p.send("set 0 frame eth/vlan/ipv4/udp; set 0 udp.dst 7777; set 0 count 40; set 0 rate 1kpps")
    with subprocess.Popen([*veth.prefix, sys.executable, "-c", IN_EACH_VLAN, veth.b], stdout=subprocess.PIPE, text=True) as there:
        try:
            assert there.stdout.readline() == "listens\n"
            for varies, frame in SIDE_BY_SIDE:
                p.send(f"{varies}; start 0; wait 0")
                seen = [tuple(map(int, there.stdout.readline().split())) for _ in range(40)]
                assert seen == [(vid, to, vid, hop) for vid, to, hop in map(frame, range(40))], varies
        finally:
            there.kill()
    assert p.quit()[0] == 0


@pytest.mark.parametrize("varies, why", [
    ("set 0 vlan.vid random 1..5", "differ from frame to frame without end"),
    ("set 0 vlan.vid 1..17", "more than 16 VLANs beside host.vlan"),
    ("set 0 vlan.vid 1..4; set 0 ipv4.dst 10.0.0.2..10.0.0.5; set 0 nest vlan.vid,ipv4.dst", "do not step together"),
    ("set 0 vlan.type random", "what follows its VLAN tags changes")])
def test_a_vlan_that_changes_too_much(varies, why):
    done = run(["-p", "wire", "-b", "-e", f"set 0 ip 10.0.0.1/24; set 0 frame eth/vlan/ipv4/udp; set 0 ipv4.dst 10.0.0.2; {varies}; start 0"])
    assert done.returncode == 2 and why in done.stderr and "set 0 eth.dst MAC" in done.stderr, done.stderr


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
    assert "the kernel forwards IPv4 and IPv6 on this interface" in asked("10.0.0.7/24,fd00::7/64").stderr


def test_the_kernel_gets_it_later(peer, live):  # noqa: F811
    """An address that the kernel was given since the port has it refuses a start."""
    p = live(["--no-screen", "-k", "-p", f"packet:{peer.b}", "--ip", "10.0.0.7/24"], prefix=peer.prefix)
    p.send("set 0 eth.dst 02:00:00:00:00:01; set 0 rate 1kpps; set 0 count 1; start 0; wait 0")
    assert p.stats()[0]["run"]["sent"] == 1
    peer.do("ip", "addr", "add", "10.0.0.7/24", "dev", peer.b)
    p.send("start 0")
    told(p, "the kernel has the address 10.0.0.7 on this interface")
    assert p.stats()[0]["run"]["state"] == "idle"
    p.quit()


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
