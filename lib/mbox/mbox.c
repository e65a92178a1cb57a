/* SPDX-License-Identifier: BSD-3-Clause */
#include "mbox.h"

#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>

#define DOWN_SLOTS 64
#define UP_SLOTS 1024

int mbox_open(struct mbox *mb, const char *name, int socket, struct err *e)
{
	char n[RTE_RING_NAMESIZE];

	snprintf(n, sizeof(n), "%.20s_d", name);
	mb->down = rte_ring_create(n, DOWN_SLOTS, socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	snprintf(n, sizeof(n), "%.20s_u", name);
	mb->up = rte_ring_create_elem(n, sizeof(struct mbox_event), UP_SLOTS, socket,
				      RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (mb->down == NULL || mb->up == NULL) {
		mbox_close(mb);
		return err_set(e, ENOMEM, "no memory for the message rings of %s (%s)", name,
			       rte_strerror(rte_errno));
	}
	return 0;
}

void mbox_close(struct mbox *mb)
{
	rte_ring_free(mb->down);
	rte_ring_free(mb->up);
	*mb = (struct mbox){0};
}

bool mbox_post(struct mbox *mb, void *msg)
{
	return rte_ring_sp_enqueue(mb->down, msg) == 0;
}

void *mbox_take(struct mbox *mb)
{
	void *msg = NULL;

	return rte_ring_sc_dequeue(mb->down, &msg) == 0 ? msg : NULL;
}

bool mbox_event(struct mbox *mb, const struct mbox_event *ev)
{
	return rte_ring_sp_enqueue_elem(mb->up, (void *)(uintptr_t)ev, sizeof(*ev)) == 0;
}

bool mbox_event_next(struct mbox *mb, struct mbox_event *out)
{
	return rte_ring_sc_dequeue_elem(mb->up, out, sizeof(*out)) == 0;
}

struct rte_ring *mbox_pass_new(unsigned slots, int socket)
{
	ssize_t size = rte_ring_get_memsize(2 * slots);
	struct rte_ring *r =
		size < 0 ? NULL : rte_zmalloc_socket("pass", (size_t)size, 128, socket);

	if (r == NULL ||
	    rte_ring_init(r, "pass", slots, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0) {
		rte_free(r);
		return NULL;
	}
	return r;
}

void mbox_pass_free(struct rte_ring *r)
{
	rte_free(r);
}

unsigned mbox_pass_put(struct rte_ring *r, void *const *p, unsigned n)
{
	return rte_ring_sp_enqueue_burst(r, p, n, NULL);
}

unsigned mbox_pass_count(const struct rte_ring *r)
{
	return (__atomic_load_n(&r->prod.tail, __ATOMIC_ACQUIRE) - r->cons.tail) & r->mask;
}

unsigned mbox_pass_take(struct rte_ring *r, void **p, unsigned n)
{
	return rte_ring_sc_dequeue_burst(r, p, n, NULL);
}
