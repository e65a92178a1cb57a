# SPDX-License-Identifier: BSD-3-Clause
"""A page of HTML as a parser finds it: each element is closed, in the order of a stack; it names nothing outside of itself; and its tables."""
import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
SI = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.stack, self.tables, self.svgs, self.paragraphs, self.headings = [], [], 0, [], []
        self.feed(path.read_text())
        self.close()
        assert not self.stack, f"never closed: {self.stack}"

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "object", "embed", "link", "base"), tag
        for name, value in attrs:
            assert name not in ("src", "href", "xlink:href", "action", "srcset", "data") and "url(" not in (value or ""), (tag, name, value)
            assert "//" not in (value or "") or (name, value) == ("xmlns", "http://www.w3.org/2000/svg"), (tag, name, value)
        self.svgs += tag == "svg"
        if tag in ("rect", "line", "polyline", "path", "text", "circle", "g"):
            assert "svg" in self.stack, f"{tag} outside of a drawing"
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            assert self.stack[-1] == "tr", self.stack
            self.tables[-1][-1].append("")
        elif tag == "p":
            self.paragraphs.append("")
        elif tag == "h2":
            self.headings.append("")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data):
        where = self.stack[-1] if self.stack else ""
        assert where != "style" or not re.search(r"url\(|@import", data)
        if where in ("th", "td"):
            self.tables[-1][-1][-1] += data
        elif where == "p":
            self.paragraphs[-1] += data
        elif where == "h2":
            self.headings[-1] += data

    def rows(self, n):
        """Table n as a list of dicts by its head."""
        head, *body = self.tables[n]
        assert all(len(row) == len(head) for row in body), (head, body)
        return [dict(zip(head, row)) for row in body]


def number(cell):
    """What a cell says: a count, a rate with its prefix, a share or a time in ns; None: "-"."""
    if cell == "-":
        return None
    m = re.fullmatch(r"(-?[\d.']+)(%|ns|us|ms|s|[kMGT]?)", cell)
    assert m, cell
    value, unit = float(m[1].replace("'", "")), m[2]
    return value / 100 if unit == "%" else value * (NS.get(unit) or SI[unit])


def says(cell, value):
    """Whether a cell has the digits of a number of the document."""
    got = number(cell)
    return got is value is None or (got is not None and value is not None and abs(got - value) <= 1e-3 * abs(value) + 1e-9)
