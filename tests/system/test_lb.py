# SPDX-License-Identifier: BSD-3-Clause
"""`lb` as its users run it. How fast anything is, is the machine's affair: verdicts have wide limits here, and the tests are about what is measured,
what is told of it, and that all is as it was afterwards."""
import json
import signal
import subprocess
import xml.etree.ElementTree as tree

import harness

WIDE = ("set trial.max-wait 100%; set trial.max-stall 10s; set trial.max-clock 100%; "
        "set trial.max-rate-error 100%; set trial.max-short 99%")
USER = ("set 0 flow client; set 0 flow.src 10.0.0.1..10.0.0.4; set 0 flow.dst 10.0.1.1; set 1 flow server; set 1 flow.src 10.0.1.1; set 0 cps 77; "
        "set 0 flow.drain 100ms")


def figures(r):
    return {f["figure"]: f for f in r["lb"]["figures"]}


def test_all_figures_a_page_and_settings(tmp_path):
    page = tmp_path / "page.html"
    r = harness.run(["-p", "wire", "-b", "--json", "-e", f"{WIDE}; {USER}; show settings all",
                     "-e", f"lb 0 to 1 quick for 20ms connections 500 html {page}", "-e", "show settings all"])
    assert r.returncode in (0, 4), r.stderr
    before, measured, after = harness.documents(r)
    assert before == after
    assert measured["lb"]["tuples"] == 4 * 64512 and not measured["lb"]["ended"]
    of = figures(measured)
    assert list(of) == ["pps", "bps", "elephant-pps", "elephant-bps", "two-way", "cps", "cc"]
    for f in of.values():
        # our own wire loses nothing: whatever held a figure back was the tester, or the machine
        assert f["state"] in ("at least", "not valid") and f["why"], f
        assert all(t["told"] != "failed" for t in f["trials"]), f
        if f["state"] == "at least":
            assert f["least"] <= f["median"] <= f["most"] and len(f["values"]) == f["searches"] == 1
    assert any(f["median"] for f in of.values()), of
    if of["cc"]["median"]:
        assert of["cc"]["median"] <= 500
    text = page.read_text()
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text and "<script" not in text
    drawn = [tree.fromstring(part.split("</svg>")[0].join(("<svg ", "</svg>"))) for part in text.split("<svg ")[1:]]
    assert drawn and all(f["title"] in text for f in of.values())


def test_a_device_that_loses_is_the_limit_and_one_that_answers_nothing_is_named():
    r = harness.run(["-p", "wire", "-b", "--json", "-e", f"{WIDE}; {USER}; set wire loss 100%",
                     "-e", "lb 0 to 1 quick for 20ms figures pps,cc connections 50"])
    assert r.returncode == 4, r.stderr
    of = figures(harness.documents(r)[0])
    for f in of.values():
        assert f["state"] == "not valid" and f["median"] is None and len(f["trials"]) <= 6, f
        if f["trials"][-1]["told"] == "failed":
            assert f["why"].startswith("nothing came through: "), f
    assert any(f["trials"][-1]["told"] == "failed" for f in of.values()), of


def test_figures_of_udp_are_left_out_for_a_device_of_tcp():
    r = harness.run(["-p", "wire", "-b", "--json", "-e", f"{WIDE}; {USER}; lb 0 to 1 quick tcp for 20ms figures pps,cc connections 50"])
    assert r.returncode in (0, 4), r.stderr
    of = figures(harness.documents(r)[0])
    assert of["pps"]["state"] == "n/a" and of["pps"]["trials"] == [] and of["cc"]["trials"]


def test_who_ends_it_is_told_what_is_found():
    with subprocess.Popen([harness.binary(), "--json", "-p", "wire", "-b", "-e", f"{WIDE}; {USER}; lb 0 to 1 figures pps for 10ms repeat 16; quit"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        with harness.bounded(p):
            assert p.stderr.readline().startswith("lb: 1 figure, likely ")
            p.send_signal(signal.SIGINT)
            out = p.stdout.read()
            p.wait()
    assert p.returncode == -signal.SIGINT
    for line in out.splitlines():  # none if it ended before the first trial did
        assert json.loads(line)["lb"]["figures"][0]["figure"] == "pps"
