/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_run.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#define MEM_WORDS 16

/* Reads n bytes at `offset` in the order of the network. False: the frame ends before. */
static bool filter_load(const struct filter_view *v, uint64_t offset, uint32_t n, uint32_t *out)
{
	const uint8_t *p;
	uint8_t buf[4];

	if (offset + n <= v->data_bytes)
		p = v->data + offset;
	else if (v->more == NULL || offset > UINT32_MAX - n ||
		 (p = v->more(v, (uint32_t)offset, n, buf)) == NULL)
		return false;
	*out = 0;
	for (uint32_t i = 0; i < n; i++)
		*out = *out << 8 | p[i];
	return true;
}

static uint32_t filter_bytes_of(uint16_t code)
{
	return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

/* A shift by more bits than a word has leaves nothing, as in libpcap's own interpreter. */
static uint32_t filter_shift(uint32_t a, uint16_t code, uint32_t by)
{
	if (by > 31)
		return 0;
	return BPF_OP(code) == BPF_LSH ? a << by : a >> by;
}

/* Arithmetic. False: it divides by zero, and the frame does not match. */
static bool filter_alu(uint16_t code, uint32_t *a, uint32_t by)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		*a += by;
		return true;
	case BPF_SUB:
		*a -= by;
		return true;
	case BPF_MUL:
		*a *= by;
		return true;
	case BPF_OR:
		*a |= by;
		return true;
	case BPF_AND:
		*a &= by;
		return true;
	case BPF_XOR:
		*a ^= by;
		return true;
	case BPF_LSH:
	case BPF_RSH:
		*a = filter_shift(*a, code, by);
		return true;
	case BPF_NEG:
		*a = 0u - *a;
		return true;
	default:
		if (by == 0)
			return false;
		*a = BPF_OP(code) == BPF_DIV ? *a / by : *a % by;
		return true;
	}
}

static bool filter_jumps(uint16_t code, uint32_t a, uint32_t with)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == with;
	case BPF_JGT:
		return a > with;
	case BPF_JGE:
		return a >= with;
	default:
		return (a & with) != 0;
	}
}

uint32_t filter_run(const struct filter_insn *in, const struct filter_view *v)
{
	uint32_t a = 0, x = 0, mem[MEM_WORDS] = {0};

	for (;; in++) {
		switch (BPF_CLASS(in->code)) {
		case BPF_LD:
			if (BPF_MODE(in->code) == BPF_IMM)
				a = in->k;
			else if (BPF_MODE(in->code) == BPF_MEM)
				a = mem[in->k % MEM_WORDS];
			else if (BPF_MODE(in->code) == BPF_LEN)
				a = v->frame_bytes;
			else if (!filter_load(v,
					      (uint64_t)in->k +
						      (BPF_MODE(in->code) == BPF_IND ? x : 0),
					      filter_bytes_of(in->code), &a))
				return 0;
			break;
		case BPF_LDX:
			if (BPF_MODE(in->code) == BPF_IMM) {
				x = in->k;
			} else if (BPF_MODE(in->code) == BPF_MEM) {
				x = mem[in->k % MEM_WORDS];
			} else if (BPF_MODE(in->code) == BPF_LEN) {
				x = v->frame_bytes;
			} else {
				/* The length of an IPv4 header. */
				if (!filter_load(v, in->k, 1, &x))
					return 0;
				x = (x & 0xf) * 4;
			}
			break;
		case BPF_ST:
			mem[in->k % MEM_WORDS] = a;
			break;
		case BPF_STX:
			mem[in->k % MEM_WORDS] = x;
			break;
		case BPF_ALU:
			if (!filter_alu(in->code, &a, BPF_SRC(in->code) == BPF_X ? x : in->k))
				return 0;
			break;
		case BPF_JMP:
			if (BPF_OP(in->code) == BPF_JA)
				in += in->k;
			else
				in += filter_jumps(in->code, a,
						   BPF_SRC(in->code) == BPF_X ? x : in->k)
					      ? in->jt
					      : in->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(in->code) == BPF_A ? a : in->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(in->code) == BPF_TAX)
				x = a;
			else
				a = x;
		}
	}
}
