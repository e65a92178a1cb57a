/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps through the frames of a stream and finds the Rx queue of each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rss_flows.h"

int ctl_rss(struct ctl *c, unsigned port, const struct rss_cfg *want, struct err *e)
{
	struct ctl_port *cp = c->port[port];

	return rss_try(&cp->p, want, e);
}

void rss_to_read(struct ctl_port *cp, struct rss_to *out)
{
	const struct rss_setup *s = &out->setup;
	struct err e = {.text = ""};

	rss_follow(&cp->p);
	out->why[0] = '\0';
	out->known = cp->p.used && rss_now(&cp->p, &out->setup, &e) == 0;
	out->way = RSS_WAY_HASH;
	out->ours = port_may_peer(&cp->p);
	if (!out->known) {
		out->setup = (struct rss_setup){0};
		snprintf(out->why, sizeof(out->why), "%.*s", (int)sizeof(out->why) - 1,
			 cp->p.used ? e.text : "the port is not used: no map names it");
	} else if (s->hf == 0 && out->ours) {
		out->way = RSS_WAY_TXQ;
	} else if (s->hf != 0 && s->function == RSS_FUNCTION_OTHER) {
		snprintf(out->why, sizeof(out->why),
			 "its hash is another one than Toeplitz, and cannot be computed here");
	} else if (s->hf != 0 && (s->key_len == 0 || s->entries == 0)) {
		snprintf(out->why, sizeof(out->why), "its device does not tell its %s",
			 s->key_len == 0 ? "key" : "table");
	}
	for (unsigned i = 0; i < s->entries && out->why[0] == '\0'; i++)
		if (s->table[i] >= cp->p.nrxq)
			snprintf(out->why, sizeof(out->why),
				 "entry %u of its table is queue %u, which is not in use", i,
				 s->table[i]);
	if (out->why[0] != '\0')
		out->way = RSS_WAY_UNKNOWN;
	if (cp->p.nrxq < 2) {
		out->way = RSS_WAY_ONE;
		out->why[0] = '\0';
	}
}

struct ctl_port *rss_other_end(struct ctl *c, const struct ctl_port *cp, const char **how)
{
	const struct port *peer = port_peer(&cp->p);
	unsigned next = cp->p.id ^ 1;

	if (peer != NULL) {
		*how = "connected by the wire";
		return c->port[peer->id];
	}
	if (port_may_peer(&cp->p)) {
		*how = "the other end of the wire is closed";
		return NULL;
	}
	if (next < c->nports && c->port[next]->p.used && !port_may_peer(&c->port[next]->p)) {
		*how = "taken for its neighbour: nobody can tell from here";
		return c->port[next];
	}
	*how = "the port itself: it has no neighbour, and a device in between may send its frames back";
	return c->port[cp->p.id];
}

int rss_no_hash(unsigned port, struct err *e)
{
	return err_set(
		e, EINVAL,
		"port %u is the end of a wire, which hands frames over by the sender's Tx queue; set %u rss.fields ip,tcp,udp makes it "
		"hash them",
		port, port);
}

const char *rss_doubt(const struct rss_to *to, const struct rss_tuple *t)
{
	if (to->way != RSS_WAY_HASH || to->ours)
		return NULL;
	const struct rss_setup *s = &to->setup;
	if (s->hf != 0 && t->doubt != NULL)
		return t->doubt;
	if (rss_part(s->hf, t) != RSS_PART_NONE || (s->entries != 0 && s->table[0] == 0))
		return NULL;
	return s->entries != 0
		       ? "it is not hashed, and devices give it to queue 0 or to that of entry 0 of the table"
		       : "it is not hashed, and the device does not tell its table";
}

/* What the bytes of a variation were looked at for. */
static enum rss_use var_uses(const struct frame_var *v, unsigned len, const uint8_t *used)
{
	enum rss_use most = RSS_USE_NONE;

	for (uint32_t b = v->bit / 8; b <= (v->bit + v->bits - 1) / 8 && b < len; b++)
		if (used[b] > most)
			most = used[b];
	return most;
}

/* Copies the recipe without all that does not change the hash: checksums, payload, and variations
 * of other bytes. Returns after how many frames it begins anew; 0: it never does, or later than can
 * be looked at. The caller frees recipe->var. */
static uint64_t bare_recipe(const struct frame_recipe *from, uint64_t hf,
			    struct frame_recipe *recipe)
{
	uint8_t used[UINT16_MAX];
	struct rss_tuple t;
	uint64_t period = 1;
	uint16_t kept = 0;

	*recipe = *from;
	recipe->var = xcalloc(from->nvars + 1u, sizeof(*recipe->var));
	recipe->nsums = 0;
	recipe->random_payload = false;
	rss_tuple_read(from->bytes, from->len, &t, used);
	enum rss_use idle = rss_part(hf, &t) == RSS_PART_L4 ? RSS_USE_NONE : RSS_USE_PORTS;
	/* Where the shape of the frame varies, anything may become an address or a port. */
	bool shapes = false;
	for (unsigned i = 0; i < from->nvars; i++)
		shapes |= var_uses(&from->var[i], from->len, used) == RSS_USE_SHAPE;
	for (unsigned i = 0; i < from->nvars; i++) {
		const struct frame_var *v = &from->var[i];
		if (!shapes && var_uses(v, from->len, used) <= idle)
			continue;
		recipe->var[kept++] = *v;
		period = lcm(period, vary_period(&v->v), RSS_LOOK_MAX);
	}
	recipe->nvars = kept;
	return period;
}

int rss_flows(struct ctl *c, struct ctl_port *from, struct stream *s, const struct rss_to *to,
	      uint64_t most, struct rss_flows *out, struct err *e)
{
	struct frame_recipe recipe;
	int rc = stream_recipes(c, from, s, e);

	*out = (struct rss_flows){0};
	if (rc < 0)
		return rc;
	uint64_t period = bare_recipe(&s->frames->recipe[0], to->setup.hf, &recipe);
	uint8_t *bytes = xcalloc(1, recipe.len + 1u);
	out->looked = period == 0 || period > most ? most : period;
	out->all = period != 0 && period <= most;
	rss_tuple_read(recipe.bytes, recipe.len, &out->first, NULL);
	for (uint64_t o = 0; o < out->looked; o++) {
		struct rss_tuple t;
		frame_recipe_at(&recipe, o, bytes);
		rss_tuple_read(bytes, recipe.len, &t, NULL);
		if (out->doubt == NULL)
			out->doubt = rss_doubt(to, &t);
		if (to->way == RSS_WAY_HASH)
			out->to[rss_queue(&to->setup, &t, NULL)]++;
		else if (to->way == RSS_WAY_ONE)
			out->to[0]++;
	}
	free(bytes);
	free(recipe.var);
	return 0;
}
