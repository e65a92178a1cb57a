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

#ifdef WR_BPF_CONVERT
/* DPDK follows each way through a program before it takes it, and the number of ways can double
 * with each branch. Beyond this sum of their lengths the program is interpreted. */
#define STEPS_MOST 200000

/* Whether machine code may be made of it: ways of bounded length, and no shift by a number that is
 * known only with the frame, of which DPDK keeps five bits and the interpreter all. */
static bool filter_fits(const struct filter_prog *p)
{
	uint64_t *ways = xcalloc(p->n, sizeof(*ways)), steps = 0;

	ways[0] = 1;
	for (unsigned i = 0; i < p->n && steps <= STEPS_MOST; i++) {
		const struct filter_insn *in = &p->insns[i];
		unsigned class = BPF_CLASS(in->code), op = BPF_OP(in->code);

		steps += ways[i];
		if (class == BPF_ALU && (op == BPF_LSH || op == BPF_RSH) &&
		    (BPF_SRC(in->code) == BPF_X || in->k > 31))
			steps = UINT64_MAX / 2;
		if (class == BPF_RET)
			continue;
		if (class != BPF_JMP) {
			ways[i + 1] += ways[i];
		} else if (op == BPF_JA) {
			ways[i + 1 + in->k] += ways[i];
		} else {
			ways[i + 1 + in->jt] += ways[i];
			ways[i + 1 + in->jf] += ways[i];
		}
	}
	free(ways);
	return steps <= STEPS_MOST;
}

static void filter_make_code(struct filter_loaded *x)
{
	const struct bpf_program b = {.bf_len = x->prog.n,
				      .bf_insns = (struct bpf_insn *)x->prog.insns};
	struct rte_bpf_jit jit = {0};

	if (!filter_fits(&x->prog))
		return;
	struct rte_bpf_prm *prm = rte_bpf_convert(&b);
	if (prm == NULL)
		return;
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
	x->prog = (struct filter_prog){.n = p->n, .insns = xcalloc(p->n, sizeof(*p->insns))};
	memcpy(x->prog.insns, p->insns, p->n * sizeof(*p->insns));
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
