#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replay transcripts: what is typed, and what wirerate answers.

    # a comment
    $ -p null               options of the program for the commands that follow; starts it anew
    > set 0 rate abc5       a command; what follows is its output, results and errors as they come
    = 2                     exit code of the commands since `$`, without --keep-going
    ! -m 1.0,1.0 show map   the program with these arguments; what follows is its output
    + NAME                  a file of the lines that follow, in a directory of its own that commands name as @tmp
    < NAME                  what is in that file now
    !SIGTERM -b -e 'start 0' -e @mark -e 'sleep 10s'
                            the same, and the signal as soon as @mark was refused; `= -15` is an end by signal 15

An expected line `...` stands for any lines, `~ REGEX` for one line that matches as a whole. That a busy machine could not
send as it was asked to (`tester limited: ...`) is passed over where it is not expected. --update writes what came
into the files, leaving alone what matched, patterns too: read the difference before you commit it. The last line is the count.
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

MARK = "@mark"  # no command: its refusal, on the same pipe, says where one command's output ends and the next begins
TIMEOUT_S = 60
LIMITED = "tester limited: "
TMP = "@tmp"


class Step:
    def __init__(self, kind, text):
        self.kind, self.text = kind, text
        self.expect = []  # lines
        self.trailer = []  # comments and blank lines behind


def read(path):
    """Lines of a file as steps; a step of kind '' holds the lines before the first."""
    steps = [Step("", "")]
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            m = re.match(r"(!SIG[A-Z]+|[$>=!+<])( |$)(.*)", line)
            if m:
                steps.append(Step(m[1], m[3]))
            elif line.startswith("#") or line == "":
                steps[-1].trailer.append(line)
            else:
                steps[-1].expect.extend(steps[-1].trailer)
                steps[-1].trailer = []
                steps[-1].expect.append(line)
    return steps


def write(path, steps):
    with open(path, "w", encoding="utf-8") as f:
        for s in steps:
            if s.kind:
                f.write(f"{s.kind} {s.text}".rstrip() + "\n")
            for line in s.expect + s.trailer:
                f.write(line + "\n")


def one_matches(want, line):
    return re.fullmatch(want[2:], line) is not None if want.startswith("~ ") else want == line


def plain(line):
    """As an expected line, also where it would be read as a step or a comment."""
    return "~ " + re.escape(line).replace("\\ ", " ") if re.match(r"[$>!=+<] |~ |#|!SIG|\.\.\.$", line) else line


def merged(expect, got):
    """What came, with the patterns and `...` of what was expected kept where they still stand for it."""
    best = {(0, 0): (0, None, None)}  # (expected, came) so far: cost, where from, the line to keep

    def offer(at, cost, whence, line):
        if at not in best or cost < best[at][0]:
            best[at] = (cost, whence, line)

    for i in range(len(expect) + 1):
        for j in range(len(got) + 1):
            cost = best[i, j][0]
            if j < len(got):
                offer((i, j + 1), cost + 1, (i, j), plain(got[j]))
            if i < len(expect) and expect[i] == "...":
                offer((i + 1, j), cost, (i, j), "...")
                if j < len(got):
                    offer((i, j + 1), cost + 1e-6, (i, j), None)
            elif i < len(expect):
                offer((i + 1, j), cost + 1, (i, j), None)
                if j < len(got) and one_matches(expect[i], got[j]):
                    offer((i + 1, j + 1), cost, (i, j), expect[i])
    lines, at = [], (len(expect), len(got))
    while at != (0, 0):
        _, at, line = best[at]
        lines += [line] if line is not None else []
    return lines[::-1]


def matches(expect, got):
    if not expect:
        return all(line.startswith(LIMITED) for line in got)
    if expect[0] == "...":
        return any(matches(expect[1:], got[i:]) for i in range(len(got) + 1))
    if not got:
        return False
    return one_matches(expect[0], got[0]) and matches(expect[1:], got[1:]) or got[0].startswith(LIMITED) and matches(expect, got[1:])


def clean(text):
    # A blank line would end the expectation; blanks at the end of lines cannot be seen in review.
    return [line.rstrip() for line in text.splitlines() if line.strip()]


