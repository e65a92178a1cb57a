# SPDX-License-Identifier: BSD-3-Clause
"""tests/picture: a terminal drawn as SVG. Needs tmux for what is taken from a live one, no root and no NIC."""
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

PLACE = pathlib.Path(__file__).resolve().parents[1] / "picture"
SVG = "{http://www.w3.org/2000/svg}"
sys.path.insert(0, str(PLACE))
import picture  # noqa: E402


def drawn(capture, cols, rows, light=False):
    return ElementTree.fromstring(picture.draw(capture, cols, rows, light))


def texts(tree):
    """{(column, row): (character, colour, bold)}: where each character stands."""
    found = {}
    for t in tree.iter(SVG + "text"):
        row = (int(t.get("y")) - 13 - picture.PAD) // picture.CELL_H
        for x, ch in zip(t.get("x").split(), t.text, strict=True):
            found[(int(x) - picture.PAD) // picture.CELL_W, row] = ch, t.get("fill"), t.get("font-weight") == "bold"
    return found


def test_each_character_has_its_place():
    at = texts(drawn("ab  c<&\nü世界x", 10, 2))
    assert {pos: ch for pos, (ch, _, _) in at.items()} == {
        (0, 0): "a", (1, 0): "b", (4, 0): "c", (5, 0): "<", (6, 0): "&", (0, 1): "ü", (1, 1): "世", (3, 1): "界", (5, 1): "x"}


@pytest.mark.parametrize("sgr,colour,bold", [
    ("31", picture.PALETTE[1], False), ("1;33", picture.PALETTE[3], True), ("92", picture.PALETTE[10], False), ("38;5;208", "#ff8700", False),
    ("38;5;244", "#808080", False), ("38;2;18;52;86", "#123456", False), ("31;0", "#d5d9e0", False), ("31;39", "#d5d9e0", False)])
def test_colours(sgr, colour, bold):
    assert texts(drawn(f"\x1b[{sgr}mx", 3, 1))[0, 0] == ("x", colour, bold)


def test_grounds_and_reverse():
    tree = drawn("\x1b[30;42mab\x1b[0;7m c\x1b[m", 6, 1)
    areas = [(int(r.get("x")), int(r.get("width")), r.get("fill")) for r in tree.iter(SVG + "rect") if r.get("x")]
    assert areas == [(picture.PAD, 2 * picture.CELL_W, picture.PALETTE[2]), (picture.PAD + 2 * picture.CELL_W, 2 * picture.CELL_W, "#d5d9e0")]
    assert texts(tree)[3, 0] == ("c", "#12151b", False)


def test_lines_blocks_and_braille_fill_their_cells():
    tree = drawn("⣿─█\n⠁ │", 3, 2)
    assert not texts(tree)
    paths = [p.get("d") for p in tree.iter(SVG + "path")]
    assert [p.count("M") for p in paths] == [8 + 2 + 1, 1 + 2], "eight dots, two halves of a line, a block; one dot, two halves"
    for p in paths:
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)", p):
            assert picture.PAD <= float(x) < picture.PAD + 3 * picture.CELL_W and picture.PAD <= float(y) < picture.PAD + 2 * picture.CELL_H


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_of_any_command(tmp_path):
    out = tmp_path / "x.svg"
    subprocess.run([sys.executable, PLACE / "picture.py", "--size", "30x5", "--wait", "READY", "--light", "-o", out, "sh", "-c",
                    r"printf '\033[1;31mRED\033[0m ─ READY'; sleep 60"], check=True, timeout=120)
    tree = ElementTree.parse(out).getroot()
    at = texts(tree)
    assert tree.get("width") == str(30 * picture.CELL_W + 2 * picture.PAD)
    assert [at[n, 0] for n in range(3)] == [(ch, picture.LIGHT[1], True) for ch in "RED"]
