# SPDX-License-Identifier: BSD-3-Clause
"""What became of each frame on a wire that loses, copies, reorders and spoils: as its seed says, which is followed here frame by frame, and as
the probes tell. The wire's own counters are of another kind: a copy of a spoilt frame is spoilt too and counts twice, and an original that comes
behind its own copy is handed over late, while to the receiver it is the copy."""
import pytest

from harness import WAITS, as_json, documents, good
from test_dut import CORRUPT, DUPLICATE, LOSS, REORDER, hits
from test_latency import args_of

UDP = "set 0 frame eth/ipv4/udp; set 0 probe on; set 0 rate max; "


def told(cmds, count):
    script = f"{UDP}{cmds}; set 0 count {count}; start 0; wait 0; show latency; show stats"
    docs = documents(good([*as_json(args_of()), "-e", script], timeout=300))
    p = next(p for p in docs[-2]["ports"] if p["port"] == 1)
    rx = next(p for p in docs[-1]["ports"] if p["port"] == 1)["rx"]
    assert p["counts"]["exact"], p["counts"]
    assert rx["missed"] == rx["nombuf"] == rx["errors"] == 0
    assert p["probes"] + p["plain"] + p["damaged"] + p["foreign"] == rx["packets"]
    return p


def handed_over(count, lost, twice, held, by):
    """Numbers in their order: one that is held comes behind the next `by` that are not."""
    waiting = []
    for n in range(count):
        if n in lost:
            continue
        if n in held:
            waiting.append([n, by])
        else:
            yield n
            for w in waiting:
                w[1] -= 1
            yield from (w[0] for w in waiting if w[1] == 0)
            waiting = [w for w in waiting if w[1] > 0]
        if n in twice:
            yield n
    yield from (w[0] for w in waiting)


def judged(order, spoilt, known):
    """The first that comes of a number decides, all others are copies. known: a spoilt frame still says its number."""
    seen, highest = set(), -1
    c = dict.fromkeys(("received", "duplicated", "reordered", "corrupted", "damaged"), 0)
    for n in order:
        if n in spoilt and not known:
            c["damaged"] += 1
            continue
        if n in seen:
            c["duplicated"] += 1
        elif n in spoilt:
            c["corrupted"] += 1
        else:
            c["received"] += 1
            c["reordered"] += n < highest
        seen.add(n)
        highest = max(highest, n)
    return c


@pytest.mark.parametrize("seed", [1, 77])
@pytest.mark.parametrize("at,known", [(45, False), (30, True)], ids=["in-the-probe", "in-a-header"])
def test_each_frame(at, known, seed):
    """One bit of a frame is wrong: of the probe, and nobody can tell which frame it was; or of an address, and its sums say so."""
    count = 200_000
    lost = hits(seed, LOSS, 0.01, count)
    twice, held, spoilt = (hits(seed, why, share, count) - lost for why, share in ((DUPLICATE, 0.02), (REORDER, 0.01), (CORRUPT, 0.01)))
    want = judged(handed_over(count, lost, twice, held, 3), spoilt, known)
    assert spoilt & twice and held & twice and spoilt & held
    p = told(f"set 1 verify on; set wire seed {seed}; set wire loss 1%; set wire duplicate 2%; set wire reorder 1% by 3; "
             f"set wire corrupt 1% at {at}", count)
    c = p["counts"]
    assert {**{k: c[k] for k in want if k != "damaged"}, "damaged": p["damaged"]} == want
    assert (c["sent"], c["late"]) == (count, 0)
    assert c["lost"] == len(lost) + (0 if known else len(spoilt)) == count - c["received"] - c["corrupted"]


def test_sctp_behind_the_probe():
    """One bit of the payload is wrong, which only SCTP's CRC32c covers."""
    count, seed = 20_000, 5
    spoilt = hits(seed, CORRUPT, 0.01, count)
    p = told(f"set 0 frame eth/ipv4/sctp; set 0 size 256; set 1 verify on; set wire seed {seed}; set wire corrupt 1% at 200", count)
    c = p["counts"]
    assert spoilt and (c["received"], c["corrupted"], c["lost"], p["damaged"]) == (count - len(spoilt), len(spoilt), 0, 0)


def test_ten_million():
    count = 10_000_000
    lost, twice, held = (set(range(n - 1, count, n)) for n in (1000, 499, 2503))
    p = told("set wire loss every 1000; set wire duplicate every 499; set wire reorder every 2503 by 2", count)
    c = p["counts"]
    assert (c["sent"], c["received"], c["lost"]) == (count, count - len(lost), len(lost))
    assert c["duplicated"] == len(twice - lost)
    assert c["reordered"] == len(held - lost - twice)
    assert (c["late"], c["corrupted"], p["damaged"], c["extent_unknown"], c["extent_max"]) == (0, 0, 0, 0, 2)


def test_cleared_while_they_are_on_their_way():
    """What was sent before and comes in after is said to be so, until the next clear."""
    script = (WAITS + UDP + "set 0 rate 100kpps; set wire delay 200ms; start 0; lua inside(1000); clear all; lua more(1000); stop 0; wait 0; "
              "show latency; clear all; set 0 count 1000; start 0; wait 0; show latency")
    for _ in range(30):
        docs = [d for d in documents(good([*as_json(args_of()), "-e", script])) if d.get("show") == "latency"]
        first, second = (next(p for p in d["ports"] if p["port"] == 1)["counts"] for d in docs)
        if first["received"] != first["sent"]:
            break  # or all were through when it came to the clear
    assert not first["exact"] and "cleared" in first["why"]
    assert first["received"] > first["sent"] > 0 and first["lost"] == 0
    assert second["exact"] and second["sent"] == second["received"] == 1000
