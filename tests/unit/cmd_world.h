/* SPDX-License-Identifier: BSD-3-Clause */
/* A small program for tests of the command language: two ports of three streams, and rows and verbs
 * of every kind. */
#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../cmd_scopes.h"
#include "cmd.h"

#define NPORTS 2
#define NSTREAMS 3

struct port_obj {
	struct rate rate;
	uint64_t count, burst;
	bool promisc;
	uint64_t mtu;
};
struct stream_obj {
	uint16_t size;
	int proto;
	char pattern[VT_TEXT_MAX];
	bool has[3]; /* udp.src, udp.dst, tcp.dst */
	uint8_t field[3][VT_FIELD_BYTES];
};
static struct world {
	struct port_obj port[NPORTS];
	struct stream_obj stream[NPORTS][NSTREAMS];
	uint64_t per_page;
	bool hole[NPORTS][NSTREAMS];
} world;
static unsigned nports = NPORTS, changes, busy_port = 99;
static unsigned runs, polls, cancels, last_ports;
static char last_text[256];

static void field_put(const struct setting *s, const struct set_obj *obj, const void *val)
{
	struct stream_obj *o = obj->cfg;
	unsigned i = (unsigned)(uintptr_t)s->arg;

	o->has[i] = true;
	memcpy(o->field[i], val, VT_FIELD_BYTES);
}

static bool field_get(const struct setting *s, const struct set_obj *obj, void *val)
{
	const struct stream_obj *o = obj->cfg;
	unsigned i = (unsigned)(uintptr_t)s->arg;

	memset(val, 0, VT_FIELD_BYTES);
	if (o->has[i])
		memcpy(val, o->field[i], VT_FIELD_BYTES);
	return o->has[i];
}

static void field_unset(const struct setting *s, const struct set_obj *obj)
{
	((struct stream_obj *)obj->cfg)->has[(uintptr_t)s->arg] = false;
}

static const struct setting_store store = {field_put, field_get, field_unset};
static const char *const protos[] = {"udp", "tcp", "icmp", NULL};

static bool size_check(const struct setting *s, const struct set_obj *obj, struct err *warn)
{
	const struct stream_obj *o = obj->cfg;

	(void)s;
	if (o->size == 0 || o->size >= 100)
		return true;
	err_set(warn, EINVAL, "size %u is below the stack's 100 bytes", o->size);
	return false;
}

static const struct setting *port_resolve(const struct setting *s, const struct set_obj *obj,
					  struct err *e);

