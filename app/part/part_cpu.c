/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "cpu": the computer's CPUs, and what this program runs on each. */
#include "machine_cpus.h"
#include "out.h"
#include "part.h"

/* Appends the queues of one direction that an lcore serves: "rx 0.0-3" is port 0, queues 0 to 3. */
static void add_side(const struct placement *pl, unsigned lcore, bool tx, struct sbuf *out)
{
	const struct place_queue *first = NULL, *last = NULL;

	for (unsigned i = 0; i <= pl->n; i++) {
		const struct place_queue *q = i < pl->n ? &pl->q[i] : NULL;
		if (q != NULL && (q->lcore != lcore || q->tx != tx))
			continue;
		if (q != NULL && last != NULL && q->port == last->port &&
		    q->queue == last->queue + 1) {
			last = q;
			continue;
		}
		if (first != last)
			sbuf_addf(out, "-%u", last->queue);
		if (q != NULL)
			sbuf_addf(out, "%s%u.%u",
				  first != NULL   ? ","
				  : out->len == 0 ? (tx ? "tx " : "rx ")
				  : tx            ? " tx "
						  : " rx ",
				  q->port, q->queue);
		first = last = q;
	}
}

static void role_of(const struct app *app, unsigned lcore, struct sbuf *out)
{
	const struct placement *pl = ctl_placement(app->ctl);
	struct sbuf duties = {0};

	if (lcore == ctl_place_in(app->ctl)->control) {
		sbuf_add(out, "control");
		return;
	}
	add_side(pl, lcore, false, &duties);
	add_side(pl, lcore, true, &duties);
	sbuf_add(out, duties.len > 0 ? sbuf_str(&duties) : "unused");
	sbuf_free(&duties);
}

/* Adds the lcores of one CPU (-1: those that are not pinned to one CPU) to the list, and their
 * roles to one text. Returns how many there are. */
static unsigned lcores_on(const struct app *app, int cpu, json_t *list, struct sbuf *roles)
{
	const struct place_in *in = ctl_place_in(app->ctl);
	unsigned n = 0;

	for (unsigned i = 0; i <= in->nlcores; i++) {
		unsigned lcore = i == 0 ? in->control : in->lcore[i - 1].lcore;
		if ((i == 0 ? in->control_cpu : in->lcore[i - 1].cpu) != cpu)
			continue;
		sbuf_add(roles, n++ > 0 ? "; " : "");
		role_of(app, lcore, roles);
		json_array_append_new(list, json_integer(lcore));
	}
	return n;
}

static json_t *cpu_part_number(long long v, long long unknown)
{
	return v != unknown ? json_integer(v) : json_null();
}

static json_t *cpu_text(const char *s)
{
	return s != NULL && s[0] != '\0' ? out_json_text(s) : json_null();
}

/* Adds "lcores", "lcore", which is the first of them, and "role". Lcores share a CPU only where
 * there are too few CPUs. */
static void put_lcores(const struct app *app, int cpu, json_t *o)
{
	json_t *list = json_array();
	struct sbuf roles = {0};
	unsigned n = lcores_on(app, cpu, list, &roles);

	json_object_set(o, "lcore", n > 0 ? json_array_get(list, 0) : json_null());
	json_object_set_new(o, "lcores", list);
	json_object_set_new(o, "role", cpu_text(sbuf_str(&roles)));
	sbuf_free(&roles);
}

static json_t *cpu_json(const struct app *app, const struct machine *m, const struct machine_cpu *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "cpu", json_integer(c->cpu));
	json_object_set_new(o, "socket", cpu_part_number(c->socket, -1));
	json_object_set_new(o, "core", cpu_part_number(c->core, -1));
	json_object_set_new(o, "node", cpu_part_number(c->node, -1));
	json_object_set_new(o, "isolated",
			    m->knows_isolated ? json_boolean(c->isolated) : json_null());
	json_object_set_new(o, "nohz_full", m->knows_nohz ? json_boolean(c->nohz) : json_null());
	json_object_set_new(o, "governor", cpu_text(c->governor));
	json_object_set_new(o, "khz", cpu_part_number((long long)c->khz, 0));
	json_object_set_new(o, "max_khz", cpu_part_number((long long)c->max_khz, 0));
	put_lcores(app, c->cpu, o);
	return o;
}

static int cpu_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		   json_t *doc, struct err *e)
{
	json_t *o = json_object(), *list = json_array(), *floating = json_object();
	struct machine m;

	(void)snap;
	(void)arg;
	(void)e;
	machine_read("", &m);
	json_object_set_new(o, "model", cpu_text(m.model));
	json_object_set_new(o, "kernel", cpu_text(m.kernel));
	json_object_set_new(o, "sockets", cpu_part_number(m.sockets, 0));
	json_object_set_new(o, "cores", cpu_part_number(m.cores, 0));
	json_object_set_new(o, "threads", cpu_part_number(m.n, 0));
	for (unsigned i = 0; i < m.n; i++)
		json_array_append_new(list, cpu_json(app, &m, &m.cpu[i]));
	json_object_set_new(o, "cpus", list);
	put_lcores(app, -1, floating);
	json_object_set_new(o, "floating", floating);
	json_object_set_new(doc, "cpu", o);
	machine_free(&m);
	return 0;
}

const struct snap_part part_cpu = {.name = "cpu", .add = cpu_add};
