# SPDX-License-Identifier: BSD-3-Clause
"""The numbers by dperf's names, and those of flows that they come from, are the same in JSON, CSV, text and as values of Lua, of one program."""
import json
import re

import pytest
from serving import server  # noqa: F401 (a fixture)

from harness import run

OPENED = 24
# Frames come twice, so that ACKs are sent again; those of both ends have a type of service, which each of them counts.
FLOWS = (f"set all catchup keep; set wire duplicate every 3; set 0-1 ipv4.tos 0x20; set 0 flow client; set 1 flow server; set 0/0 count {OPENED}; "
         "set 0-1 flow.timewait 60s; set 0 {}; start all; wait 0; stop 1; wait 1")


def told(s, mode, line):
    """What a client of the program gets for a line."""
    done = run(["attach", s.socket, *mode, "-e", line])
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def by_csv(text, at):
    """Rows key,value of one part of a document."""
    return {key[len(at):]: value for key, value in (row.split(",", 1) for row in text.splitlines()) if key.startswith(at)}


def by_text(text, role, port):
    """A block of totals as the page has it."""
    block = text.split(f"{role}, port {port}: Total Numbers\n", 1)[1].split("\n\n", 1)[0]
    return dict(re.findall(r"([A-Za-z][A-Za-z0-9]*(?:\(us\))?) +(-|[\d.,]+)", block))


def by_lua(s, line, path):
    """Of a table that a line gives to Lua, `name number` of one part, "nil" where there is none."""
    text = told(s, [], f"lua 'local t = wr.cmd(\"{line}\"){path} local out = {{}} for k, v in pairs(t) do if type(v) == \"number\" then "
                       "out[#out + 1] = k .. \"=\" .. string.format(\"%.15g\", v) end end return \"lua: \" .. table.concat(out, \" \")'")
    return dict(pair.split("=") for pair in re.search(r"lua: ([^\n\"]*)", text)[1].split())


@pytest.mark.parametrize("how, posts", [("http.method POST; set 0 request 10", (OPENED, OPENED)),
                                        ("http.method GET", (0, 0)),
                                        ("http.method GET:1,HEAD:1,POST:1,PUT:1", (None, None)),
                                        ("frame eth/ipv4/udp; set 1 frame eth/ipv4/udp", (0, 0))],
                         ids=["post", "get", "mixed", "udp"])
def test_each_form(server, how, posts):  # noqa: F811
    s = server()
    s.ask(FLOWS.format(how))
    flows = json.loads(told(s, ["--json"], "show flows"))["flows"]
    blocks = json.loads(told(s, ["--json"], "show page dperf"))["dperf"]
    page_csv, page_text = told(s, ["--csv"], "show page dperf"), told(s, [], "show page dperf")
    rows = [row.split(",") for row in told(s, ["--csv"], "show flows").splitlines()]
    text = told(s, [], "show flows")
    tcp = "udp" not in how
    for i, (flow, block, post) in enumerate(zip(flows, blocks, posts)):
        n, seg, http = block["total"], flow["segments"], flow["http"]
        # from the counters of flows to dperf's names
        assert n["tosRx"] == seg["same_tos"] == seg["rx"] > 0
        assert n["ackRt"] == (flow["errors"].get("ack_again", 0) if tcp else None)
        if tcp:
            assert n["httpPost"] == (http["post"] if i == 1 else post) and n["http2XX"] == OPENED
            assert n["httpGet"] == OPENED - (n["httpPost"] or 0) - (http["head"] + http["put"] if i == 1 else 0)
        # each form of the page
        of_csv, of_text = by_csv(page_csv, f"dperf[{i}].total."), by_text(page_text, block["role"], i)
        of_lua = by_lua(s, "show page dperf", f".dperf[{i + 1}].total")
        numbers = {k: v for k, v in n.items() if k not in ("errors", "rtt_us")}
        assert {k: of_csv[k] for k in numbers} == {k: "" if v is None else str(v) for k, v in numbers.items()}
        assert {k: v for k, v in of_lua.items() if k != "rtt_us"} == {k: str(v) for k, v in numbers.items() if v is not None}
        assert {k: v for k, v in of_text.items() if k != "rtt(us)"} == \
            {k: "-" if numbers[k] is None else f"{numbers[k]:,}" for k in of_text if k != "rtt(us)"}
        assert {"tosRx", "skOpen", *(("ackRt", "httpPost", "httpGet") if tcp else ())} <= set(of_text)
        # and of the flows
        row = dict(zip(rows[0], rows[1 + i]))
        assert {k: int(row[f"segments.{k}"]) for k in seg} == seg
        if tcp:
            assert {k: int(row[f"http.{k}"] or 0) for k in http} == http
            assert by_lua(s, "show flows", f".flows[{i + 1}].http") == {k: str(v) for k, v in http.items()}
        assert by_lua(s, "show flows", f".flows[{i + 1}].segments") == {k: str(v) for k, v in seg.items()}
        line = re.search(r"^same tos +(\S+) +(\S+)$", text, re.M)
        assert line[1 + i].replace("'", "") == str(seg["same_tos"])
        again = re.search(rf"^{i}/0: .*\back_again ([\d']+)", text, re.M)
        assert int(again[1].replace("'", "") if again else 0) == flow["errors"].get("ack_again", 0)
    if tcp:
        assert flows[0]["errors"]["ack_again"] > 0 and flows[0]["http"]["post"] == 0
        assert [line[1].split() for line in [re.search(rf"^http {k} +(.*)$", text, re.M) for k in ("head", "post", "put")] if line] == \
            [["0", str(flows[1]["http"][k])] for k in ("head", "post", "put") if flows[1]["http"][k]]
