# SPDX-License-Identifier: BSD-3-Clause
"""Random values and variations for the fields that a stack has. Fields with a role fill themselves and are left alone here."""

from case import default, holds
from formulas import Vary
from shaping import ADDRESSES, BITS, BYTES, ETHERNET_DST, ETHERNET_LABEL, harmless, over_ipv4, words


def limits(row):
    top = (1 << row["bits"]) - 1
    return (row["min"], row["max"]) if row.get("min") or row.get("max") else (0, top)


def keys(stack, table):
    """All fields of a stack's headers."""
    for i, name in enumerate(stack):
        for fieldname in table.fields[name]:
            yield (name, stack[: i + 1].count(name), fieldname)


def free(stack, table, key):
    """May it hold anything that does not hide the stack?"""
    row = table.field(key)
    return words(stack, key) != [] and (row["role"] == "plain" or row["role"] == "more" and words(stack, key) is not None)


def random_number(rng, stack, key, row):
    low, high = limits(row)
    listed = words(stack, key)
    while True:
        value = rng.choice(listed) if listed else rng.choice([low, high, rng.randint(low, high), rng.randint(low, high)])
        if harmless(key, value):
            return value


def exists(table, values, stack, key):
    """Do the conditions hold under which the table has this field, or the part that it lies in?"""
    row = table.field(key)
    for cond in (row.get("when"), row.get("part", {}).get("when")):
        if cond is None:
            continue
        other = (key[0], key[1], cond["field"])
        value = values.get(other)
        if value is None:
            bound = words(stack, other) if other[0] in ("icmp", "icmpv6") and words(stack, other) else None
            value = bound[0] if bound and default(table.field(other)) not in bound else default(table.field(other))
        if not holds(cond, value):
            return False
    return True


def random_values(rng, stack, table, chance, given=None):
    values = dict(given or {})
    for key in keys(stack, table):
        row = table.field(key)
        if key in values or rng.random() >= chance or not exists(table, values, stack, key):
            continue
        if (key[0], key[2]) in BITS:
            values[key] = 1
        elif row["kind"] == "bytes":
            if key[0] == "ipv6rt":
                values[key] = b"".join(ADDRESSES[: rng.randint(1, 3)])
                values[(key[0], key[1], "segleft")] = 0 if over_ipv4(stack, key) else rng.randrange(len(values[key]) // 16)
            else:
                values[key] = rng.choice(BYTES[(key[0], key[2])])
        elif free(stack, table, key):
            values[key] = random_number(rng, stack, key, row)
    values.update(needed(stack, values))
    return values


def needed(stack, values):
    """What a judge has to have: an Ethernet frame behind MPLS is known by its label, and by its first byte to us."""
    wanted = {}
    for i, name in enumerate(stack):
        if name == "eth" and i and stack[i - 1] == "mpls":
            key = (name, stack[: i + 1].count(name), "dst")
            wanted[key] = values.get(key, ETHERNET_DST)
            wanted[("mpls", stack[:i].count("mpls"), "label")] = ETHERNET_LABEL
    return wanted


def random_range(rng, row, low, high):
    count = rng.choice([2, 3, 7, 100, 300, 70000])
    step = rng.choice([1, 1, 1, 2, 5, max(1, (high - low) // count), rng.randint(1, max(1, (high - low) // 2))])
    step = min(step, high - low)  # it is a value of the field
    lo = rng.choice([low, rng.randint(low, high)])
    hi = min(high, lo + step * (count - 1) + rng.randrange(step))
    if hi == lo:
        lo, hi, step = low, high, max(1, (high - low) // 3)
    down = rng.random() < 0.3
    v = Vary("range", row["bits"], lo=lo, hi=hi, step=step, first=hi if down else lo, down=down)
    if rng.random() < 0.3:
        v.first = rng.choice(v.laps()[1][:1000]) if rng.random() < 0.5 else rng.randint(lo, hi)
    return v


def random_prefix(rng, row):
    bits = row["bits"]
    length = rng.choice([bits - 8, bits - 3, bits - 1])
    lo = rng.getrandbits(length) << (bits - length)
    return Vary("range", bits, lo=lo, hi=lo + (1 << (bits - length)) - 1, first=lo, prefix=length)


def random_vary(rng, stack, key, row):
    low, high = limits(row)
    bits, seed = row["bits"], rng.choice([0, rng.randint(1, (1 << 63) - 1)])
    repeat = rng.choice([0, 0, 2, 5, 1000])
    listed = words(stack, key)
    if listed:
        return Vary("list", bits, values=rng.sample(listed, rng.randint(2, len(listed))))
    if row["kind"] in ("ip4", "ip6") and rng.random() < 0.2:
        return random_prefix(rng, row)
    kind = rng.choice(["range", "range", "list", "random", "mask"])
    if row["kind"] == "flags" and kind == "range":
        kind = "list"
    if high == low + 1 and kind in ("range", "list"):
        return Vary("range", bits, lo=low, hi=high, first=low)
    if kind == "range":
        return random_range(rng, row, low, high)
    if kind == "list":
        return Vary("list", bits, values=list({rng.randint(low, high): None for _ in range(rng.randint(2, 9))} | {low: None, high: None}))
    if kind == "random" and rng.random() < 0.5 or (low, high) != (0, (1 << bits) - 1):
        lo, hi = sorted([rng.randint(low, high), rng.randint(low, high)])
        return Vary("random", bits, lo=lo, hi=hi, seed=seed, repeat=repeat) if lo < hi else \
            Vary("random", bits, lo=low, hi=high, seed=seed, repeat=repeat)
    if kind == "random":
        return Vary("random", bits, lo=low, hi=high, seed=seed, repeat=repeat, whole=True)
    return Vary("mask", bits, first=rng.randint(low, high), mask=rng.getrandbits(bits) or 1, seed=seed, repeat=repeat)


def conditions(table, name):
    """Fields that others of the header depend on: a frame's shape does not change from ordinal to ordinal."""
    proto = table.protos[name]
    conds = [proto.get("closed_when")]
    for row in proto["fields"]:
        conds += [row.get("when"), row.get("part", {}).get("when")]
    return {c["field"] for c in conds if c}


def random_variations(rng, stack, table, values, most):
    may = [k for k in keys(stack, table) if free(stack, table, k) and table.field(k)["kind"] != "bytes"
           and table.field(k)["bits"] and exists(table, values, stack, k) and k[2] not in conditions(table, k[0])]
    return {k: random_vary(rng, stack, k, table.field(k)) for k in rng.sample(may, min(len(may), rng.randint(1, most)))}


def random_nest(rng, variations):
    """Digits of a counter: only what starts over can be one."""
    may = [k for k, v in variations.items() if v.period()]
    rng.shuffle(may)
    return [(k, i > 0 and rng.random() < 0.3) for i, k in enumerate(may[: rng.randint(1, 4)])]
