/* SPDX-License-Identifier: BSD-3-Clause */
/* How far into a frame a program may read, found without running it: for each instruction, the
 * largest values that its registers and its memory can have. Jumps go forward only, so one pass
 * sees every way. */
#include "filter.h"

#include <linux/filter.h>
#include <stdlib.h>

#define ANY UINT32_MAX

struct reach {
	bool seen;
	uint32_t a, x, mem[BPF_MEMWORDS];
};

static uint32_t reach_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A sum or product of 32 bits may wrap, and then it can be anything. */
static uint32_t reach_whole(uint64_t n)
{
	return n > UINT32_MAX ? ANY : (uint32_t)n;
}

/* All numbers of as many bits as the larger one. */
static uint32_t reach_bits(uint32_t a, uint32_t b)
{
	uint32_t most = a | b;

	return most == 0 ? 0 : UINT32_MAX >> __builtin_clz(most);
}

static uint32_t reach_alu(uint16_t code, uint32_t a, uint32_t b)
{
	bool known = BPF_SRC(code) == BPF_K;

	switch (BPF_OP(code)) {
	case BPF_ADD:
		return reach_whole((uint64_t)a + b);
	case BPF_MUL:
		return reach_whole((uint64_t)a * b);
	case BPF_AND:
		return a < b ? a : b;
	case BPF_OR:
	case BPF_XOR:
		return reach_bits(a, b);
	case BPF_LSH:
		return known && b < 32 ? reach_whole((uint64_t)a << b) : ANY;
	case BPF_RSH:
		return known ? (b < 32 ? a >> b : 0) : a;
	case BPF_DIV:
		return known ? a / b : a;
	case BPF_MOD:
		return known && b - 1 < a ? b - 1 : a;
	default: /* BPF_SUB, BPF_NEG */
		return ANY;
	}
}

static uint32_t reach_load(const struct filter_insn *in)
{
	if (BPF_MODE(in->code) == BPF_IMM)
		return in->k;
	if (BPF_MODE(in->code) == BPF_MSH)
		return 60;
	if (BPF_MODE(in->code) == BPF_LEN)
		return ANY;
	return BPF_SIZE(in->code) == BPF_B   ? UINT8_MAX
	       : BPF_SIZE(in->code) == BPF_H ? UINT16_MAX
					     : ANY;
}

/* The last byte that this instruction may read. */
static uint32_t reach_of(const struct filter_insn *in, const struct reach *r)
{
	bool loads = BPF_CLASS(in->code) == BPF_LD || BPF_CLASS(in->code) == BPF_LDX;

	switch (BPF_MODE(in->code)) {
	case BPF_IND:
		return loads ? reach_whole((uint64_t)in->k + r->x + 3) : 0;
	case BPF_ABS:
	case BPF_MSH:
		return loads ? reach_whole((uint64_t)in->k + 3) : 0;
	default:
		return 0;
	}
}

static void reach_step(const struct filter_insn *in, struct reach *r)
{
	bool mem = BPF_MODE(in->code) == BPF_MEM;

	switch (BPF_CLASS(in->code)) {
	case BPF_LD:
		r->a = mem ? r->mem[in->k] : reach_load(in);
		break;
	case BPF_LDX:
		r->x = mem ? r->mem[in->k] : reach_load(in);
		break;
	case BPF_ST:
		r->mem[in->k] = r->a;
		break;
	case BPF_STX:
		r->mem[in->k] = r->x;
		break;
	case BPF_ALU:
		r->a = reach_alu(in->code, r->a, BPF_SRC(in->code) == BPF_X ? r->x : in->k);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(in->code) == BPF_TAX)
			r->x = r->a;
		else
			r->a = r->x;
		break;
	default:
		break;
	}
}

/* Another way leads to this instruction. */
static void reach_join(struct reach *at, const struct reach *from)
{
	if (!at->seen) {
		*at = *from;
		return;
	}
	at->a = reach_max(at->a, from->a);
	at->x = reach_max(at->x, from->x);
	for (unsigned i = 0; i < BPF_MEMWORDS; i++)
		at->mem[i] = reach_max(at->mem[i], from->mem[i]);
}

uint32_t filter_reach(const struct filter_prog *p, uint32_t *most_a)
{
	struct reach *at = xcalloc(p->n, sizeof(*at));
	uint32_t most = 0;

	at[0].seen = true;
	for (unsigned i = 0; i < p->n; i++) {
		const struct filter_insn *in = &p->insns[i];
		struct reach r = at[i];

		if (most_a != NULL)
			most_a[i] = r.a;
		if (!r.seen || BPF_CLASS(in->code) == BPF_RET)
			continue;
		most = reach_max(most, reach_of(in, &r));
		reach_step(in, &r);
		if (BPF_CLASS(in->code) != BPF_JMP) {
			reach_join(&at[i + 1], &r);
		} else if (BPF_OP(in->code) == BPF_JA) {
			reach_join(&at[i + 1 + in->k], &r);
		} else {
			reach_join(&at[i + 1 + in->jt], &r);
			reach_join(&at[i + 1 + in->jf], &r);
		}
	}
	free(at);
	return most;
}
