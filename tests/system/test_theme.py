# SPDX-License-Identifier: BSD-3-Clause
"""Colours of the screen as each kind of terminal gets them, and its commands. Needs no root and no NIC.

WIRERATE names the executable.
"""
import shutil
import subprocess
import sys

import pytest

from pty_term import BIN, PROMPT
from screen_term import LONG, Screen, colours

pytestmark = pytest.mark.skipif(not BIN, reason="WIRERATE does not name the executable")

# One whose colours are direct, as xterm-direct, but with the separators that the emulator knows.
TERMINALS = r"""test-direct|terminal of a test with direct colours,
 RGB, colors#0x1000000, pairs#0x10000,
 setaf=\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
 setab=\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
 use=xterm-256color,
test-16|a terminal of a test with 16 colours,
 colors#16, pairs#0x100,
 setaf=\E[%?%p1%{8}%<%t%p1%{30}%+%e%p1%{82}%+%;%dm,
 setab=\E[%?%p1%{8}%<%t%p1%{40}%+%e%p1%{92}%+%;%dm,
 use=xterm-256color,
"""


def page_name(t):
    """A cell of the page's name, role top.page."""
    return t.screen.row(0)[t.lines()[0].index("<main>") + 1]


def look(cell):
    return cell.fg, cell.bg, cell.bold, cell.reverse


def opened(t):
    """Also on a terminal without an alternate screen."""
    return t.until(lambda: t.footer() and t.last() == PROMPT, "screen").on_page("main")


def becomes(t, *want):
    """The name of the page gets this look."""
    return t.until(lambda: "<main>" in t.lines()[0] and look(page_name(t)) == want, f"look {want}")


@pytest.fixture
def terminals(tmp_path):
    if shutil.which("tic") is None:
        pytest.skip("needs tic, of ncurses-bin")
    source, folder = tmp_path / "source.ti", tmp_path / "terminfo"
    source.write_text(TERMINALS)
    subprocess.run(["tic", "-x", "-o", str(folder), str(source)], check=True)
    return f"{folder}:/etc/terminfo:/lib/terminfo:/usr/share/terminfo"


def test_direct_colours(tmp_path, terminals):
    with Screen(tmp_path, TERM="test-direct", TERMINFO_DIRS=terminals) as t:
        t.ready().cmd("theme top.page 0x123456 0xff8700 bold")
        becomes(t, "123456", "ff8700", True, False)
        t.cmd("theme top.page 208 red off")  # of the palette of 256, and of the first eight, which stay the terminal's own
        becomes(t, "ff8700", "red", False, False)
        t.type("\x04").left(0)


@pytest.mark.parametrize("term,orange,has_bright", [
    ("xterm-256color", "ff8700", True), ("test-16", "brown", True), ("xterm", "brown", False), ("linux", "brown", False)])
def test_nearest_colours(tmp_path, terminals, term, orange, has_bright):
    with Screen(tmp_path, TERM=term, TERMINFO_DIRS=terminals) as t:
        opened(t).cmd("theme top.page 0xff8700 none off")
        becomes(t, orange, "default", False, False)
        t.cmd("theme top.page bright_red none off")
        becomes(t, "red", "default", True, False)
        assert (b"\x1b[91m" in t.raw) == has_bright  # for the emulator a bright red is a bold one; with 8 colours it is sent so
        t.cmd("theme top.page white blue bold")
        becomes(t, "white", "blue", True, False)
        t.type("\x04").left(0)


@pytest.mark.parametrize("env", [{"TERM": "vt100"}, {"NO_COLOR": "1"}, {"TERM": "xterm-256color", "NO_COLOR": "yes"}])
def test_roles_differ_without_colours(tmp_path, env):
    """A background of its own is told by reverse, a foreground not at all; attributes stay."""
    with Screen(tmp_path, **env) as t:
        opened(t).cmd("theme top.page white blue bold")
        becomes(t, "default", "default", True, True)
        t.cmd("theme top.page red none off")
        becomes(t, "default", "default", False, False)
        t.cmd("theme top.page none none reverse")
        becomes(t, "default", "default", False, True)
        assert not colours(t)
        t.type("\x04").left(0)


