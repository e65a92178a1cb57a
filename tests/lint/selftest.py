#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each check is given a breach of its rule, in a copy of the house's frame, and must find it."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
# check, file, text, part of the finding
BREACHES = [
    ("spdx", "lib/base/x.c", "int x;\n", "no line with SPDX"),
    ("text", "lib/base/x.c", SPDX + "int x; \n", "end of the line"),
    ("text", "lib/base/x.c", SPDX + "        int x;\n", "indent with tabs"),
    ("text", "app/x.c", SPDX + 'char *p = "/ho' + 'me/me/x";\n', "path of one machine"),
    ("text", "lib/base/x.c", SPDX + "/* " + "word " * 20 + "*/\n", "105 columns, at most 100"),
    ("text", "lib/base/x.c", SPDX + 'char *p = "' + "word " * 30 + '";\n', "163 columns, at most 100"),
    ("format", "lib/base/x.c", SPDX + "int  x;\n", "not as `./dev fmt` leaves it"),
    ("length", "lib/base/x.c", SPDX + "int x;\n" * 800, "at most 720"),
    ("names", "lib/base/x.c", SPDX + "static int run(void)\n{\n\treturn 0;\n}\n", "run() is a name of one word"),
    ("names", "tests/unit/cmd.h", SPDX, "lib/cmd/cmd.h has that name already"),
    ("names", "0-2", "I EAL options\n", "0-2: does not belong at the top"),
    ("scripts", "tests/x.sh", "#!/bin/sh\n# SPDX\nif true\n", "x.sh"),
    ("scripts", "tests/x.py", "def x(:\n", "invalid syntax"),
    ("links", "README.md", "[a](docs/a.md)\n", "README.md:1: the link to 'docs/a.md' leads to nothing"),
    ("links", "CHANGELOG.md", "`[a](b)`\n\n![a](a.svg)\n", "CHANGELOG.md:3: the link to 'a.svg' leads to nothing"),
    ("links", "CONTRIBUTING.md", "# A `b` (c)\n[a](#a-b-c) [a](#a-b)\n", "CONTRIBUTING.md:2: '#a-b': CONTRIBUTING.md has no heading"),
    ("links", "docs/x.md", "# X\n", "docs/x.md: README.md has no link to this page"),
    ("links", "docs/code.md", "# X\n`tests/lint/gone.py`\n", "docs/code.md:2: there is no tests/lint/gone.py"),
    ("links", "docs/code.md", "`xcalloc()` `never_there()`\n", "docs/code.md:1: no source has a function never_there()"),
    ("links", "docs/code.md", "`struct never_there`\n", "docs/code.md:1: there is no struct never_there"),
    ("links", "docs/code.md", "| [a](../lib/cmd/cmd.h) | `xcalloc()` |\n", "docs/code.md:1: lib/cmd/cmd.h has no xcalloc()"),
    ("links", "lib/base/x.c", SPDX + "/* docs/gone.md */\n", "lib/base/x.c: it names docs/gone.md"),
    ("layers", "lib/base/x.c", SPDX + '#include "value.h"\n', "arrows go down"),
    ("layers", "lib/value/x.c", SPDX + "#include <rte_mbuf.h>\n", "plain C"),
    ("layers", "lib/dp/x.c", SPDX + '#include "log.h"\n', "may use only"),
    ("layers", "lib/dp/x.c", SPDX + '#include "cmd.h"\n', "may use only"),
    ("layers", "lib/dp/x.c", SPDX + '#include "ctl.h"\n', "arrows go down"),
    ("layers", "lib/dp/x.c", SPDX + '#include "frame.h"\n', "run half"),
    ("layers", "lib/work/a/x.c", SPDX, "in none of the lists"),
    ("layers", "lib/work/a/run.c", SPDX + '#include "ctl.h"\n', "arrows go down"),
    ("layers", "lib/work/a/a_run.h", SPDX + '#include "log.h"\n', "may use only"),
    ("layers", "lib/work/a/ctl.c", SPDX + '#include "cmd.h"\n', "works without cmd"),
    ("layers", "lib/work/a/a_face.h", SPDX + '#include "dp.h"\n', "it sees no workers"),
    ("layers", "lib/work/a/app.c", SPDX + "#include <rte_ethdev.h>\n", "knows no DPDK"),
    ("layers", "lib/work/a/app.c", SPDX + '#include "dp.h"\n', "not the workers"),
    ("layers", "lib/work/a/page.c", SPDX + '#include "cmd.h"\n', "a page sees"),
    ("layers", "lib/ctl/x.c", SPDX + '#include "cmd.h"\n', "works without cmd"),
    ("layers", "lib/place/place.c", SPDX + '#include "value.h"\n', "place may use only base"),
    ("layers", "app/x.c", SPDX + "#include <rte_ethdev.h>\n", "knows no DPDK"),
    ("layers", "app/x.c", SPDX + '#include "dpdk.h"\n', "knows no DPDK"),
    ("layers", "app/ui/x.c", SPDX + '#include "ctl.h"\n', "see sess"),
    ("layers", "app/ui/page/x.c", SPDX + '#include "cmd.h"\n', "a page sees"),
    ("layers", "app/cmd/x.c", SPDX + "#include <histedit.h>\n", "only app/ui"),
    ("layers", "lib/ctl/x.c", SPDX + "#if RTE_VERSION > 1\n#endif\n", "belong into lib/base/dpdk.h"),
    ("results", "lib/ctl/x.c", SPDX + "void f(void)\n{\n\trte_eth_dev_stop(0);\n}\n", "nobody looks at"),
    ("results", "lib/ctl/x.c", SPDX + "void f(void)\n{\n\tif (1)\n\t\trte_dev_remove(0);\n}\n", "nobody looks at"),
    ("layers", "app/set/x.c", SPDX + "static const struct app *bound;\n", "not kept in a file: bound"),
    ("layers", "lib/ctl/x.c", SPDX + '#include "nowhere.h"\n', "no such header"),
    ("opens", "app/x.c", SPDX + 'FILE *f = fopen(path, "re");\n', "userfile_open"),
    ("opens", "lib/script/x.c", SPDX + "int rc = luaL_loadfile(L, name);\n", "userfile_open"),
    ("opens", "app/x.c", SPDX + "int fd = open(name,\n\tO_RDONLY);\n", "userfile_open"),
    ("opens", "app/spool.c", SPDX + 'int a = open(path, 0);\nint b = open("/proc/x", 0);\nint c = open(path, 0);\n', "app/spool.c:4"),
]
MODULE = "\n".join(f"work_{layer}_files += files('{layer}.c')" for layer in ("run", "ctl", "app", "page"))
WORKER = """
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
void *work(void);
void *work(void) { printf("%d", getpid()); return malloc(9); }
"""


