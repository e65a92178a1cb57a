/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that connections have only when they need it: side cells, and lists of nodes. */
#include "flow_int.h"

/* The first word of a piece that was given back is the number of the next such piece. */
uint32_t flow_pool_take(struct flow_pool *p)
{
	uint32_t i = p->free, *piece;

	if (i != 0) {
		piece = flow_pool_at(p, i);
		p->free = *piece;
		memset(piece, 0, p->size);
	} else {
		if (p->fresh >= p->n)
			return 0;
		i = p->fresh++;
	}
	p->used++;
	return i;
}

void flow_pool_give(struct flow_pool *p, uint32_t i)
{
	uint32_t *piece = flow_pool_at(p, i);

	*piece = p->free;
	p->free = i;
	p->used--;
}

struct flow_side *flow_side(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s;
	uint32_t i = c->side;

	if (i != 0)
		return flow_pool_at(&m->side, i);
	i = flow_pool_take(&m->side);
	if (i == 0) {
		cell_add(&conn_live(m, c)->k->no_side, 1);
		return NULL;
	}
	c->side = i;
	s = flow_pool_at(&m->side, i);
	s->high = c->una;
	s->ssthresh = SIDE_NO_SSTHRESH;
	cell_set(&m->k.side_used, m->side.used);
	return s;
}

/* Inserts a node where *link points to, before the node that is there. 0: there are none left. */
uint32_t flow_node_after(struct flow_machine *m, uint32_t *link, uint32_t from, uint32_t to)
{
	uint32_t i = flow_pool_take(&m->node);
	struct flow_node *n;

	if (i == 0)
		return 0;
	n = node_at(m, i);
	n->next = *link;
	n->from = from;
	n->to = to;
	*link = i;
	return i;
}

/* Takes the node out at which *link points. */
void flow_node_cut(struct flow_machine *m, uint32_t *link)
{
	uint32_t i = *link;

	*link = node_at(m, i)->next;
	flow_pool_give(&m->node, i);
}

void flow_side_drop(struct flow_machine *m, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);

	if (s == NULL)
		return;
	while (s->early != 0)
		flow_node_cut(m, &s->early);
	while (s->holes != 0)
		flow_node_cut(m, &s->holes);
	while (s->older != 0)
		flow_node_cut(m, &s->older);
	flow_pool_give(&m->side, c->side);
	c->side = 0;
	cell_set(&m->k.side_used, m->side.used);
}
