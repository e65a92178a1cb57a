# SPDX-License-Identifier: BSD-3-Clause
"""Captures: every file is read by Wireshark's tools and block by block, and every frame that the filter let through is in files or counted."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

import harness
from harness import as_json, documents, good, run, tshark
from pcapng_blocks import judged
from rpc_server import TOKEN, Server as Socket, refused, wirerate
from serving import Server, alive, until

pytestmark = pytest.mark.skipif(not all(shutil.which(tool) for tool in ("tshark", "capinfos")), reason="needs tshark and capinfos")
WIRE = ["-p", "wire"]
FATES = ("no_block", "write_failed", "beyond_limit", "rotated_out")


def shown(r):
    """Ports of the last `show capture` of a run."""
    return [d for d in documents(r) if d.get("show") == "capture"][-1]["ports"]


def captured(tmp_path, *cmds, ports=WIRE, code=0, more=()):
    """A run in a folder of its own, its captures as they end, and its messages."""
    args = as_json([*ports, *more, "-b", *[x for c in cmds for x in ("-e", c)], "-e", "capture stop; show capture"])
    r = run(args, cwd=tmp_path)
    assert r.returncode == code, r.stderr
    ends = shown(r)
    for p in ends:
        adds_up(p)
    return ends, r.stderr


def adds_up(p):
    assert p["dropped"] == sum(p[f] for f in FATES), p
    assert p["frames"] + p["dropped"] == p["accepted"] and p["waiting"] == 0, p
    assert p["accepted"] <= p["seen"] and p["state"] in ("done", "failed"), p


SEND = "set 0 frame eth/ipv4/udp; set 0 udp.dst 1000..1999; set 0 size 64,100,1518; set 0 count {n}; start 0; wait 0"


def test_all_that_was_sent_and_received(tmp_path):
    """Both ends of a wire into one file: each frame leaves one and comes to the other, in this order, with the bytes that `show frame` says."""
    (a, b), _ = captured(tmp_path, "capture 0,1 x.pcapng", SEND.format(n=3000))
    f = judged(tmp_path / "x.pcapng")
    assert [p["frames"] for p in (a, b)] == [3000, 3000] and a["bytes"] == b["bytes"] == 1000 * (64 + 100 + 1518)
    assert [i["name"] for i in f.interfaces] == [b"wire0", b"wire1"]
    assert f.section[4].startswith("wirerate ") and f.interfaces[0]["tsresol"] == b"\x09"
    sent, got = ([x for x in f.frames if x.interface == i] for i in (0, 1))
    assert not any(x.inbound for x in sent) and all(x.inbound for x in got)
    assert [x.data for x in sent] == [x.data for x in got]
    assert all(s.ns <= g.ns for s, g in zip(sent, got))
    times = [x.ns for x in f.frames]
    assert times == sorted(times) and abs(times[0] / 1e9 - time.time()) < 120
    ports = [int(row[0]) for row in tshark(tmp_path / "x.pcapng", "frame.interface_id == 1", "udp.dstport")]
    assert ports == [1000 + k % 1000 for k in range(3000)]
    for i, stats in enumerate(f.stats):
        assert stats == {"received": 3000, "accepted": 3000, "dropped": 0, "os_dropped": 0, "delivered": 3000}, i


@pytest.mark.parametrize("word, frames", [("rx", 500), ("tx", 500), ("both", 1000), ("", 1000)])
def test_directions(word, frames, tmp_path):
    both = "set 0,1 count 500; start 0,1; wait"
    (p,), _ = captured(tmp_path, f"capture 0 x.pcapng {word}", both)
    f = judged(tmp_path / "x.pcapng")
    assert p["frames"] == len(f.frames) == frames and p["direction"] == (word or "both")
    assert sum(x.inbound for x in f.frames) == (500 if word != "tx" else 0)


def test_filter_and_snap(tmp_path):
    (p,), _ = captured(tmp_path, "capture 1 x.pcapng snap 40 filter 'udp dst portrange 1100-1199 and less 80'", SEND.format(n=3000))
    f = judged(tmp_path / "x.pcapng")
    ports = [int(row[0]) for row in tshark(tmp_path / "x.pcapng", "frame", "udp.dstport")]
    assert ports == [1000 + k % 1000 for k in range(0, 3000, 3) if 100 <= k % 1000 < 200]
    assert p["seen"] == 3000 and p["accepted"] == p["frames"] == len(ports) and p["snap"] == 40
    assert all(len(x.data) == 40 and x.size == 60 for x in f.frames)
    assert f.interfaces[0]["filter"][1:] == p["filter"].encode() and f.stats[0]["accepted"] == len(ports)


@pytest.mark.parametrize("expr, says", [("udpp", "libpcap says"), ("host nobody.example", "host"), ("tcp[", "libpcap says")])
def test_bad_filters(expr, says, tmp_path):
    r = run([*WIRE, "-b", "-e", f"capture 1 x.pcapng filter '{expr}'"], cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "x.pcapng").exists()


def test_several_queues(tmp_path):
    """Queues are told, and the file is in the order of times whatever worker took a frame."""
    ends, _ = captured(tmp_path, "capture 0,1 x.pcapng", "set 0 frame eth/ipv4/udp; set 0 udp.src random; set 0 count 4000; start 0; wait 0",
                       more=["-m", "1.0*2,1.1*2"])
    f = judged(tmp_path / "x.pcapng")
    assert [p["frames"] for p in ends] == [4000, 4000]
    assert {x.queue for x in f.frames if not x.inbound} == {0, 1}
    times = [x.ns for x in f.frames]
    assert times == sorted(times)


# limits


def test_frames_are_exact(tmp_path):
    (p,), text = captured(tmp_path, "capture 1 x.pcapng frames 777", SEND.format(n=5000), "capture 1 wait")
    f = judged(tmp_path / "x.pcapng")
    ports = [int(row[0]) for row in tshark(tmp_path / "x.pcapng", "frame", "udp.dstport")]
    assert ports == [1000 + k % 1000 for k in range(777)] and len(f.frames) == 777
    assert p["frames"] == 777 and p["beyond_limit"] == p["accepted"] - 777 and "its frames are complete: 777 frames" in text


def test_a_time_ends_it(tmp_path):
    (p,), text = captured(tmp_path, "set 0 rate 5kpps; start 0", "capture 1 x.pcapng for 300ms; capture 1 wait")
    f = judged(tmp_path / "x.pcapng")
    assert p["frames"] == len(f.frames) > 0 and p["duration_ns"] == 300_000_000 and "its time is over" in text
    assert f.frames[-1].ns - f.frames[0].ns < 300_000_000


def test_size(tmp_path):
    (p,), text = captured(tmp_path, "capture 1 x.pcapng size 100kB", SEND.format(n=5000))
    f = judged(tmp_path / "x.pcapng")
    assert 100_000 - 2000 < os.path.getsize(tmp_path / "x.pcapng") <= 100_000
    assert p["frames"] == len(f.frames) and p["beyond_limit"] == p["accepted"] - p["frames"] and "the file has its size" in text


def test_a_ring_of_files(tmp_path):
    (p,), _ = captured(tmp_path, "capture 1 x.pcapng size 100kB rotate 3", SEND.format(n=5000))
    names = sorted(os.listdir(tmp_path))
    assert names == [f"x_0000{i}.pcapng" for i in (1, 2, 3)] and p["files"] > 3
    files = [judged(tmp_path / n) for n in names]
    assert all(os.path.getsize(tmp_path / n) <= 100_000 for n in names)
    frames = sorted((x.ns, x.data) for f in files for x in f.frames)
    assert len(frames) == p["frames"] == 5000 - p["rotated_out"]
    numbers = sorted(int(re.search(r"file (\d+) of", f.section[1]).group(1)) for f in files)
    assert numbers == [p["files"] - 2, p["files"] - 1, p["files"]]


def test_a_ring_by_time(tmp_path):
    (p,), _ = captured(tmp_path, "set 0 rate 2kpps; capture 1 x.pcapng rotate 100 every 50ms; start 0 for 400ms; wait")
    names = sorted(os.listdir(tmp_path))
    assert len(names) == p["files"] > 2
    for n in names:
        times = [x.ns for x in judged(tmp_path / n).frames]
        assert times[-1] - times[0] < 50_000_000


@pytest.mark.parametrize("words, says", [
    ("rotate 3", "needs to know"), ("size 1MB every 2s", "rotate 10 every"), ("rx tx", "say one of"), ("for 0s", "no time"), ("size 10", "at least"),
    ("snap 0", "allowed"), ("frames 10 frames 20", "unexpected"), ("rotate 1 size 1MB", "2"),
])
def test_rules_between_words(words, says, tmp_path):
    r = run([*WIRE, "-b", "-e", f"capture 1 x.pcapng {words}"], cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr, r.stderr
    assert os.listdir(tmp_path) == []


# overload, full disks, readers that leave


def test_overload_adds_up(tmp_path):
    """Far more than the memory of one megabyte holds: what is not in the file is counted."""
    (a, b), text = captured(tmp_path, "set 0,1 capture.memory 1; set 0 size 1518; set 0 rate max; set 0 count 50000; capture 0,1 x.pcapng",
                            "start 0; wait")
    f = judged(tmp_path / "x.pcapng")
    assert len(f.frames) == a["frames"] + b["frames"] and a["accepted"] > 0
    assert a["seen"] == a["accepted"] and f.stats[0]["dropped"] == a["no_block"]
    if a["no_block"] + b["no_block"] > 0:
        assert "because the memory was full" in text


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root: mounts a small file system")
    where = tmp_path / "disk"
    where.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(where)], stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs: {made.stderr.strip()}")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=False)


def test_a_full_disk(small_disk):
    """The file ends behind its last whole block, and the end says how many frames are missing."""
    (p,), text = captured(small_disk, "capture 1 x.pcapng", SEND.format(n=5000), code=3)
    f = judged(small_disk / "x.pcapng", ended=False)
    assert p["state"] == "failed" and len(f.frames) == p["frames"] > 100
    assert p["write_failed"] > 0 and "the file takes no more: No space left on device" in text


def test_a_full_disk_in_a_ring(small_disk):
    (p,), _ = captured(small_disk, "capture 1 x.pcapng size 200kB rotate 4", SEND.format(n=5000), code=3)
    frames = sum(len(judged(small_disk / n, ended=False).frames) for n in os.listdir(small_disk))
    assert p["state"] == "failed" and frames == p["frames"]


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "p")
    with open(tmp_path / "y.pcapng", "wb") as out:
        reader = subprocess.Popen(["cat", "p"], stdout=out, cwd=tmp_path)
        (p,), _ = captured(tmp_path, "sleep 300ms; capture 1 p", SEND.format(n=3000))
        assert reader.wait(60) == 0
    assert len(judged(tmp_path / "y.pcapng").frames) == p["frames"] == 3000


def test_a_pipe_without_a_reader(tmp_path):
    os.mkfifo(tmp_path / "p")
    r = run([*WIRE, "-b", "-e", "capture 1 p"], cwd=tmp_path)
    assert r.returncode == 2 and "nobody reads this pipe" in r.stderr


def test_a_reader_that_leaves(tmp_path):
    os.mkfifo(tmp_path / "p")
    reader = subprocess.Popen(["head", "-c", "1000", "p"], stdout=subprocess.DEVNULL, cwd=tmp_path)
    (p,), text = captured(tmp_path, "sleep 300ms; capture 1 p", SEND.format(n=3000))
    assert reader.wait(60) == 0
    assert p["state"] == "done" and "its reader is gone" in text and p["write_failed"] > 0


def test_a_reader_that_takes_nothing(tmp_path, live):
    """It holds neither the prompt nor the end of the program."""
    os.mkfifo(tmp_path / "p")
    fd = os.open(tmp_path / "p", os.O_RDONLY | os.O_NONBLOCK)
    p = live([*WIRE, "-b"], cwd=tmp_path)
    p.send("set 1 capture.memory 1; capture 1 p; set 0 size 1518; set 0 rate 100kpps; start 0")
    p.more(20000)
    assert p.ask("show capture")["ports"][0]["state"] == "capturing"
    code, took = p.quit(30)
    assert code == 0 and took < 20
    os.close(fd)


# names of files


def test_another_file_is_not_written_over(tmp_path):
    (tmp_path / "notes").write_text("mine\n")
    r = run([*WIRE, "-b", "-e", "capture 1 notes"], cwd=tmp_path)
    assert r.returncode == 2 and "is no capture file" in r.stderr and (tmp_path / "notes").read_text() == "mine\n"


def test_a_capture_is_written_over(tmp_path):
    for n in (500, 20):
        captured(tmp_path, "capture 1 x.pcapng", SEND.format(n=n))
        assert len(judged(tmp_path / "x.pcapng").frames) == n
    (tmp_path / "empty").touch()
    captured(tmp_path, "capture 1 empty", SEND.format(n=5))
    assert len(judged(tmp_path / "empty").frames) == 5


def test_what_is_no_file(tmp_path):
    (tmp_path / "folder").mkdir()
    for name, says in (("folder", "folder"), ("/dev/zero", "device"), ("none/x", "No such file"), ("", "wanted")):
        r = run([*WIRE, "-b", "-e", f'capture 1 "{name}"'], cwd=tmp_path)
        assert r.returncode == 2 and says in r.stderr, r.stderr


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to("x.pcapng")
    captured(tmp_path, "capture 1 link", SEND.format(n=5))
    assert (tmp_path / "link").is_symlink() and len(judged(tmp_path / "x.pcapng").frames) == 5


def test_one_file_for_one_capture(tmp_path):
    (tmp_path / "x.pcapng").touch()
    os.link(tmp_path / "x.pcapng", tmp_path / "y.pcapng")
    for other in ("x.pcapng", "./x.pcapng", "y.pcapng"):
        r = run([*WIRE, "-b", "-k", "-e", f"capture 0 x.pcapng; capture 1 {other}"], cwd=tmp_path)
        assert r.returncode == 2 and "is being written by the capture to 'x.pcapng'" in r.stderr
    r = run([*WIRE, "-b", "-e", "capture 1 a.pcapng; capture 0,1 b.pcapng"], cwd=tmp_path)
    assert r.returncode == 2 and "port 1 is being captured to 'a.pcapng' already" in r.stderr and not (tmp_path / "b.pcapng").exists()


def test_a_file_that_goes(tmp_path, live):
    p = live([*WIRE, "-b"], cwd=tmp_path)
    p.send("capture 0 x.pcapng; capture 1 y.pcapng")
    p.stats()
    (tmp_path / "x.pcapng").unlink()
    (tmp_path / "y.pcapng").rename(tmp_path / "z.pcapng")
    p.send(SEND.format(n=10) + "; capture stop")
    p.ask("show capture", 30)
    assert "'x.pcapng' was deleted meanwhile" in p.errors() and "'y.pcapng' was moved meanwhile" in p.errors()
    assert len(judged(tmp_path / "z.pcapng").frames) == 10
    assert p.quit()[0] == 0


# ends of the program


@pytest.mark.parametrize("how", ["quit", "end", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_every_end_completes_the_file(how, tmp_path, live):
    p = live([*WIRE, "-b"], cwd=tmp_path)
    p.send("set 0 rate 50kpps; capture 0,1 x.pcapng; start 0")
    p.more(2000)
    if how == "quit":
        p.send("quit")
    elif how == "end":
        p.proc.stdin.close()
    else:
        p.proc.send_signal(how)
    code = p.proc.wait(60)
    assert code == (0 if how in ("quit", "end") else -how), p.errors()
    f = judged(tmp_path / "x.pcapng")
    assert len([x for x in f.frames if not x.inbound]) >= 2000
    assert f.stats[0]["delivered"] == f.stats[0]["accepted"] and "in 'x.pcapng'" in p.errors()


def test_one_shot_waits_for_its_end(tmp_path):
    r = good(["--json", *WIRE, "-e", "set 0 rate 10kpps; start 0 for 1s", "capture", "1", "x.pcapng", "frames", "100"], cwd=tmp_path)
    (p,) = shown(r)
    assert p["frames"] == 100 == len(judged(tmp_path / "x.pcapng").frames)
    r = run([*WIRE, "capture", "1", "x.pcapng"], cwd=tmp_path)
    assert r.returncode == 2 and "never end" in r.stderr


def test_one_shot_is_interrupted(tmp_path):
    p = subprocess.Popen([harness.binary(), *WIRE, "-e", "set 0 rate 10kpps; start 0 for 1m", "capture", "1", "x.pcapng", "for", "1m"], cwd=tmp_path,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: (tmp_path / "x.pcapng").exists() and os.path.getsize(tmp_path / "x.pcapng") > 10000)
    p.send_signal(signal.SIGINT)
    _, text = p.communicate(timeout=60)
    assert p.returncode == -signal.SIGINT and "frames in 'x.pcapng'" in text
    judged(tmp_path / "x.pcapng")


def test_standard_output(tmp_path):
    """Frames go to the pipe, and all else to standard error."""
    send = ["-e", "set 0 rate 10kpps; start 0 for 1s"]
    line = " ".join([harness.binary(), *WIRE, "-e", "'set 0 rate 10kpps; start 0 for 1s'", "capture 1 - frames 300"])
    r = subprocess.run(["sh", "-c", f"{line} | tshark -n -i - -T fields -e udp.dstport"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=60)
    assert r.stdout.split() == ["5678"] * 300, r.stderr
    with open(tmp_path / "x.pcapng", "wb") as f:
        r = subprocess.run([harness.binary(), *WIRE, *send, "capture", "1", "-", "frames", "300"], stdin=subprocess.DEVNULL, stdout=f,
                           stderr=subprocess.PIPE, text=True, timeout=60)
    assert r.returncode == 0 and len(judged(tmp_path / "x.pcapng").frames) == 300 and "beyond limit" in r.stderr


def test_standard_output_of_others_is_left_alone(tmp_path):
    for args in (["--json-stream", *WIRE, "capture", "1", "-", "for", "1s"], [*WIRE, "--json-stream", "-b", "-e", "capture 1 - for 1s"]):
        r = run(args, cwd=tmp_path)
        assert r.returncode == 2 and "only where this is the program's only command" in r.stderr
        assert json.loads(r.stdout.splitlines()[0])["event"] == "start"
    assert os.listdir(tmp_path) == []


# elsewhere


def test_a_server_and_its_clients(tmp_path):
    s = Server()
    try:
        s.start()
        s.ask(f"capture 1 {tmp_path}/x.pcapng", "set 0 count 100; start 0; wait")
        s.ask("capture 1 -", code=2)
        s.ask("capture stop")
        assert s.doc("show capture")["ports"][0]["frames"] == 100 == len(judged(tmp_path / "x.pcapng").frames)
        s.ask(f"capture 0,1 {tmp_path}/y.pcapng", "start 0; wait")
        os.kill(s.pid, signal.SIGTERM)
        until(lambda: not alive(s.pid))
    finally:
        s.close()
    assert len(judged(tmp_path / "y.pcapng").frames) == 200


def test_only_where_files_are_allowed(tmp_path):
    s = Socket(tmp_path, tcp=True)
    c = wirerate.connect(s.address, token=TOKEN)
    try:
        refused(c, "capture 1 x.pcapng", "EACCES")
        assert c.request(cmd="capture 1 stop")["ok"]
    finally:
        c.close()
        s.close()
    assert not (tmp_path / "x.pcapng").exists()


def test_pktgen_words(tmp_path):
    ends, _ = captured(tmp_path, "enable 1 capture; enable 1 capture; set 0 count 50; start 0; wait; disable 1 capture; disable 0 capture")
    (name,) = os.listdir(tmp_path)
    assert re.fullmatch(r"pktgen-\d{8}-\d{6}-1\.pcapng", name) and ends[0]["direction"] == "rx"
    assert len(judged(tmp_path / name).frames) == 50


def test_beside_tcpdump(veth, tmp_path):
    """A port on the kernel: what we say that we sent is what the other end got, and what it sends is what we captured."""
    dump = harness.Tcpdump(veth, tmp_path / "tcpdump.pcap")
    args = ["--json", "-p", f"packet:{veth.a}", "-b", "-e", "capture 0 x.pcapng filter 'udp port 5678'",
            "-e", "set 0 frame eth/ipv4/udp; set 0 udp.src 1000..1999; set 0 rate 5kpps; set 0 count 1000; start 0; wait; capture stop; show capture"]
    r = good(args, prefix=veth.prefix, cwd=tmp_path)
    dump.stop()
    adds_up(shown(r)[0])
    judged(tmp_path / "x.pcapng")
    ours, theirs = (tshark(tmp_path / n, "udp.port == 5678", "udp.srcport", "ip.id", "frame.len") for n in ("x.pcapng", "tcpdump.pcap"))
    assert len(ours) == 1000 and ours == theirs


def test_received_from_the_kernel(veth, tmp_path, live):
    p = live(["-p", f"packet:{veth.a}", "-b"], prefix=veth.prefix, cwd=tmp_path)
    p.send("capture 0 x.pcapng rx")
    p.ask("show capture")
    sender = veth.sender(500, 2000)
    assert sender.wait(60) == 0
    until(lambda: p.ask("show capture")["ports"][0]["seen"] >= 500)
    p.send("capture stop")
    (end,) = p.ask("show capture", 30)["ports"]
    adds_up(end)
    assert p.quit()[0] == 0
    f = judged(tmp_path / "x.pcapng")
    assert len(f.frames) == end["frames"] >= 500 and all(x.inbound for x in f.frames)
