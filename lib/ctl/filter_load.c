/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_load.h"

#include <stdlib.h>
#include <string.h>

#include "dpdk.h"

#ifdef WR_BPF_CONVERT
#include <pcap/bpf.h>
#include <rte_bpf.h>
#endif

/* What control keeps besides. */
struct filter_loaded {
	struct filter_exec exec; /* first: the two are one pointer */
	struct filter_prog prog;
	void *bpf; /* DPDK's handle of the machine code */
};

static struct filter_prog filter_copy(const struct filter_prog *p)
{
	struct filter_prog copy = {.n = p->n, .insns = xcalloc(p->n, sizeof(*p->insns))};

	memcpy(copy.insns, p->insns, p->n * sizeof(*p->insns));
	return copy;
}

#ifdef WR_BPF_CONVERT
/* DPDK follows each way through a program before it takes it, and the number of ways can double
 * with each branch. Beyond this sum of their lengths the program is interpreted. */
#define STEPS_MOST 200000

static bool filter_few_ways(const struct filter_prog *p)
{
	uint64_t *ways = xcalloc(p->n, sizeof(*ways)), steps = 0;

	ways[0] = 1;
	for (unsigned i = 0; i < p->n && steps <= STEPS_MOST; i++) {
		const struct filter_insn *in = &p->insns[i];

		steps += ways[i];
		if (BPF_CLASS(in->code) == BPF_RET)
			continue;
		if (BPF_CLASS(in->code) != BPF_JMP) {
			ways[i + 1] += ways[i];
		} else if (BPF_OP(in->code) == BPF_JA) {
			ways[i + 1 + in->k] += ways[i];
		} else {
			ways[i + 1 + in->jt] += ways[i];
			ways[i + 1 + in->jf] += ways[i];
		}
	}
	free(ways);
	return steps <= STEPS_MOST;
}

/* DPDK keeps five bits of a number to shift by, and the interpreter all. */
static bool filter_shifts_same(const struct filter_insn *in)
{
	if (BPF_CLASS(in->code) != BPF_ALU ||
	    (BPF_OP(in->code) != BPF_LSH && BPF_OP(in->code) != BPF_RSH))
		return true;
	return BPF_SRC(in->code) == BPF_K && in->k < 32;
}

/* For x86, DPDK 22.11, and newer sources that were read, writes a test of bits with a mask of one
 * byte where the CPU knows only masks of four: what follows is read as other instructions. So a
 * mask below 128 gets one more bit, which the number that is tested never has. False: it may have
 * it. */
#define SHORT_MASK 127
#define SPARE_BIT 0x40000000u
static bool filter_widen(struct filter_insn *in, uint32_t most)
{
	if (in->code != (BPF_JMP | BPF_JSET | BPF_K) || in->k > SHORT_MASK)
		return true;
	in->k |= SPARE_BIT;
	return most < SPARE_BIT;
}

/* Makes a program ready for DPDK. False: it is left to the interpreter. No load may begin where 32
 * bits end: DPDK would take it for one before the frame, and a frame that has such a number where
 * a filter takes a place from it would end the process. */
static bool filter_suits(struct filter_prog *p)
{
	uint32_t *most_a = xcalloc(p->n, sizeof(*most_a));
	bool suits = filter_few_ways(p) && filter_reach(p, most_a) <= INT32_MAX;

	for (unsigned i = 0; i < p->n && suits; i++)
		suits = filter_shifts_same(&p->insns[i]) && filter_widen(&p->insns[i], most_a[i]);
	free(most_a);
	return suits;
}

/* The converter of DPDK 22.11, and of newer sources that were read, takes the size of a load at
 * [x + k] for its source: what loads a byte or a word has the accumulator in the place of X, which
 * it keeps in register 7. */
static void filter_mend(struct rte_bpf_prm *prm)
{
	struct ebpf_insn *in = (struct ebpf_insn *)(uintptr_t)prm->ins;

	for (uint32_t i = 0; i < prm->nb_ins; i++)
		if (BPF_CLASS(in[i].code) == BPF_LD && BPF_MODE(in[i].code) == BPF_IND)
			in[i].src_reg = EBPF_REG_7;
}

static void filter_make_code(struct filter_loaded *x)
{
	struct filter_prog p = filter_copy(&x->prog);
	const struct bpf_program b = {.bf_len = p.n, .bf_insns = (struct bpf_insn *)p.insns};
	struct rte_bpf_jit jit = {0};
	struct rte_bpf_prm *prm = filter_suits(&p) ? rte_bpf_convert(&b) : NULL;

	filter_prog_free(&p);
	if (prm == NULL)
		return;
	filter_mend(prm);
	struct rte_bpf *bpf = rte_bpf_load(prm);
	rte_free(prm);
	if (bpf != NULL && rte_bpf_get_jit(bpf, &jit) == 0 && jit.func != NULL) {
		x->exec.jit = jit.func;
		x->bpf = bpf;
	} else {
		rte_bpf_destroy(bpf);
	}
}

static void filter_free_code(struct filter_loaded *x)
{
	rte_bpf_destroy(x->bpf);
}
#else
static void filter_make_code(struct filter_loaded *x)
{
	(void)x;
}

static void filter_free_code(struct filter_loaded *x)
{
	(void)x;
}
#endif

int filter_load(const struct filter_prog *p, struct filter_exec **out, struct err *e)
{
	int rc = filter_check(p, e);

	if (rc < 0)
		return rc;
	struct filter_loaded *x = xcalloc(1, sizeof(*x));
	x->prog = filter_copy(p);
	x->exec.insns = x->prog.insns;
	filter_make_code(x);
	*out = &x->exec;
	return 0;
}

void filter_unload(struct filter_exec *x)
{
	struct filter_loaded *all = (struct filter_loaded *)x;

	if (all == NULL)
		return;
	filter_free_code(all);
	filter_prog_free(&all->prog);
	free(all);
}
