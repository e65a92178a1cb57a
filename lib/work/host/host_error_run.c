/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_error_run.h"

/* The link that an error belongs to. NULL: it is not for the host. */
static const struct neigh_self *error_link(const struct host_error_job *j, const struct rte_mbuf *m)
{
	for (unsigned i = 0; i < j->nlinks; i++)
		if (neigh_error_wants(&j->link[i].self, rte_pktmbuf_mtod(m, const uint8_t *),
				      m->data_len))
			return &j->link[i].self;
	return NULL;
}

void host_error_claims(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m,
		       unsigned n, uint8_t *owner, uint8_t mine)
{
	(void)b;
	for (unsigned i = 0; i < n; i++)
		if (owner[i] == 0 && m[i]->nb_segs == 1 && error_link(arg, m[i]) != NULL)
			owner[i] = mine;
}

static enum host_error_sort error_sort(enum neigh_error_kind kind)
{
	if (kind <= NEIGH_ERROR_UNREACHABLE)
		return HOST_ERROR_UNREACHABLE;
	if (kind == NEIGH_ERROR_TOO_BIG)
		return HOST_ERROR_TOO_BIG;
	return kind == NEIGH_ERROR_OTHER ? HOST_ERROR_OTHER : HOST_ERROR_EXCEEDED;
}

/* Counts an error for the stream that it is about, or notes that it may be several. Returns whether
 * there is one. */
static bool error_streams(struct host_error_state *s, const struct host_error_job *j,
			  const struct neigh_error *e)
{
	const struct neigh_sent *first = NULL;
	bool shared = false;

	for (unsigned i = 0; i < j->nsent; i++) {
		const struct neigh_sent *sent = &j->sent[i];
		if (!neigh_error_about(e, sent))
			continue;
		if (first != NULL)
			cell_add(&s->stream[sent->of].shared, 1);
		else
			first = sent;
		shared |= first != sent;
	}
	if (first == NULL)
		return false;
	cell_add(shared ? &s->stream[first->of].shared
			: &s->stream[first->of].n[error_sort(e->kind)],
		 1);
	return true;
}

/* Tells whoever wants to hear of errors about what the port has sent. Returns the cell of the
 * stream that it is about, -1: nobody knows it. */
static int error_told(const struct dp_worker *w, unsigned port, const struct rte_mbuf *m,
		      const struct neigh_error *e, uint64_t now)
{
	int cell = -1;

	for (unsigned i = 0; cell < 0 && w->plan != NULL && i < w->plan->nhear; i++) {
		const struct dp_hearer *h = &w->plan->hear[i];

		if (h->port == port)
			cell = h->icmp(h->arg, m, e, now);
	}
	return cell;
}

/* Whether the error is about something that the port has sent. */
static bool error_known(const struct dp_worker *w, struct host_error_state *s,
			const struct host_error_job *j, unsigned port, const struct rte_mbuf *m,
			const struct neigh_error *e, uint64_t now)
{
	int cell = error_told(w, port, m, e, now);

	if (cell < 0)
		return error_streams(s, j, e);
	cell_add(&s->stream[cell].n[error_sort(e->kind)], 1);
	return true;
}

static void host_error_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx,
			  struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct host_error_state *s = (struct host_error_state *)t->state;
	const struct host_error_job *j = t->job;
	struct neigh_error e;

	(void)b;
	for (unsigned i = 0; i < n; i++) {
		enum neigh_fate fate =
			neigh_error_judge(error_link(j, m[i]), /* it has one, as it was claimed */
					  rte_pktmbuf_mtod(m[i], const uint8_t *), m[i]->data_len,
					  &e);
		if (fate >= NEIGH_TRUNCATED) {
			cell_add(&j->host->cnt.fate[fate], 1);
		} else if (fate == NEIGH_HEARD && error_known(w, s, j, rx->port, m[i], &e, now)) {
			cell_add(&s->kind[e.kind], 1);
			cell_add(&j->host->cnt.errors, 1);
		} else {
			cell_add(&j->host->cnt.unasked, 1);
		}
	}
	rte_pktmbuf_free_bulk(m, n);
}

static void host_error_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			     uint64_t now)
{
	(void)w, (void)old, (void)now;
	t->state->next = DP_NEVER;
}

const struct dp_kind dp_kind_host_error = {.name = "icmp",
					   .adopt = host_error_adopt,
					   .rx = host_error_rx};
