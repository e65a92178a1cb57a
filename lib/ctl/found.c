/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of streams whose values works find (struct field, `found`): who asks, who answers, and
 * where the values go. */
#include <string.h>

#include "ctl_int.h"

int ctl_start_ready(struct ctl *c, const struct portset *ports, bool again, struct err *e)
{
	bool all = true;

	EACH_WORK(w, ready) {
		int rc = w->ready(c, ports, again, e);
		if (rc < 0)
			return rc;
		all &= rc > 0;
	}
	return all;
}

bool ctl_stream_finds(struct ctl *c, unsigned port, unsigned stream)
{
	const struct stream *s = port < c->nports ? stream_at(c->port[port], stream) : NULL;

	if (s == NULL)
		return false;
	EACH_WORK(w, finds)
		if (w->finds(c->port[port], s))
			return true;
	return false;
}

bool stream_of_program(const struct ctl_port *cp, const struct stream *s)
{
	EACH_WORK(w, of_program)
		if (w->of_program(cp, s))
			return true;
	return false;
}

void stream_found(struct ctl_port *cp, struct stream *s, const struct proto *p,
		  const struct field *f, const struct stream_found *found)
{
	const struct frame_val *set = frame_vals_find(&s->cfg.frame.vals, p, 1, f);
	const struct frame_val *port = frame_vals_find(&cp->dflt, p, 1, f);
	struct frame_vals *to = set != NULL ? &s->cfg.frame.vals : &s->cfg.dflt;
	const struct frame_val *now = frame_vals_find(to, p, 1, f);
	const struct vary *each = found != NULL ? found->each : NULL;
	const uint8_t *v = found != NULL                 ? found->v
			   : set == NULL && port != NULL ? port->v
							 : (const uint8_t[VT_FIELD_BYTES]){0};

	if (set != NULL && !set->found)
		return;
	if (now != NULL && (each == NULL) == (now->vary == NULL) &&
	    (each != NULL ? vary_equal(now->vary, each) && now->lead.field == found->lead.field
			  : memcmp(now->v, v, VT_FIELD_BYTES) == 0))
		return;
	if (each != NULL)
		frame_vals_beside(to, p, 1, f, each, found->lead);
	else if (set != NULL)
		frame_vals_found(to, p, 1, f, v);
	else
		frame_vals_set(to, p, 1, f, v);
	s->dirty = true;
	cp->touched |= WHY_FRAMES;
}