class Runner:
    def __init__(self, program, cwd, tmp):
        self.program, self.cwd, self.tmp = os.path.abspath(program), cwd, tmp
        self.env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", XDG_CONFIG_HOME=tmp, XDG_STATE_HOME=tmp)

    def file(self, name):
        return os.path.join(self.tmp, name)

    def popen(self, args):
        args = [a.replace(TMP, self.tmp) for a in args]
        return subprocess.Popen([self.program, *args], cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    def shown(self, text):
        """The directory under its name; a caret below a line that has it moves along."""
        lines, shift = text.splitlines(keepends=True), 0
        for i, line in enumerate(lines):
            if shift and re.match(r" *\^ ", line):
                lines[i] = line = line[min(shift, len(line) - len(line.lstrip())):]
            shift = line.count(self.tmp) * (len(self.tmp) - len(TMP))
            lines[i] = line.replace(self.tmp, TMP)
        return "".join(lines)

    def run(self, args, sig=None):
        with self.popen(args) as p:
            try:
                if sig is None:
                    out, _ = p.communicate(timeout=TIMEOUT_S)
                    return self.shown(out), p.returncode
                out = ""
                while f'"{MARK}"' not in out:
                    line = p.stdout.readline()
                    if line == "":
                        break
                    out += line
                p.send_signal(sig)
                rest, _ = p.communicate(timeout=TIMEOUT_S)
                return self.shown(out + rest), p.returncode
            except subprocess.TimeoutExpired:
                p.kill()
                p.communicate()
                return f"no end after {TIMEOUT_S} s\n", None

    def commands(self, options, commands):
        """Output of each command of one process, as lists of lines."""
        args = [*options, "-b", "-k", "-e", MARK]
        for c in commands:
            args += ["-e", c, "-e", MARK]
        out, _ = self.run(args)
        parts = re.split(rf"(?m)^.*{MARK}\n.*\"{MARK}\".*\n", out)
        parts = [clean(p) for p in parts[1:]]  # before the first mark: what the start said
        while len(parts) < len(commands):
            parts.append(["(no answer: the program ended)"] + (clean(out)[-3:] if not parts else []))
        if len(parts) > len(commands) + 1:
            parts = [["(cannot tell the commands apart)"] + clean(out)] * len(commands)
        elif len(parts) == len(commands) + 1:
            parts[len(commands) - 1 if commands else 0] += parts.pop() if commands else []
        return parts

    def exit_code(self, options, commands):
        args = [*options, "-b"]
        for c in commands:
            args += ["-e", c]
        return self.run(args)[1]


def replay(runner, steps):
    """Pairs of step and what came, in the order of the file."""
    results, options, i = [], [], 0
    block, code = [], None
    while i < len(steps):
        s = steps[i]
        if s.kind == "$":
            options, block = shlex.split(s.text), []
        elif s.kind == ">":
            block = []
            while i < len(steps) and steps[i].kind == ">":
                block.append(steps[i])
                i += 1
            texts = [b.text for b in block]
            results += list(zip(block, runner.commands(options, texts)))
            if i < len(steps) and steps[i].kind == "=":
                results.append((steps[i], str(runner.exit_code(options, texts))))
                i += 1
            continue
        elif s.kind.startswith("!"):
            sig = getattr(signal, s.kind[1:]) if len(s.kind) > 1 else None
            out, code = runner.run(shlex.split(s.text), sig)
            results.append((s, clean(out)))
        elif s.kind == "=":
            results.append((s, str(code)))
        elif s.kind == "+":
            with open(runner.file(s.text), "w", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in s.expect)
        elif s.kind == "<":
            with open(runner.file(s.text), encoding="utf-8") as f:
                results.append((s, clean(f.read())))
        i += 1
    return results


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", required=True)
    ap.add_argument("--update", action="store_true", help="write what came into the files")
    ap.add_argument("file", nargs="+")
    a = ap.parse_args()
    good = bad = 0
    for path in a.file:
        steps = read(path)
        changed = False
        with tempfile.TemporaryDirectory() as tmp:
            results = replay(Runner(a.program, os.path.dirname(os.path.abspath(path)), tmp), steps)
        for step, got in results:
            same = got == step.text if step.kind == "=" else matches(step.expect, got)
            if same:
                good += step.kind != "$"
                continue
            changed = True
            if a.update:
                if step.kind == "=":
                    step.text = got
                else:
                    step.expect = merged(step.expect, got)
                continue
            bad += 1
            want = [step.text] if step.kind == "=" else step.expect
            came = [got] if step.kind == "=" else got
            print(f"{os.path.basename(path)}: {step.kind} {step.text}")
            print("".join(f"  want  {line}\n" for line in want or ["(nothing)"]) +
                  "".join(f"  came  {line}\n" for line in came or ["(nothing)"]))
        if changed and a.update:
            write(path, steps)
            print(f"{path}: updated")
    if not a.update:
        print(f"{good} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