enum {
	R_PAGE,
	R_RATE,
	R_COUNT,
	R_BURST,
	R_RXBURST,
	R_PROMISC,
	R_MTU,
	R_SIZE,
	R_PROTO,
	R_PATTERN,
	R_USRC,
	R_UDST,
	R_TDST,
	R_DPORT,
	R_VLAN2,
	R_LATENCY,
	R_SRCIP,
	N_ROWS
};
#define PORT_OFF(m) offsetof(struct port_obj, m)
#define STREAM_OFF(m) offsetof(struct stream_obj, m)
static const struct setting rows[N_ROWS] = {
	[R_PAGE] = {"ports_per_page",
		    NULL,
		    &scope_global,
		    {&vt_uint, .min = 1, .max = 6},
		    "4",
		    NULL,
		    "Ports on one page.",
		    offsetof(struct world, per_page)},
	[R_RATE] = {"rate",
		    NULL,
		    &scope_port,
		    {&vt_rate},
		    "100%",
		    NULL,
		    "Offered load.",
		    PORT_OFF(rate)},
	[R_COUNT] = {"count",
		     "packets",
		     &scope_port,
		     {&vt_uint},
		     "0",
		     "frames",
		     "Frames per start, 0: no bound.",
		     PORT_OFF(count)},
	[R_BURST] = {"burst",
		     "txburst",
		     &scope_port,
		     {&vt_uint, .min = 1, .max = 512},
		     "32",
		     "frames",
		     "Frames per burst.",
		     PORT_OFF(burst)},
	[R_RXBURST] = {"rxburst",
		       NULL,
		       &scope_port,
		       {&vt_uint, .min = 1, .max = 512},
		       "32",
		       "frames",
		       "Frames per receive burst.",
		       PORT_OFF(burst)},
	[R_PROMISC] = {"promiscuous",
		       NULL,
		       &scope_port,
		       {&vt_bool},
		       "off",
		       NULL,
		       "Take every frame.",
		       PORT_OFF(promisc)},
	[R_MTU] = {"mtu",
		   NULL,
		   &scope_port,
		   {&vt_uint, .min = 68, .max = 9000},
		   "1500",
		   "bytes",
		   "Largest packet.",
		   PORT_OFF(mtu),
		   SET_RESTART},
	[R_SIZE] = {"size",
		    NULL,
		    &scope_stream,
		    {&vt_size, .min = 64, .max = 1518},
		    "auto",
		    "bytes",
		    "Frame size with FCS.",
		    STREAM_OFF(size),
		    .check = size_check},
	[R_PROTO] = {"proto",
		     NULL,
		     &scope_stream,
		     {&vt_enum, .choices = protos},
		     "udp",
		     NULL,
		     "Layer 4.",
		     STREAM_OFF(proto)},
	[R_PATTERN] = {"pattern",
		       "user pattern",
		       &scope_stream,
		       {&vt_text},
		       "abc",
		       NULL,
		       "Payload text.",
		       STREAM_OFF(pattern)},
	[R_USRC] = {"udp.src",
		    "sport,src port",
		    &scope_stream,
		    {&vt_fuint, .bits = 16},
		    NULL,
		    NULL,
		    "Source port.",
		    0,
		    0,
		    &store,
		    (void *)0},
	[R_UDST] = {"udp.dst",
		    NULL,
		    &scope_stream,
		    {&vt_fuint, .bits = 16},
		    NULL,
		    NULL,
		    "Destination port.",
		    0,
		    0,
		    &store,
		    (void *)1},
	[R_TDST] = {"tcp.dst",
		    NULL,
		    &scope_stream,
		    {&vt_fuint, .bits = 16, .min = 0, .max = 1000},
		    NULL,
		    NULL,
		    "Destination port.",
		    0,
		    0,
		    &store,
		    (void *)2},
	[R_DPORT] = {"dport",
		     "dst port",
		     &scope_stream,
		     {NULL},
		     NULL,
		     NULL,
		     "Destination port of the stack's layer 4.",
		     0,
		     0,
		     NULL,
		     NULL,
		     NULL,
		     port_resolve},
	[R_VLAN2] = {"vlan[2].vid",
		     NULL,
		     &scope_stream,
		     {&vt_fuint, .bits = 12},
		     NULL,
		     NULL,
		     "Inner tag.",
		     0,
		     0,
		     &store},
	[R_LATENCY] =
		{"latency", NULL, &scope_port, {NULL}, NULL, NULL, "Latency probes.", 0, SET_LATER},
	[R_SRCIP] = {"src",
		     "src ip",
		     &scope_global,
		     {&vt_text},
		     "x",
		     NULL,
		     "Same first word as an alias of a stream.",
		     0,
		     SET_LATER},
};

static const struct setting *port_resolve(const struct setting *s, const struct set_obj *obj,
					  struct err *e)
{
	const struct stream_obj *o = obj->cfg;

	(void)s;
	if (o->proto == 2) {
		err_set(e, EINVAL, "icmp has no ports");
		return NULL;
	}
	return &rows[o->proto == 0 ? R_UDST : R_TDST];
}

static int run_note(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset set;

	runs++;
	int rc = cmd_target_ports(r->cmd, &args[0].target, &set, e);
	last_ports = (unsigned)set.w[0];
	for (unsigned i = 0; i < VERB_STATE_BYTES; i++)
		assert_int_equal(r->state[i], 0);
	memset(r->state, 0xff, sizeof(r->state));
	if (rc == 0 && args[1].given)
		snprintf(last_text, sizeof(last_text), "for %llu", (unsigned long long)args[2].v.u);
	else
		last_text[0] = '\0';
	return rc;
}

