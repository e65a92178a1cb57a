/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a program before anything runs it: it comes from another process. */
#include "filter.h"

#include <errno.h>
#include <linux/filter.h>

/* Loads from here on ask Linux for what is not in the frame, such as its direction. */
#define OUTSIDE_FRAME ((uint32_t)SKF_LL_OFF)

static bool filter_check_load(const struct filter_insn *in)
{
	switch (in->code) {
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_W | BPF_IMM:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
		return true;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return in->k < BPF_MEMWORDS;
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LDX | BPF_MSH | BPF_B:
		return in->k < OUTSIDE_FRAME;
	case BPF_LD | BPF_W | BPF_IND:
	case BPF_LD | BPF_H | BPF_IND:
	case BPF_LD | BPF_B | BPF_IND:
		return true;
	default:
		return false;
	}
}

static bool filter_check_alu(const struct filter_insn *in)
{
	bool by_x = BPF_SRC(in->code) == BPF_X;

	if ((in->code & ~(0xf8 | BPF_ALU)) != 0)
		return false;
	switch (BPF_OP(in->code)) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_OR:
	case BPF_AND:
	case BPF_XOR:
	case BPF_LSH:
	case BPF_RSH:
		return true;
	case BPF_DIV:
	case BPF_MOD:
		return by_x || in->k != 0;
	case BPF_NEG:
		return !by_x;
	default:
		return false;
	}
}

/* `after` is how many instructions come after this one. */
static bool filter_check_jump(const struct filter_insn *in, unsigned after)
{
	if ((in->code & ~(0xf8 | BPF_JMP)) != 0)
		return false;
	switch (BPF_OP(in->code)) {
	case BPF_JA:
		return BPF_SRC(in->code) == BPF_K && in->k < after;
	case BPF_JEQ:
	case BPF_JGT:
	case BPF_JGE:
	case BPF_JSET:
		return in->jt < after && in->jf < after;
	default:
		return false;
	}
}

static bool filter_check_one(const struct filter_insn *in, unsigned after)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
		return filter_check_alu(in);
	case BPF_JMP:
		return filter_check_jump(in, after);
	case BPF_RET:
		return in->code == (BPF_RET | BPF_K) || in->code == (BPF_RET | BPF_A);
	case BPF_MISC:
		return in->code == (BPF_MISC | BPF_TAX) || in->code == (BPF_MISC | BPF_TXA);
	default:
		return filter_check_load(in);
	}
}

int filter_check(const struct filter_prog *p, struct err *e)
{
	if (p->n == 0 || p->n > FILTER_INSNS_MOST)
		return err_set(e, EINVAL, "it has %u instructions, and 1 to %u are allowed", p->n,
			       FILTER_INSNS_MOST);
	for (unsigned i = 0; i < p->n; i++) {
		const struct filter_insn *in = &p->insns[i];

		if (BPF_CLASS(in->code) == BPF_LD && BPF_MODE(in->code) == BPF_ABS &&
		    in->k >= OUTSIDE_FRAME)
			return err_set(
				e, EINVAL,
				"it asks for what is not in the bytes of a frame, as its direction or device");
		if (in->code == (BPF_JMP | BPF_JA) && in->k > INT32_MAX)
			return err_set(
				e, EINVAL,
				"it runs in a loop (protochain); `ip proto` and `ip6 proto` look at one header");
		if (!filter_check_one(in, p->n - 1 - i))
			return err_set(
				e, EINVAL,
				"instruction %u is not allowed: code 0x%x, jt %u, jf %u, k %u", i,
				in->code, in->jt, in->jf, in->k);
	}
	if (BPF_CLASS(p->insns[p->n - 1].code) != BPF_RET)
		return err_set(e, EINVAL, "it does not end with a return");
	return 0;
}
