/* SPDX-License-Identifier: BSD-3-Clause */
/* What receivers do beside counting, from control's side: they count latencies that differ by much
 * from the one before (setting `jitter`), and hand out single latencies (setting `latsampler`). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe_int.h"

/* The structs for the Rx queues of a port. They are made once and kept, because workers may use
 * them as long as they run. NULL: no memory, or no Rx queue. */
static struct prx_extra *probe_extra_extras(struct ctl *c, unsigned port)
{
	struct prx_extra **at = &probes_of(c)->extra[port];
	size_t bytes = c->port[port]->p.nrxq * sizeof(**at);

	if (*at == NULL && bytes > 0) {
		*at = aligned_alloc(CACHE_LINE, bytes);
		if (*at != NULL)
			memset(*at, 0, bytes);
		for (unsigned q = 0; *at != NULL && q < c->port[port]->p.nrxq; q++)
			(*at)[q].seed = clock_tsc() + q;
	}
	return *at;
}

/* Do settings of the port, or its sampler, ask for any of this? */
static bool probe_extra_wanted(const struct ctl *c, unsigned port)
{
	return probe_cfg_of(c->port[port])->jitter_us != 0 || probes_of(c)->sampler[port].on;
}

void probe_extras_follow(struct ctl *c)
{
	const struct probe_arm *a = probes_of(c)->now;

	for (unsigned i = 0; a != NULL && i < a->ntaps; i++) {
		unsigned port = a->tap[i].port;
		struct prx_extra *x =
			probe_extra_wanted(c, port) ? probe_extra_extras(c, port) : NULL;
		if (x != NULL)
			cell_set(&x[a->tap[i].queue].jitter_cycles,
				 clock_cycles(probe_cfg_of(c->port[port])->jitter_us * 1000));
		prx_set_extra(a->tap[i].prx, x != NULL ? &x[a->tap[i].queue] : NULL);
	}
}

void probe_jitter(const struct ctl *c, unsigned port, uint64_t *compared, uint64_t *above)
{
	const struct prx_extra *x = probes_of(c)->extra[port];

	*compared = -probes_of(c)->jitter_base[port].compared;
	*above = -probes_of(c)->jitter_base[port].above;
	for (unsigned q = 0; x != NULL && q < c->port[port]->p.nrxq; q++) {
		*compared += cell_get(&x[q].compared);
		*above += cell_get(&x[q].above);
	}
}

void probe_jitter_begins(struct ctl *c, unsigned port)
{
	uint64_t compared, above;

	probe_jitter(c, port, &compared, &above);
	probes_of(c)->jitter_base[port].compared += compared;
	probes_of(c)->jitter_base[port].above += above;
}

/* ---- sampler ---- */

bool probes_sample(struct ctl *c)
{
	bool on = false;

	for (unsigned i = 0; i < c->nports; i++) {
		struct probe_sampler *s = &probes_of(c)->sampler[i];
		uint64_t ns;
		on |= s->on;
		for (unsigned q = 0;
		     s->on && probes_of(c)->extra[i] != NULL && q < c->port[i]->p.nrxq; q++)
			while (prx_sample_next(&probes_of(c)->extra[i][q], &ns)) {
				if (s->n < s->num)
					s->ns[s->n++] = ns;
				else
					s->over++;
			}
	}
	return on;
}

int probe_sampler_start(struct ctl *c, unsigned port, struct err *e)
{
	struct ctl_port *cp = c->port[port];
	const struct sampler_cfg *cfg = &probe_cfg_of(cp)->sampler;
	struct probe_sampler *s = &probes_of(c)->sampler[port];

	if (cfg->kind == SAMPLER_NONE)
		return err_set(
			e, EINVAL,
			"port %u: what to sample is not set: `set %u latsampler simple 1000 100 FILE` takes 1000 latencies, 100 a "
			"second",
			port, port);
	if (!cp->p.used || cp->p.nrxq == 0)
		return err_set(e, EINVAL,
			       "port %u (%s) has no Rx queue, so no latency can be sampled there",
			       port, cp->p.name);
	if (s->on)
		return err_set(e, EBUSY,
			       "port %u is sampling already; `stop %u latsampler` writes the file",
			       port, port);
	struct prx_extra *x = probe_extra_extras(c, port);
	if (x == NULL)
		return err_set(e, ENOMEM, "no memory for samples");
	uint64_t ns, interval = (uint64_t)(clock_hz() * cp->p.nrxq / (double)cfg->rate);
	s->lost_base = 0;
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		while (prx_sample_next(&x[q], &ns))
			;
		s->lost_base += cell_get(&x[q].lost);
		cell_set(&x[q].interval_cycles, interval > 0 ? interval : 1);
		__atomic_store_n(&x[q].sampling,
				 cfg->kind == SAMPLER_POISSON ? PRX_POISSON : PRX_EVEN,
				 __ATOMIC_RELEASE);
	}
	s->on = true;
	s->num = cfg->num;
	s->n = s->over = 0;
	memcpy(s->file, cfg->file, sizeof(s->file));
	s->ns = xcalloc(cfg->num, sizeof(*s->ns));
	probe_extras_follow(c);
	return 0;
}

bool probe_sampler_stop(struct ctl *c, unsigned port, struct sbuf *text, struct sampler_result *out)
{
	struct probe_sampler *s = &probes_of(c)->sampler[port];
	struct prx_extra *x = probes_of(c)->extra[port];

	if (!s->on)
		return false;
	probes_sample(c);
	*out = (struct sampler_result){.samples = s->n, .beyond = s->over};
	for (unsigned q = 0; x != NULL && q < c->port[port]->p.nrxq; q++) {
		__atomic_store_n(&x[q].sampling, PRX_NO_SAMPLES, __ATOMIC_RELEASE);
		out->lost += cell_get(&x[q].lost);
	}
	out->lost -= s->lost_base;
	memcpy(out->file, s->file, sizeof(out->file));
	sbuf_add(text, "Latency\n");
	for (uint64_t i = 0; i < s->n; i++)
		sbuf_addf(text, "%" PRIu64 "\n", s->ns[i]);
	free(s->ns);
	s->ns = NULL;
	s->on = false;
	probe_extras_follow(c);
	return true;
}

void probe_extras_free(struct probes *p)
{
	for (unsigned i = 0; i < CTL_MAX_PORTS; i++) {
		free(p->extra[i]);
		free(p->sampler[i].ns);
	}
}