def run(copy, check, *arguments):
    done = subprocess.run([sys.executable, copy / "tests/lint" / (check + ".py"), *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(found, name, result, part):
    rc, output = result
    if rc == 0 or part not in output or "Traceback" in output:
        found.add(f"tests/lint/{name}.py", f"did not find what it should ({part}): exit code {rc}\n{output}")


# file, text, part of the finding; of a kind of work `a`
KNOWS = [
    ("lib/ctl/x.c", "int f(void)\n{\n\treturn a_made();\n}\n", "lib/ctl/x.c: only lib/work/a knows a_made"),
    ("lib/ctl/x.c", "struct a_job *f;\n", "knows a_job"),
    ("lib/ctl/x.c", "int f = A_LAST;\n", "knows A_LAST"),
    ("lib/dp/x.c", "int f = A_MAX;\n", "knows A_MAX"),
    ("app/x.c", "int f = a_small(1);\n", "knows a_small"),
    ("app/x.c", "int f = a_table[0];\n", "knows a_table"),
    ("app/x.c", "extern int work_a;\n", "knows work_a"),
    ("lib/ctl/x.c", '#include "a_run.h"\n', "knows a_run.h"),
    ("lib/work/b/ctl.c", "int f = A_LAST;\n", "lib/work/b/ctl.c: only lib/work/a knows A_LAST"),
    ("lib/work/c/meson.build", "", "lib/work/c: it is not in the list"),
    ("lib/work/b/meson.build", "", "lib/work/b/meson.build: it states no prefixes"),
]
KNOWN = """#pragma once
#define A_MAX 3
enum a_order { A_FIRST, A_LAST = A_MAX };
struct a_job { int first; };
static inline int a_small(int n) { return n < A_MAX; }
extern int a_table[A_MAX];
int a_made(void);
"""
# None of it is what KNOWN declares.
UNKNOWING = """/* a_made() and A_MAX */
static int g(struct f *f)
{
\treturn f->a_table + printf("A_LAST");
}
"""


def works(copy, found):
    """A tree with two kinds of work, and what one may not know of the other's."""
    build = copy / "build"
    shutil.rmtree(copy / "lib/work")
    (copy / "lib/work").mkdir()
    (copy / "lib/work/meson.build").write_text("works = ['a', 'b']\n")
    for work in "ab":
        (copy / "lib/work" / work).mkdir()
        (copy / "lib/work" / work / "meson.build").write_text(f"work_prefixes += {{'{work}': ['{work}_']}}\n")
    (copy / "lib/work/a/a_run.h").write_text(SPDX + KNOWN)
    (copy / "lib/work/a/run.c").write_text(SPDX + '#include "a_run.h"\nint a_table[A_MAX], work_a;\nint a_made(void) { return A_LAST; }\n')
    (copy / "lib/work/b/ctl.c").write_text(SPDX + UNKNOWING)

    def check(symbol="", path=""):
        entries = [(work_file, f"gcc {flags} -c {work_file} -o {output}", output) for work_file, flags, output in
                   (("../lib/work/a/run.c", symbol, "a.o"), ("../lib/dp/worker.c", path, "b.o"))]
        subprocess.run(entries[0][1].split(), cwd=build, check=True)
        (build / "compile_commands.json").write_text(json.dumps(
            [{"file": file, "command": command, "output": output, "directory": "."} for file, command, output in entries]))
        return run(copy, "works", build)

    rc, output = check()
    if rc:
        found.add("tests/lint/works.py", f"finds something where nothing is:\n{output}")
    for name, text, part in KNOWS:
        path = copy / name
        was = path.read_text() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SPDX + text)
        expect(found, "works", check(), part)
        path.unlink() if was is None else path.write_text(was)
    expect(found, "works", check(symbol="-Da_made=made"), "lib/work/a/: made is to begin with a prefix")
    expect(found, "works", check(path="-I../lib/work/a"), "lib/dp/worker.c: lib/work/a is on its include path")


# file, text, part of the finding; of spellings `other`, which have all that OTHER says
FENCE = [
    ("app/x.c", '#include "other.h"\n', "app/x.c: it includes other.h"),
    ("lib/ctl/x.c", 'row = cmd_setting_find(r->cmd, "other-row", e);\n', "looks up the setting other-row"),
    ("app/ui/page/x.c", '\t.parts = "streams:@,other-part:@/#",\n', "asks for the part other-part"),
    ("app/cmd/meson.build", "files('../other/x.c')\n", "app/cmd/meson.build: it names other"),
    ("lua/x.lua", 'require "wirerate.other.x"\n', "lua/x.lua: it names wirerate.other"),
    ("lib/script/x.lua", "require('Other')\n", "lib/script/x.lua: it names 'Other'"),
]
OTHER = {
    "app/meson.build": "spellings = ['other']\n",
    "app/other/meson.build": "spelling_files += files('x.c')\n",
    "app/other/other.h": "extern int other_thing, face_other;\n",
    "app/other/x.c": '#include "other.h"\nint other_thing, face_other;\nchar *rows[] = {{.name = "other-row"}, {.name = "other-part"}};\n',
    "lua/meson.build": "lua_modules = ['Other']\nsubdir('wirerate/other')\n",
    "lua/Other.lua": 'return require "wirerate.other.x"\n',
    "lib/script/prelude.lua": 'local lazy = {other = "Other"}\n',
    "app/faces.c": "extern int face_other;\nint *f = &face_other;\n",
}


def fence(copy, found):
    """A tree with the spellings of another program, and what the rest may not have of them."""
    build = copy / "build"
    for name, text in OTHER.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text)

    def check(text="int x;\n"):
        (build / "user.c").write_text(text)
        (build / "inside.c").write_text("int other_thing, face_other;\n")
        entries = []
        for file, source in (("../app/other/x.c", "inside.c"), ("../app/faces.c", "../app/faces.c"), ("../lib/ctl/user.c", "user.c")):
            output = file.replace("/", "_") + ".o"
            subprocess.run(["gcc", "-c", source, "-o", output], cwd=build, check=True)
            entries.append({"file": file, "output": output, "command": "gcc", "directory": "."})
        (build / "compile_commands.json").write_text(json.dumps(entries))
        return run(copy, "fence", build)

    rc, output = check()
    if rc or output:
        found.add("tests/lint/fence.py", f"finds something where nothing is:\n{output}")
    for name, text, part in FENCE:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        expect(found, "fence", check(), part)
        path.unlink()
    for symbol in ("other_thing", "face_other"):
        expect(found, "fence", check(f"extern int {symbol};\nint *f = &{symbol};\n"), f"lib/ctl/user.c: it uses {symbol}")