def test_off_and_on(tmp_path):
    with Screen(tmp_path, TERM="xterm-256color") as t:
        t.ready()
        becomes(t, "white", "blue", True, False)
        t.cmd("theme off")
        becomes(t, "default", "default", True, True)
        t.settle()
        assert not colours(t)
        t.cmd("theme on")
        becomes(t, "white", "blue", True, False)
        t.cmd("theme load mono")
        becomes(t, "default", "default", True, True)
        t.settle()
        assert not colours(t)
        t.cmd("theme reset")
        becomes(t, "white", "blue", True, False)
        t.type("\x04").left(0)


def test_the_ground_of_the_whole_screen(tmp_path):
    with Screen(tmp_path, TERM="xterm-256color") as t:
        t.ready().cmd(LONG).cmd("theme default black 230 off")
        t.until(lambda: all(cell.bg != "default" for y in range(t.screen.lines) for cell in t.screen.row(y)), "ground everywhere")
        # Pktgen's black-yellow.theme says this; text in the colour of its ground would not be seen
        t.cmd("theme default white white off").settle()
        t.until(lambda: not any(cell.bg == "white" for y in range(t.screen.lines) for cell in t.screen.row(y)), "readable")
        t.type("\x04").left(0)


def themes(home, name, text):
    folder = home / ".config/wirerate/themes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.theme").write_text(text)


def test_own_theme_is_taken_at_start(tmp_path):
    themes(tmp_path, "default", "theme top.page green none off\n")
    themes(tmp_path, "other", "theme top.page cyan none off\n")
    with Screen(tmp_path, TERM="xterm-256color") as t:
        t.ready()
        becomes(t, "green", "default", False, False)
        t.cmd("theme load other")
        becomes(t, "cyan", "default", False, False)
        t.type("\x04").left(0)
    with Screen(tmp_path, "-T", "other", TERM="xterm-256color") as t:
        t.ready()
        becomes(t, "cyan", "default", False, False)
        t.type("\x04").left(0)


def test_broken_own_theme_stops_nothing(tmp_path):
    themes(tmp_path, "default", "theme top.page green none off\ntheme top.pgae red none off\n")
    with Screen(tmp_path, TERM="xterm-256color") as t:
        t.ready()
        becomes(t, "white", "blue", True, False)
        t.type("\x04").left(0)
        assert b"default.theme:2:" in t.raw and b"did you mean top.page?" in t.raw
    with Screen(tmp_path, "--no-screen") as t:
        t.prompt().shows("default.theme:2:")
        t.type("\x04").ends()


def test_batch_reads_no_own_theme(tmp_path):
    themes(tmp_path, "default", "nonsense\n")
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    r = subprocess.run([BIN, "-p", "null", "-b", "-e", "theme"], env=env, capture_output=True, text=True, check=False)
    assert r.returncode == 0 and r.stdout.startswith("theme on, the built-in colours")
    assert "default.theme" not in r.stderr


def sent(t):
    """Frames that the page main says port 0 has sent."""
    line = next((line for line in t.lines() if line.startswith("Total Tx Pkts")), "Total Tx Pkts : -")
    return line.split(":")[1].split()[0].replace("'", "")


def test_commands_of_the_screen(tmp_path):
    with Screen(tmp_path, "-p", "null", cols=100, rows=30) as t:
        t.ready().cmd("geometry").shows("100 columns x 30 rows")
        t.cmd("set pages interval 100ms; off").settle().cmd("set 0 count 1234; start 0; wait 0").settle()
        assert "<main>" in t.lines()[0] and sent(t) == "0"
        t.cmd("on").until(lambda: sent(t) == "1234", "redraws go on")
        t.cmd("disable screen").settle().cmd("clear 0").settle()
        assert sent(t) == "1234"
        t.cmd("enable screen").until(lambda: sent(t) == "0", "redraws go on")
        before = len(t.raw)
        t.type("redisplay\r").until(lambda: b"\x1b[2J" in t.raw[before:] or b"\x1b[J" in t.raw[before:], "drawn anew")
        t.prompt().type("\x04").left(0)


