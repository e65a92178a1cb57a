/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of dperf as a whole in commands of this program. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dperf_int.h"

/* Directives that no command stands for: dperf_directives says why. */
static const enum dperf_id dump_noted[] = {DPERF_QUIET,      DPERF_CLEAR_SCREEN, DPERF_LOG_LEVEL,
					   DPERF_SOCKET_MEM, DPERF_SIMD512,      DPERF_CLIENT_HOP,
					   DPERF_KNI,        DPERF_RSS,          DPERF_FLOW_ISOLATE,
					   DPERF_LAUNCH_NUM, DPERF_TX_BURST,     DPERF_DISABLE_ACK,
					   DPERF_TCP_RST,    DPERF_SEND_WINDOW,  DPERF_PACKET_SIZE};

static void dump_notes(const struct dperf_conf *c, struct sbuf *out)
{
	for (unsigned i = 0; i < ARRAY_SIZE(dump_noted); i++)
		if (dperf_has(c, dump_noted[i]))
			sbuf_addf(out, "# %s: %s\n", dperf_directives[dump_noted[i]].name,
				  dperf_directives[dump_noted[i]].about);
	if (dperf_has(c, DPERF_PAYLOAD_RANDOM) && dperf_payload_file(c) != NULL)
		sbuf_add(out, "# payload_random: the file is sent as it is\n");
	else if (dperf_has(c, DPERF_PAYLOAD_RANDOM) && !(dperf_has(c, DPERF_FLOOD) && !c->server))
		sbuf_addf(out, "# payload_random: %s\n",
			  dperf_directives[DPERF_PAYLOAD_RANDOM].about);
	if (c->server)
		sbuf_addf(out, "# client: %s\n", dperf_directives[DPERF_CLIENT].about);
	if (dperf_has(c, DPERF_NEIGH_IGNORE))
		sbuf_addf(out, "# neigh_ignore: %s\n", dperf_directives[DPERF_NEIGH_IGNORE].about);
	if (c->server && dperf_has(c, DPERF_FLOOD))
		sbuf_add(out, "# flood: of a server it means nothing, in dperf either\n");
	if (c->server && dperf_has(c, DPERF_KEEPALIVE))
		sbuf_add(out,
			 "# keepalive: connections stay open until their clients close them\n");
}

static void dump_spec(const struct dperf_line *p, struct sbuf *out)
{
	if (p->v[0].n != 1)
		sbuf_addf(out, "%s:%s", p->v[0].n == 0 ? "pci" : "vdev", p->v[0].text);
	sbuf_addc(out, '\n');
}

/* The workers of a port, those that are not there left out, and how many are left. CPU 0 is
 * control's, so where a file has it all CPUs are one further. */
static unsigned dump_map(const struct dperf_say *s, unsigned workers, struct sbuf *out)
{
	unsigned shift = 0, n = 0;

	for (unsigned k = 0; k < s->c->cpus; k++)
		if (dperf_cpu(s->c, k) == 0)
			shift = 1;
	sbuf_add(out, out->len > 0 ? "," : "");
	for (unsigned k = 0; k < s->queues; k++) {
		unsigned worker = dperf_cpu(s->c, s->i * s->queues + k) + shift;
		if (workers == 0 || worker <= workers)
			sbuf_addf(out, "%s%u", n++ > 0 ? "/" : "[", worker);
	}
	sbuf_addf(out, "].%u", s->port);
	return n;
}

/* The name of a file may have any character but 0, and a comment ends with its line. */
static void dump_name(const char *name, struct sbuf *out)
{
	for (; *name != '\0'; name++)
		sbuf_addc(out, iscntrl((unsigned char)*name) ? '?' : *name);
}

/* A line that says which CPUs a file names and what becomes of them. */
static void dump_lacking(const struct dperf_conf *c, unsigned workers, const struct sbuf *map,
			 struct sbuf *out)
{
	const struct dperf_line *l = dperf_find(c, DPERF_CPU, 0);

	dump_name(c->name, out);
	sbuf_addf(out, ":%u:%u: cpu: the file names", l->line, l->col);
	for (unsigned i = 0; i < l->n; i++)
		sbuf_addf(out, " %s", l->v[i].text);
	if (workers == 1)
		sbuf_add(out, ", and the only worker here is 1; ");
	else
		sbuf_addf(out, ", and the workers here are 1-%u; ", workers);
	if (map->len > 0)
		sbuf_addf(out, "the map with those that are there is -m '%s'\n", map->s);
	else
		sbuf_add(out, "a port would have none, so the program chooses\n");
}

