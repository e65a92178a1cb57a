/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about connections. A device deals them to queues by who says them, so that one may
 * come to another queue than the connection's: that queue then tells all others of the port. */
#include "flows_own.h"
#include "neigh_error_run.h"

static enum flow_icmp heard_what(enum neigh_error_kind kind)
{
	switch (kind) {
	case NEIGH_ERROR_NET:
	case NEIGH_ERROR_HOST:
		return FLOW_ICMP_HOST;
	case NEIGH_ERROR_PORT:
		return FLOW_ICMP_PORT;
	case NEIGH_ERROR_PROHIBITED:
		return FLOW_ICMP_PROHIBITED;
	case NEIGH_ERROR_PROTOCOL:
	case NEIGH_ERROR_UNREACHABLE:
		return FLOW_ICMP_OTHER;
	case NEIGH_ERROR_TOO_BIG:
		return FLOW_ICMP_TOO_BIG;
	case NEIGH_ERROR_HOP_LIMIT:
	case NEIGH_ERROR_REASSEMBLY:
	case NEIGH_ERROR_OTHER:
	case NEIGH_ERROR_KINDS:
		break;
	}
	return FLOW_ICMP_EXCEEDED;
}

/* Returns the cell of the stream whose connection it is about, -1: there is none here. */
static int heard_tell(struct flows_state *s, const struct flows_job *j, const union flows_error *e)
{
	struct flows_own *o = flows_own(s);
	int version = flow_icmp(j->machine, (enum flow_icmp)e->what, e->mtu, e->quote, e->len,
				e->ident, o->now_ns);

	if (version < 0)
		return -1;
	s->base.next = DP_NOW;
	for (unsigned i = 0; i < o->nheld; i++)
		if (o->held[i].version != NULL && o->held[i].number == version)
			return (int)o->held[i].of->cell;
	return -1;
}

/* Writes it down for the other queues, which look at it in their next turn. */
static void heard_put(const struct flows_job *j, const union flows_error *e)
{
	struct flows_errors *t = j->errors[j->queue];
	uint64_t put = cell_get(&t->put);
	uint64_t *at = t->word[put % FLOWS_ERRORS];

	/* whoever sees a word of this one sees `put`, too */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (unsigned i = 0; i < FLOWS_ERROR_WORDS; i++)
		__atomic_store_n(&at[i], e->word[i], __ATOMIC_RELAXED);
	__atomic_store_n(&t->put, put + 1, __ATOMIC_RELEASE);
}

int flows_heard(const void *arg, const struct rte_mbuf *m, const struct neigh_error *e,
		uint64_t now)
{
	const struct flows_claim *claim = arg;
	const struct flows_job *j = claim->job;
	struct flows_state *s = claim->state;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	union flows_error x = {.what = (uint8_t)heard_what(e->kind), .mtu = e->mtu};

	x.len = (uint8_t)RTE_MIN(e->quote_len, sizeof(x.quote));
	memcpy(x.quote, e->quote, x.len);
	flows_now(flows_own(s), j, now);
	for (unsigned i = 0; i < j->nshapes; i++) {
		unsigned ident;
		int cell;

		if (m->data_len < j->shape[i].l3 || !flows_is_like(&j->shape[i], frame))
			continue;
		ident = flows_ident_of(j, i, frame);
		if (ident == FLOWS_IDENTS)
			continue;
		x.ident = (uint16_t)ident;
		cell = heard_tell(s, j, &x);
		if (cell >= 0)
			return cell;
		if (j->errors != NULL)
			heard_put(j, &x);
	}
	return -1;
}

/* Those of one other queue. Its worker may write meanwhile: what is overwritten is lost. */
static void heard_from(struct flows_state *s, const struct flows_job *j, unsigned queue)
{
	const struct flows_errors *t = j->errors[queue];
	uint64_t put = __atomic_load_n(&t->put, __ATOMIC_ACQUIRE);
	uint64_t *got = &flows_own(s)->told_got[queue];
	union flows_error e;

	if (put - *got > FLOWS_ERRORS)
		*got = put - FLOWS_ERRORS;
	for (; *got != put; (*got)++) {
		const uint64_t *at = t->word[*got % FLOWS_ERRORS];

		for (unsigned i = 0; i < FLOWS_ERROR_WORDS; i++)
			e.word[i] = __atomic_load_n(&at[i], __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (cell_get(&t->put) - *got < FLOWS_ERRORS)
			heard_tell(s, j, &e);
	}
}

void flows_hear_others(struct flows_state *s, const struct flows_job *j)
{
	const uint64_t *got = flows_own(s)->told_got;

	for (unsigned q = 0; q < j->nqueues; q++)
		if (q != j->queue && unlikely(cell_get(&j->errors[q]->put) != got[q]))
			heard_from(s, j, q);
}