def test_groups_of_ports(tmp_path):
    with Screen(tmp_path, *["-p", "null"] * 12) as t:
        t.ready().cmd(LONG).settle()
        room = int(t.title().split("ports 0-")[1].split()[0]) + 1
        assert 1 < room < 12
        t.cmd("page 1").until(lambda: f"ports {room}-" in t.title(), "second group")
        last = 11 // room
        t.cmd(f"page {last}").until(lambda: f"ports {last * room}-11 of 12" in t.title(), "last group")
        t.cmd("page 1").until(lambda: f"ports {room}-" in t.title(), "second group again")
        t.cmd("page 99").shows("there is no group 99 of ports")
        t.cmd("page 0; set pages.ports 1").until(lambda: "port 0 of 12" in t.title(), "one port")
        t.cmd("page 7").until(lambda: "port 7 of 12" in t.title(), "group 7")
        t.type("\x04").left(0)


def test_words_complete_with_their_help(tmp_path):
    with Screen(tmp_path, cols=120) as t:
        t.ready().type("theme log.err\t").line_is("theme log.error ")
        t.type("bright_re\t").line_is("theme log.error bright_red ")
        t.type("no\t").line_is("theme log.error bright_red none ")
        t.type("under\t").line_is("theme log.error bright_red none underscore ")
        t.type("\x15page que\t").line_is("page queues ")
        t.type("\x15theme load li\t").line_is("theme load light ")
        t.type("\x15theme footer.\t").shows("names of keys in the footer")
        t.type("\x15page s\t").shows("Streams of the selected port, what they send")
        t.type("\x15set pages.int\t").line_is("set pages.interval ")
        t.type("\x15\x04").left(0)


def heading(t):
    """Looks of the selected port's name with the blanks before it on page main, and of a letter of the port beside it."""
    line = next(n for n, text in enumerate(t.lines()) if text.startswith("Port:Name"))
    text, row = t.lines()[line], t.screen.row(line)
    end = text.index(">0:wire0") + len(">0:wire0")
    return {look(row[col]) for col in range(text.index(":", len("Port:")) + 2, end)}, look(row[text.index("1:wire1")])


@pytest.mark.parametrize("env", [{"TERM": term} for term in ("xterm", "xterm-256color", "screen", "tmux-256color", "linux", "vt100")] +
                         [{"TERM": "xterm-256color", "NO_COLOR": "1"}], ids=lambda env: "-".join(env.values()))
def test_the_selected_port_is_one_area(tmp_path, env):
    """It stands out with every theme, and its name can be read."""
    with Screen(tmp_path, **env) as t:
        opened(t).cmd(LONG)
        for theme in ("dark", "light", "high-contrast", "colourblind", "mono"):
            t.cmd(f"theme load {theme}").settle()
            area, other = heading(t)
            assert len(area) == 1, f"{theme}: {area}"
            fg, bg, bold, reverse = area.pop()
            assert (bg, reverse) != (other[1], other[3]), f"{theme}: as the port beside it"
            assert fg != bg or fg == "default", theme
            if env["TERM"] in ("xterm", "screen", "linux") and fg == "black":
                assert not bold, f"{theme}: a bold black is a grey there"
        t.type("\x04").left(0)


@pytest.mark.parametrize("term,quiet", [
    ("xterm-256color", {"dark": "808080", "light": "808080", "high-contrast": "white", "colourblind": "8a8a8a", "mono": "default"}),
    ("linux", {"dark": "default", "light": "default", "high-contrast": "white", "colourblind": "default", "mono": "default"})])
def test_zeros_are_quiet(tmp_path, term, quiet):
    """What did not happen has no colour of its own in any theme, and what did is set off from it, without colours too."""
    with Screen(tmp_path, cols=100, rows=40, TERM=term) as t:
        opened(t).cmd(LONG).cmd("set 0 count 1234; start 0; wait 0").settle()
        for theme, colour in quiet.items():
            t.cmd(f"theme load {theme}").settle()
            line = next(n for n, text in enumerate(t.lines()) if text.startswith("Errors Rx/Tx"))
            cells = [cell for cell in t.screen.row(line)[20:] if cell.data in "0/"]
            assert len(cells) >= 6, theme
            assert {cell.fg == colour and not cell.reverse and not cell.underscore for cell in cells} == {True}, f"{theme}: {cells}"
            line = next(n for n, text in enumerate(t.lines()) if text.startswith("Pkts/s Asked"))
            assert t.screen.row(line)[0].fg != colour or theme == "mono"
        t.type("\x04").left(0)

if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