static void dump_port(const struct dperf_say *s)
{
	const struct dperf_line *p = dperf_find(s->c, DPERF_PORT, s->i);

	sbuf_addf(s->out, "\n# port %u: %s\n", s->port, p->v[0].text);
	if (p->v[0].n == 1)
		sbuf_add(s->out, "# port: a bond is no kind of port here; give one by -p\n");
	dperf_say_host(s);
	dperf_say_frame(s);
	if (!s->c->server && dperf_has(s->c, DPERF_FLOOD)) {
		dperf_say_flood(s);
		return;
	}
	dperf_say_tuples(s);
	dperf_set(s, DPERF_MODE, "flow %s", s->c->server ? "server" : "client");
	dperf_say_payload(s);
	dperf_say_load(s);
}

static void dump_title(const struct dperf_conf *c, struct sbuf *out)
{
	sbuf_add(out, "\n# ");
	dump_name(c->name, out);
	sbuf_addf(out, ": a %s\n", c->server ? "server" : "client");
}

/* What a map is to files: as they say it, with CPUs left out, or of no use, since a port would have
 * none. */
enum dump_map_is { DUMP_MAP_WHOLE, DUMP_MAP_REDUCED, DUMP_MAP_USELESS };

static enum dump_map_is dump_file(const struct dperf_conf *c, const struct dperf_conf *peer,
				  unsigned workers, struct dperf_plan *p, struct sbuf *wrong)
{
	enum dump_map_is is = DUMP_MAP_WHOLE;
	struct dperf_wrong w = {.name = c->name, .out = wrong};
	unsigned queues = c->cpus / c->ports;

	p->device = xrealloc(p->device, (p->ports + c->ports) * sizeof(*p->device));
	dump_title(c, &p->settings);
	dperf_payload_check(c, dperf_is_http(c) && (peer == NULL || dperf_is_http(peer)), &w);
	dump_notes(c, &p->settings);
	for (unsigned i = 0; i < c->ports; i++) {
		const struct dperf_say s = {.c = c,
					    .peer = peer,
					    .plan = p,
					    .out = &p->settings,
					    .wrong = &w,
					    .i = i,
					    .port = p->ports + i,
					    .queues = queues};
		dump_port(&s);
		const struct dperf_line *l = dperf_find(c, DPERF_PORT, i);
		dump_spec(l, &p->spec);
		p->device[p->ports + i] =
			(struct dperf_from){.name = c->name, .line = l->line, .col = l->v[0].col};
		unsigned n = dump_map(&s, workers, &p->map);
		if (n == 0)
			is = DUMP_MAP_USELESS;
		else if (n < queues && is == DUMP_MAP_WHOLE)
			is = DUMP_MAP_REDUCED;
	}
	p->ports += c->ports;
	p->mtu = dperf_jumbo(c) > p->mtu ? dperf_jumbo(c) : p->mtu;
	p->daemon = p->daemon || dperf_has(c, DPERF_DAEMON);
	p->quiet = p->quiet || dperf_has(c, DPERF_QUIET);
	p->clear_screen = p->clear_screen || dperf_has(c, DPERF_CLEAR_SCREEN);
	return is;
}

static void dump_ports(unsigned first, unsigned n, struct sbuf *out)
{
	sbuf_addf(out, "%u", first);
	if (n > 1)
		sbuf_addf(out, "-%u", first + n - 1);
}

static uint64_t dump_seconds(const struct dperf_conf *c)
{
	return dperf_number(c, DPERF_DURATION, 60 * DPERF_NS) / DPERF_NS;
}

/* Appends a line of the run, and before which words its errors stand. What a start refuses is the
 * matter of a port, so of a file with one port its line is told. */
static void dump_step(struct dperf_plan *p, const struct dperf_conf *c, const char *what,
		      const char *fmt, ...) WR_PRINTF(4, 5);
static void dump_step(struct dperf_plan *p, const struct dperf_conf *c, const char *what,
		      const char *fmt, ...)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PORT, 0);
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&p->run, fmt, ap);
	va_end(ap);
	sbuf_addc(&p->run, '\n');
	dump_name(c->name, &p->places);
	if (c->ports == 1)
		sbuf_addf(&p->places, ":%u:%u", l->line, l->col);
	sbuf_addf(&p->places, ": %s of its %s\n", what, c->server ? "server" : "client");
}

static void dump_show(struct dperf_plan *p, const char *line)
{
	sbuf_addf(&p->show, "%s\n", line);
	sbuf_add(&p->places, "option --dperf: what is shown behind the run\n");
}

/* dperf begins with the slow start at once, and opens nothing during the wait; then comes the
 * measured time. What is open then has 4 s to finish, which is `flow.drain`. */