def reach(found):
    """A tree with a history of one commit, and lists that do not tell what it touched, or too much."""
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place).resolve()
        shutil.copytree(tree.ROOT / "tests/lint", copy / "tests/lint", ignore=shutil.ignore_patterns("__pycache__"))
        listed = copy / "tests/lint/reach.txt"
        listed.write_text("verb 1\n\ta.c\n\tb.c\n")
        expect(found, "reach", run(copy, "reach"), "a verb touches 2 files, at most 1")
        listed.write_text("verb\n")
        expect(found, "reach", run(copy, "reach"), "reach.txt:1: neither")
        for name in ("a.c", "b.c", "docs.c", "CHANGELOG.md"):
            (copy / name).write_text("x\n")
        git = ["git", "-C", copy, "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x: y\n\nReach: verb"]):
            subprocess.run(git + command, check=True)
        listed.write_text("verb 9\n\ta.c\n\tb.c\n\tdocs.c\n")
        rc, output = run(copy, "reach")
        if rc or output:
            found.add("tests/lint/reach.py", f"finds something where nothing is:\n{output}")
        for text, part in (("verb 9\n\ta.c\n\tb.c\n", "docs.c: 'Reach: verb'"),
                           ("verb 9\n\ta.c\n\tb.c\n\tdocs.c\n\tc.c\n", "c.c: 'Reach: verb'"),
                           ("page 1\n", "no commit has 'Reach: page'")):
            listed.write_text(text)
            expect(found, "reach", run(copy, "reach"), part)


