/* SPDX-License-Identifier: BSD-3-Clause */
/* rss queue: the Rx queues of tuples. rss balance: values by which streams come to all queues. */
#include "show.h"

#include <errno.h>
#include <string.h>

/* ---- rss queue ---- */

static const struct out_col tuple_cols[] = {
	{"port", "port", OF_COUNT}, {"tuple", "tuple", OF_STR},   {"hashed", "hashed by", OF_STR},
	{"hash", "hash", OF_STR},   {"queue", "queue", OF_COUNT},
};
static const struct out_view tuple_view = {.rows = "tuples",
					   .cols = tuple_cols,
					   .ncols = ARRAY_SIZE(tuple_cols)};

/* What a table does not say. */
static void tuple_notes(const json_t *doc, struct sbuf *out)
{
	json_t *t;
	size_t i;

	json_array_foreach(json_object_get(doc, "tuples"), i, t) {
		const char *doubt = json_string_value(json_object_get(t, "doubt"));
		if (doubt != NULL)
			sbuf_addf(out, "port %d: %s: not predicted: %s\n",
				  (int)json_integer_value(json_object_get(t, "port")),
				  json_string_value(json_object_get(t, "tuple")), doubt);
	}
}

static int rss_queue_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	struct portset ports;
	int rc = app_ports(app, &args[0].target, false, &ports, e);

	if (rc < 0)
		return rc;
	json_t *doc = ctl_rss_queues_json(app->ctl, &ports, args[1].text, e);
	if (doc == NULL)
		return -EINVAL;
	rc = show_out(r, json_incref(doc), &tuple_view);
	if (r->out_mode == OUT_TEXT)
		tuple_notes(doc, r->out);
	json_decref(doc);
	return rc;
}

static const struct arg_spec args_rss_queue[] = {{ARG_TARGETS, "ports"},
						 {ARG_REST, "tuples"},
						 {ARG_END}};

const struct verb verb_rss_queue = {
	.name = "rss queue",
	.args = args_rss_queue,
	.run = rss_queue_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Say to which Rx queue of each port frames of these addresses and ports come.\n"
		"Tuples are udp SRC:PORT DST:PORT (or tcp, sctp) or ip SRC DST, separated by commas; an IPv6 address with a port stands in\n"
		"brackets.",
};

/* ---- rss balance ---- */

/* What a stream's field was before it was set. */
struct rss_done {
	unsigned port, stream;
	const struct setting *row;
	struct sbuf before;
};

static int set_text(struct cmd_run *r, unsigned port, unsigned stream, const struct setting *row,
		    const char *value, struct sbuf *note, struct err *e)
{
	struct target t = {.n = 1};

	t.item[0].p0 = t.item[0].p1 = port;
	t.item[0].s0 = t.item[0].s1 = stream;
	t.item[0].has_streams = true;
	return cmd_set(r->cmd, &t, row, value, note, e);
}

/* Gives one stream its values, and takes them back if they do not do what they should. */
static int balance_stream(struct cmd_run *r, unsigned port, unsigned stream, uint64_t flows,
			  struct rss_done *done, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	struct ctl_rss_choice choice;
	int rc = ctl_rss_choose(ctl, port, stream, flows, &choice, e);

	if (rc < 0)
		return rc;
	*done = (struct rss_done){.port = port,
				  .stream = stream,
				  .row = cmd_setting_find(r->cmd, choice.field, NULL)};
	if (done->row == NULL)
		rc = err_set(e, EINVAL, "stream %u/%u has no %s that could be set", port, stream,
			     choice.field);
	if (rc == 0 && !cmd_setting_text(r->cmd, done->row, port, stream, &done->before))
		sbuf_reset(&done->before);
	if (rc == 0)
		rc = set_text(r, port, stream, done->row, sbuf_str(&choice.values), r->note, e);
	if (rc == 0 && !ctl_rss_even(ctl, port, stream, e))
		rc = -EINVAL;
	if (rc == 0) {
		sbuf_addf(r->out, "set %u/%u %s %s\n", port, stream, choice.field,
			  sbuf_str(&choice.values));
		sbuf_addf(r->note,
			  "stream %u/%u: %u flows, %u for each of the %u queues of port %u\n", port,
			  stream, choice.flows, choice.flows / choice.queues, choice.queues,
			  choice.to);
	}
	sbuf_free(&choice.values);
	return rc;
}

static void take_back(struct cmd_run *r, struct rss_done *done, unsigned n)
{
	for (unsigned i = n; i-- > 0;) {
		if (done[i].row != NULL)
			set_text(r, done[i].port, done[i].stream, done[i].row,
				 done[i].before.len > 0 ? done[i].before.s : "default", NULL, NULL);
	}
}

/* Adds a stream that is not in the list yet. */
static void add_stream(struct rss_done **list, unsigned *n, unsigned port, unsigned stream)
{
	for (unsigned i = 0; i < *n; i++)
		if ((*list)[i].port == port && (*list)[i].stream == stream)
			return;
	*list = xrealloc(*list, (*n + 1) * sizeof(**list));
	(*list)[(*n)++] = (struct rss_done){.port = port, .stream = stream};
}

/* Adds the streams that a list names: those that are enabled where it names whole ports. */
static int streams_named(struct cmd_run *r, const struct target *t, struct rss_done **list,
			 unsigned *n, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	int rc = cmd_target_check(r->cmd, t, e);

	if (rc == 0 && t->kind != NULL)
		return err_set(e, EINVAL, "rss balance takes ports and streams, such as 0 or 0/1");
	for (unsigned i = 0; rc == 0 && i < t->n; i++) {
		bool has = t->item[i].has_streams;
		for (unsigned p = t->item[i].p0; p <= t->item[i].p1 && p < ctl_nports(ctl); p++) {
			for (unsigned s = 0; s < ctl_nstreams(ctl, p); s++) {
				const struct stream_cfg *cfg = ctl_stream_cfg(ctl, p, s);
				if (cfg == NULL ||
				    (has ? s < t->item[i].s0 || s > t->item[i].s1 : !cfg->enabled))
					continue;
				add_stream(list, n, p, s);
			}
		}
	}
	if (rc == 0 && *n == 0)
		return err_set(e, EINVAL, "no stream of these ports is enabled");
	return rc;
}

static int rss_balance_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct rss_done *list = NULL;
	unsigned n = 0, i = 0;
	size_t out = r->out->len, note = r->note->len;
	int rc = streams_named(r, &args[0].target, &list, &n, e);

	for (; rc == 0 && i < n; i++)
		rc = balance_stream(r, list[i].port, list[i].stream,
				    args[2].given ? args[2].v.u : 0, &list[i], e);
	if (rc < 0) {
		take_back(r, list, i);
		r->out->len = out;
		r->note->len = note;
	}
	for (unsigned k = 0; k < n; k++)
		sbuf_free(&list[k].before);
	free(list);
	return rc;
}

static const struct arg_spec args_rss_balance[] = {{ARG_TARGETS, "streams"},
						   {ARG_WORD, "flows", ARG_OPT},
						   {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, 1024}},
						   {ARG_END}};

const struct verb verb_rss_balance = {
	.name = "rss balance",
	.args = args_rss_balance,
	.run = rss_balance_run,
	.help = "Give streams source ports by which their frames come to all Rx queues of the other port evenly, and print what was set.\n"
		"A device that hashes addresses alone gets source addresses. A list of ports means their enabled streams; all of them are\n"
		"spread, or none is changed. N is a multiple of the queues, by default four times as many.",
};