static int run_show(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)e;
	snprintf(last_text, sizeof(last_text), "%d %s", args[0].choice,
		 args[1].given ? args[1].text : "-");
	return VERB_DONE;
}

static int run_add(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)e;
	snprintf(last_text, sizeof(last_text), "%s %d %s", args[0].text,
		 args[1].given ? (int)args[1].v.u : -1, args[3].given ? args[3].text : "-");
	return VERB_DONE;
}

static int run_text(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)e;
	snprintf(last_text, sizeof(last_text), "%s@%d", args[0].given ? args[0].text : "-",
		 args[0].col);
	return VERB_DONE;
}

static int run_wait(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	r->state[0] = 2;
	return VERB_PENDING;
}

static int poll_wait(struct cmd_run *r, struct err *e)
{
	(void)e;
	polls++;
	return --r->state[0] == 0 ? VERB_DONE : VERB_PENDING;
}

static void cancel_wait(struct cmd_run *r)
{
	(void)r;
	cancels++;
}

static const char *const whats[] = {"stats", "rates", "queues", NULL};
static const struct arg_spec start_args[] = {{ARG_TARGETS, "ports"},
					     {ARG_WORD, "for", ARG_OPT},
					     {ARG_VALUE, "DURATION", ARG_OPT, {&vt_duration}},
					     {ARG_END}};
static const struct arg_spec show_args[] = {{ARG_CHOICE, "what", 0, {.choices = whats}},
					    {ARG_TARGETS, "ports", ARG_OPT},
					    {ARG_END}};
static const struct arg_spec wait_args[] = {{ARG_TARGETS, "ports"},
					    {ARG_VALUE, "DURATION", ARG_OPT, {&vt_duration}},
					    {ARG_END}};
static const struct arg_spec add_args[] = {
	{ARG_TARGETS, "ports", ARG_NEW},
	{ARG_VALUE, "N", ARG_OPT, {&vt_uint, .min = 1, .max = 99}},
	{ARG_WORD, "like", ARG_OPT},
	{ARG_TARGETS, "stream", ARG_OPT},
	{ARG_END}};
static const struct arg_spec lua_args[] = {{ARG_REST, "CHUNK"}, {ARG_END}};
static const struct arg_spec file_args[] = {{ARG_FILE, "FILE"}, {ARG_END}};

static const struct verb verb_start = {"start", NULL, start_args, "Begin to send.", 0, run_note};
static const struct verb verb_str = {"str",       NULL,    start_args, "Pktgen's start.",
				     VERB_HIDDEN, run_note};
static const struct verb verb_show = {"show", NULL, show_args, "Print something.", 0, run_show};
static const struct verb verb_page = {"show page", NULL, lua_args, "Print a page.", 0, run_text};
static const struct verb verb_wait = {"wait", NULL,     wait_args, "Wait.",
				      0,      run_wait, poll_wait, cancel_wait};
static const struct verb verb_lua = {"lua", NULL, lua_args, "Run a chunk.", VERB_NO_LOAD, run_text};
static const struct verb verb_load = {"load",           NULL,         file_args,
				      "Read commands.", VERB_NO_LOAD, run_text};
static const struct verb verb_quit = {"quit", "exit,q", NULL, "Leave.", VERB_NO_LOAD, run_text};
static const struct verb verb_add = {"stream add", NULL, add_args, "Make streams.", 0, run_add};
static const struct verb verb_del = {"stream delete",   NULL, start_args,
				     "Remove streams.", 0,    run_note};
static const struct verb verb_ping = {"ping4", NULL, NULL, "Send an ICMP echo.", VERB_LATER};
static const struct verb *const verbs[] = {&verb_set,  &verb_help, &verb_start, &verb_str,
					   &verb_show, &verb_wait, &verb_lua,   &verb_load,
					   &verb_quit, &verb_ping, &verb_add,   &verb_del,
					   &verb_page};

static unsigned h_nports(void *arg)
{
	(void)arg;
	return nports;
}

static unsigned h_count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)arg;
	assert_ptr_equal(scope, &scope_stream);
	assert_true(port < nports);
	return NSTREAMS;
}