static void dump_run(const struct dperf_conf *client, unsigned client_at,
		     const struct dperf_conf *server, unsigned server_at, struct dperf_plan *p)
{
	struct sbuf c = {0}, s = {0};
	bool flood = client != NULL && dperf_has(client, DPERF_FLOOD);

	if (server != NULL) {
		dump_ports(server_at, server->ports, &s);
		if (client == NULL) {
			dump_step(p, server, "start", "start %s for %llus", s.s,
				  (unsigned long long)dump_seconds(server));
		} else {
			dump_step(p, server, "duration",
				  "# duration of the server: it ends with its clients");
			dump_step(p, server, "start", "start %s", s.s);
		}
	}
	if (client != NULL) {
		uint64_t wait = dperf_wait(client), slow = dperf_slow_start(client);
		uint64_t run = (slow > wait ? slow - wait : 0) + dump_seconds(client);
		dump_ports(client_at, client->ports, &c);
		dump_step(p, client, "wait", "sleep %llus", (unsigned long long)wait);
		dump_step(p, client, "start", "start %s for %llus", c.s, (unsigned long long)run);
		dump_step(p, client, "run", "wait %s", c.s);
	}
	if (server != NULL && client != NULL)
		dump_step(p, server, "end", "stop %s", s.s);
	if (server != NULL)
		dump_step(p, server, "run", "wait %s", s.s);
	if (client != NULL)
		sbuf_addf(&p->stop, "stop %s\nwait %s\n", c.s, c.s);
	if (server != NULL)
		sbuf_addf(&p->stop, "stop %s\nwait %s\n", s.s, s.s);
	dump_show(p, flood ? "show streams" : "show flows");
	if (flood)
		dump_show(p, "show stats");
	dump_show(p, "show page dperf");
	sbuf_free(&c);
	sbuf_free(&s);
}

bool dperf_translate(const struct dperf_conf *client, const struct dperf_conf *server,
		     enum dperf_mode first, unsigned workers, struct dperf_plan *out,
		     struct sbuf *wrong)
{
	size_t before = wrong->len;
	const struct dperf_conf *one = first == DPERF_OF_SERVER ? server : client;
	const struct dperf_conf *other = first == DPERF_OF_SERVER ? client : server;
	const struct dperf_conf *order[2] = {one, other};
	unsigned at[2] = {0, one != NULL ? one->ports : 0};
	enum dump_map_is is[2] = {DUMP_MAP_WHOLE, DUMP_MAP_WHOLE};
	bool many = false;

	*out = (struct dperf_plan){.streams = 1};
	for (unsigned i = 0; i < 2; i++) {
		const struct dperf_conf *c = order[i];
		/* a flood has no other end */
		const struct dperf_conf *peer = order[1 - i];
		if (client != NULL && dperf_has(client, DPERF_FLOOD))
			peer = NULL;
		if (c == NULL)
			continue;
		if (peer != NULL)
			dperf_check_pair(c, peer,
					 &(struct dperf_wrong){.name = c->name, .out = wrong});
		is[i] = dump_file(c, peer, workers, out, wrong);
		many = many || c->cpus > c->ports;
	}
	if (!many || is[0] == DUMP_MAP_USELESS || is[1] == DUMP_MAP_USELESS)
		sbuf_reset(&out->map);
	for (unsigned i = 0; i < 2; i++)
		if (is[i] != DUMP_MAP_WHOLE)
			dump_lacking(order[i], workers, &out->map, &out->notes);
	dump_run(client, first == DPERF_OF_SERVER ? at[1] : at[0], server,
		 first == DPERF_OF_SERVER ? at[0] : at[1], out);
	return wrong->len == before;
}

void dperf_plan_free(struct dperf_plan *p)
{
	free(p->from);
	free(p->device);
	sbuf_free(&p->settings);
	sbuf_free(&p->run);
	sbuf_free(&p->places);
	sbuf_free(&p->stop);
	sbuf_free(&p->show);
	sbuf_free(&p->map);
	sbuf_free(&p->notes);
	sbuf_free(&p->spec);
}

void dperf_notes(const struct dperf_plan *p, const char *before, struct sbuf *out)
{
	for (const char *at = sbuf_str(&p->notes); *at != '\0'; at += strcspn(at, "\n") + 1)
		sbuf_addf(out, "%s%.*s\n", before, (int)strcspn(at, "\n"), at);
}

void dperf_dump(const struct dperf_plan *p, struct sbuf *out)
{
	sbuf_add(out,
		 "# Made from files of dperf. To run it, with this text in a file:\n# wirerate");
	for (const char *at = sbuf_str(&p->spec); *at != '\0'; at += strcspn(at, "\n") + 1) {
		int n = (int)strcspn(at, "\n");
		sbuf_addf(out, " -p %.*s", n > 0 ? n : 8, n > 0 ? at : "vdev:???");
	}
	if (p->map.len > 0)
		sbuf_addf(out, " -m '%s'", p->map.s);
	if (p->mtu > 0)
		sbuf_addf(out, " --mtu %u", p->mtu);
	sbuf_addf(out, "%s -b -f FILE\n", p->daemon ? " --daemon" : "");
	dperf_notes(p, "# ", out);
	sbuf_add(out, sbuf_str(&p->settings));
	sbuf_add(out, "\n# the run\n");
	sbuf_add(out, sbuf_str(&p->run));
	sbuf_add(out, sbuf_str(&p->show));
}