found = tree.Findings()
reach(found)
with tempfile.TemporaryDirectory() as place:
    copy = pathlib.Path(place)
    shutil.copytree(tree.ROOT / "tests/lint", copy / "tests/lint", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("meson.build", ".clang-format"):
        shutil.copy(tree.ROOT / name, copy)
    for name in tree.files(".h", under=("lib/",)) + tree.files("meson.build", under=("lib/work/",)):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree.ROOT / name, copy / name)
    (copy / "lib/work/a").mkdir(parents=True)
    (copy / "lib/work/a/meson.build").write_text(MODULE)
    for check in ("spdx", "text", "layers", "opens", "length", "scripts", "links", "names"):
        rc, output = run(copy, check)
        if rc and "lib/" not in output or "Traceback" in output:
            found.add(f"tests/lint/{check}.py", f"finds something in the frame itself:\n{output}")
    for check, name, text, part in BREACHES:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        result = run(copy, check)
        if result[0] != 77:  # what it needs is not here
            expect(found, check, result, part)
        path.unlink()

    build = copy / "build"
    (build / "lib/dp").mkdir(parents=True)
    (build / "x.c").write_text(WORKER)
    subprocess.run(["gcc", "-c", build / "x.c", "-o", build / "x.o"], check=True)
    subprocess.run(["ar", "rc", build / "lib/dp/libdp.a", build / "x.o"], check=True)
    for symbol in ("malloc", "printf", "getpid"):
        expect(found, "symbols", run(copy, "symbols", build), f"may not call {symbol}")
    bare = copy / "lib/base/bare.h"
    bare.write_text(SPDX + "size_t bare(void);\n")
    (build / "compile_commands.json").write_text(
        '[{"command": "gcc -I%s -std=gnu11 -c x.c", "file": "x.c", "directory": "."}]' % (copy / "lib/base"))
    expect(found, "headers", run(copy, "headers", build), "bare.h: does not compile alone")
    works(copy, found)
    fence(copy, found)
found.end()