static void *h_object(void *arg, const struct cmd_scope *scope, unsigned port, unsigned stream)
{
	(void)arg;
	assert_true(scope == &scope_global || (port < nports && stream < NSTREAMS));
	return scope == &scope_global     ? (void *)&world
	       : scope == &scope_port     ? (void *)&world.port[port]
	       : world.hole[port][stream] ? NULL
					  : (void *)&world.stream[port][stream];
}

static int h_may_set(void *arg, const struct setting *s, unsigned port, struct err *e)
{
	(void)arg;
	if (port == busy_port && (s->flags & (SET_STOPPED | SET_RESTART)))
		return err_set(e, EBUSY, "%s: port %u is sending; stop %u first", s->name, port,
			       port);
	return 0;
}

static void h_changed(void *arg, const struct setting *s, unsigned port, unsigned stream)
{
	(void)arg;
	assert_null(s->resolve);
	assert_true(port < NPORTS && stream < NSTREAMS);
	changes++;
}

/* Makes rows that no table lists: "ipv4[N].ttl" with N from 3 to 9. */
static const struct setting *h_row(void *arg, const char *name, struct err *e)
{
	static struct setting made[10];
	static char names[10][32];
	unsigned n;

	(void)arg;
	(void)e;
	if (sscanf(name, "ipv4[%u]", &n) != 1 || n < 3 || n > 9)
		return NULL;
	snprintf(names[n], sizeof(names[n]), "ipv4[%u].ttl", n);
	if (strcmp(names[n], name) != 0)
		return NULL;
	made[n] = rows[R_UDST];
	made[n].name = names[n];
	made[n].v.bits = 8;
	return &made[n];
}

static struct cmd *lang;
static struct sbuf out, note;

static int setup(void **state)
{
	static const struct cmd_host host = {NULL,     NULL,      h_nports,  h_count,
					     h_object, h_may_set, h_changed, h_row};
	const struct setting *list[N_ROWS];

	(void)state;
	for (unsigned i = 0; i < N_ROWS; i++)
		list[i] = &rows[i];
	memset(&world, 0, sizeof(world));
	for (unsigned p = 0; p < NPORTS; p++) {
		world.port[p] =
			(struct port_obj){.rate = {RATE_PERCENT, 100}, .burst = 32, .mtu = 1500};
		for (unsigned s = 0; s < NSTREAMS; s++)
			strcpy(world.stream[p][s].pattern, "abc");
	}
	nports = NPORTS;
	busy_port = 99;
	changes = runs = polls = cancels = 0;
	lang = cmd_new(list, N_ROWS, verbs, ARRAY_SIZE(verbs), &host);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cmd_free(lang);
	sbuf_free(&out);
	sbuf_free(&note);
	return 0;
}

static struct cmd_run run;

static int exec(const char *line, struct err *e)
{
	*e = (struct err){.col = -1};
	sbuf_reset(&out);
	sbuf_reset(&note);
	run.out = &out;
	run.note = &note;
	return cmd_exec(lang, &run, line, e);
}

static inline void ok(const char *line)
{
	struct err e;

	if (exec(line, &e) < 0)
		fail_msg("%s: %s", line, e.text);
	assert_int_equal(cmd_check(lang, line, &e), strncmp(line, "lua", 3) &&
								    strncmp(line, "load", 4) &&
								    strncmp(line, "h", 1)
							    ? 0
							    : -EINVAL);
}

/* Checks that the line is refused with this code, at this column and with this part in the message,
 * and that nothing has changed. */
static inline void refused(const char *line, int rc, int col, const char *part)
{
	struct world before = world;
	unsigned changed = changes, ran = runs;
	struct err e;

	int got = exec(line, &e);
	if (got != rc || e.col != col || strstr(e.text, part) == NULL)
		fail_msg("\"%s\": %d at %d, expected %d at %d with \"%s\": %s", line, got, e.col,
			 rc, col, part, e.text);
	assert_memory_equal(&before, &world, sizeof(world));
	assert_int_equal(changed, changes);
	assert_int_equal(ran, runs);
	assert_int_equal(note.len, 0);
}
