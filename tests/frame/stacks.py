# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of headers made from the bindings of the protocol table."""

from collections import deque

DEPTH = 12


def way_to(rng, table, name):
    """A stack that ends with that header: a walk downwards along random bindings, or the shortest one when that takes too long."""
    below = {n: [low for low in table.headers if n in table.above[low]] for n in table.headers}
    for _ in range(20):
        stack = [name]
        while len(stack) < DEPTH - 3:
            if stack[0] in table.starts and (not below[stack[0]] or rng.random() < 0.6):
                return stack
            if not below[stack[0]]:
                break
            stack.insert(0, rng.choice(below[stack[0]]))
    seen, queue = {name}, deque([[name]])
    while queue:
        stack = queue.popleft()
        if stack[0] in table.starts:
            return stack
        for low in below[stack[0]]:
            if low not in seen:
                seen.add(low)
                queue.append([low] + stack)
    raise AssertionError(f"{name} cannot be reached from any header that starts a frame")


def go_on(rng, table, stack, depth):
    while len(stack) < depth and table.above[stack[-1]] and rng.random() < 0.85:
        stack.append(rng.choice(table.above[stack[-1]]))
    return stack


def walk(rng, table):
    """A random stack; tunnels come by themselves."""
    return go_on(rng, table, [rng.choice(table.starts)], rng.randint(1, DEPTH))


def pairs(table):
    return [(low, up) for low in table.headers for up in table.above[low]]


def every_pair(rng, table):
    """A stack for each pair of neighbours that the bindings allow."""
    return [go_on(rng, table, way_to(rng, table, low) + [up], DEPTH) for low, up in pairs(table)]
