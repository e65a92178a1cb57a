/* SPDX-License-Identifier: BSD-3-Clause */
/* stream add, copy, delete, move. Each command changes all the streams that it names, or none. */
#include "out.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAP_WORDS (CTL_MAX_STREAMS / 64)

/* Streams first .. first + n - 1 of a port that this command has made. */
struct made {
	unsigned port, first, n;
	bool chosen; /* the program chose the ids, so the user wants to know them */
};
struct all_made {
	struct made *m;
	unsigned n;
};

static int stream_make(struct ctl *ctl, struct all_made *all, unsigned port, int id, unsigned n,
		       struct err *e)
{
	int first = ctl_stream_add(ctl, port, id, n, -1, e);

	if (first < 0)
		return first;
	all->m = xrealloc(all->m, (all->n + 1) * sizeof(*all->m));
	all->m[all->n++] = (struct made){port, (unsigned)first, n, id < 0};
	return 0;
}

static void stream_unmake(struct ctl *ctl, const struct all_made *all)
{
	for (unsigned i = all->n; i-- > 0;)
		for (unsigned s = all->m[i].first + all->m[i].n; s-- > all->m[i].first;)
			ctl_stream_delete(ctl, all->m[i].port, s, NULL);
}

/* Gives a stream the settings of another one (like). It keeps the default values that come from its
 * own port. */
static void give_settings(struct ctl *ctl, unsigned port, unsigned id,
			  const struct stream_cfg *like)
{
	struct stream_cfg *to = ctl_stream_cfg(ctl, port, id), copy;

	if (to == like)
		return;
	stream_cfg_copy(&copy, like);
	frame_vals_free(&copy.dflt);
	copy.dflt = to->dflt;
	copy.port = port;
	copy.id = id;
	to->dflt = (struct frame_vals){0};
	stream_cfg_free(to);
	*to = copy;
	ctl_touch_stream(ctl, port, (int)id, WHY_ALL);
}

static void give_all(struct ctl *ctl, const struct all_made *all, unsigned port, unsigned stream)
{
	for (unsigned i = 0; i < all->n; i++)
		for (unsigned s = 0; s < all->m[i].n; s++)
			give_settings(ctl, all->m[i].port, all->m[i].first + s,
				      ctl_stream_cfg(ctl, port, stream));
}

static void put_ids(const struct made *m, struct sbuf *out)
{
	sbuf_addf(out, "port %u: stream%s %u", m->port, m->n > 1 ? "s" : "", m->first);
	if (m->n > 1)
		sbuf_addf(out, "-%u", m->first + m->n - 1);
	sbuf_addc(out, '\n');
}

static const struct out_col made_cols[] = {{"port", "port", OF_COUNT},
					   {"first", "first", OF_COUNT},
					   {"last", "last", OF_COUNT}};
static const struct out_view made_view = {.rows = "made",
					  .cols = made_cols,
					  .ncols = ARRAY_SIZE(made_cols)};

/* Tells which streams were made. Ids that the program chose are a result of the command. Ids that
 * the user named are no result; they are only a note, and only for a person. */
static void stream_tell(struct cmd_run *r, const char *what, const struct all_made *all)
{
	json_t *doc = json_object(), *list = json_array();

	for (unsigned i = 0; i < all->n; i++) {
		const struct made *m = &all->m[i];
		if (!m->chosen && !r->batch)
			put_ids(m, r->note);
		if (!m->chosen)
			continue;
		if (r->out_mode == OUT_TEXT)
			put_ids(m, r->out);
		json_array_append_new(list, json_pack("{s:i, s:i, s:i}", "port", m->port, "first",
						      m->first, "last", m->first + m->n - 1));
	}
	if (json_array_size(list) > 0) {
		json_object_set_new(doc, "stream", json_string(what));
		json_object_set(doc, "made", list);
		cmd_result(r, doc);
		if (r->out_mode != OUT_TEXT)
			verb_out(r, r->out_mode, doc, &made_view);
	}
	json_decref(list);
	json_decref(doc);
}

/* Finds the one stream that an argument names; a port alone stands for its stream 0. Returns 0, or
 * -EINVAL with *e. */
static int one_stream(const struct arg_val *a, unsigned *port, unsigned *stream, struct err *e)
{
	const struct target *t = &a->target;

	if (t->n != 1 || t->item[0].p0 != t->item[0].p1 || t->item[0].s0 != t->item[0].s1)
		return err_at(
			e, EINVAL, a->col,
			"\"%.60s\" is more than one stream; name one, port/stream, for example 0/3",
			a->text);
	*port = t->item[0].p0;
	*stream = t->item[0].s0;
	return 0;
}

static bool stream_exists(struct ctl *ctl, unsigned port, unsigned stream)
{
	return stream < ctl_nstreams(ctl, port) && ctl_stream_cfg(ctl, port, stream) != NULL;
}

static int no_stream(struct cmd_run *r, unsigned port, unsigned stream, int col, struct err *e)
{
	int rc = cmd_no_stream(r->cmd, port, stream, e);

	e->col = col;
	return rc;
}

/* Makes the streams that a list asks for: those with the ids that it names, and n streams with ids
 * of the program's choice on each port that it names without streams. With `over`, streams that are
 * there already are left out; without it they are an error. Returns 0 or -errno with *e. */
static int make_listed(struct cmd_run *r, const struct arg_val *a, unsigned n, bool over,
		       struct all_made *all, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	struct portset bare = {0};
	int rc = 0;

	for (unsigned i = 0; i < a->target.n; i++) {
		uint32_t s0 = a->target.item[i].s0, s1 = a->target.item[i].s1;
		bool named = a->target.item[i].has_streams;
		if (named && s1 == UINT32_MAX)
			return err_set(e, EINVAL,
				       "which ids are \"all\" here? Name them, for example %u/1-4",
				       a->target.item[i].p0);
		for (unsigned p = a->target.item[i].p0;
		     p <= a->target.item[i].p1 && p < ctl_nports(ctl) && rc == 0; p++) {
			if (!named && !portset_has(&bare, p))
				rc = stream_make(ctl, all, p, -1, n, e);
			else if (named && !over)
				rc = stream_make(ctl, all, p, (int)s0, s1 - s0 + 1, e);
			if (!named)
				portset_add(&bare, p);
			for (uint32_t s = s0; named && over && s <= s1 && rc == 0; s++)
				if (!stream_exists(ctl, p, s))
					rc = stream_make(ctl, all, p, (int)s, 1, e);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int run_add(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	struct all_made all = {0};
	unsigned n = args[1].given ? (unsigned)args[1].v.u : 1, port = 0, stream = 0;
	int rc = 0;

	for (unsigned i = 0; i < args[0].target.n; i++)
		if (args[1].given && args[0].target.item[i].has_streams)
			return err_at(
				e, EINVAL, args[1].col,
				"the ids are named already; say either which streams, `stream add 0/4-7`, or how many, "
				"`stream add 0 4`");
	if (args[3].given) {
		rc = one_stream(&args[3], &port, &stream, e);
		if (rc == 0 && !stream_exists(ctl, port, stream))
			rc = no_stream(r, port, stream, args[3].col, e);
		if (rc < 0)
			return rc;
	}
	rc = make_listed(r, &args[0], n, false, &all, e);
	if (rc < 0) {
		stream_unmake(ctl, &all);
		e->col = args[0].col;
	} else {
		if (args[3].given)
			give_all(ctl, &all, port, stream);
		stream_tell(r, "add", &all);
	}
	free(all.m);
	return rc < 0 ? rc : 0;
}

static int run_copy(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	struct all_made all = {0};
	const struct target *t = &args[1].target;
	unsigned port = 0, stream = 0;
	int rc = one_stream(&args[0], &port, &stream, e);

	if (rc == 0 && !stream_exists(ctl, port, stream))
		rc = no_stream(r, port, stream, args[0].col, e);
	if (rc < 0)
		return rc;
	rc = make_listed(r, &args[1], 1, true, &all, e);
	if (rc < 0) {
		stream_unmake(ctl, &all);
		e->col = args[1].col;
	} else {
		const struct stream_cfg *like = ctl_stream_cfg(ctl, port, stream);
		for (unsigned i = 0; i < t->n; i++)
			for (unsigned p = t->item[i].p0;
			     t->item[i].has_streams && p <= t->item[i].p1 && p < ctl_nports(ctl);
			     p++)
				for (uint32_t s = t->item[i].s0; s <= t->item[i].s1; s++)
					give_settings(ctl, p, s, like);
		give_all(ctl, &all, port, stream);
		stream_tell(r, "copy", &all);
	}
	free(all.m);
	return rc < 0 ? rc : 0;
}

/* Marks the streams s0 to s1 of a port that exist. Returns how many of them were not marked before.
 * map has a bit for each id. */
static unsigned stream_mark(struct ctl *ctl, unsigned port, uint32_t s0, uint32_t s1, uint64_t *map)
{
	unsigned n = ctl_nstreams(ctl, port), count = 0;

	for (unsigned s = s0; s <= s1 && s < n; s++) {
		if (!stream_exists(ctl, port, s) || (map[s / 64] >> (s % 64) & 1))
			continue;
		map[s / 64] |= 1ull << (s % 64);
		count++;
	}
	return count;
}

static int run_delete(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	const struct target *t = &args[0].target;
	unsigned np = ctl_nports(ctl);
	uint64_t *map = xcalloc((size_t)np * MAP_WORDS, sizeof(*map));
	unsigned *count = xcalloc(np, sizeof(*count));
	int rc = 0;

	for (unsigned i = 0; i < t->n && rc == 0; i++) {
		if (!t->item[i].has_streams) {
			rc = err_at(
				e, EINVAL, args[0].col,
				"which streams? Name them: %u/1, %u/1-4; `reset %u` leaves nothing but a stream 0 with its defaults",
				t->item[i].p0, t->item[i].p0, t->item[i].p0);
			break;
		}
		for (unsigned p = t->item[i].p0; p <= t->item[i].p1 && p < np; p++)
			count[p] += stream_mark(ctl, p, t->item[i].s0, t->item[i].s1,
						&map[p * MAP_WORDS]);
	}
	for (unsigned p = 0; p < np && rc == 0; p++)
		if (count[p] > 0 && count[p] == ctl_stream_total(ctl, p))
			rc = err_at(
				e, EINVAL, args[0].col,
				"a port keeps one stream at least, and this is all of port %u; "
				"`reset %u` makes stream 0 anew, `set %u/all enabled off` silences them",
				p, p, p);
	for (unsigned p = 0; p < np && rc == 0; p++) {
		for (unsigned s = CTL_MAX_STREAMS; s-- > 0 && rc == 0;)
			if (map[p * MAP_WORDS + s / 64] >> (s % 64) & 1)
				rc = ctl_stream_delete(ctl, p, s, e);
		if (count[p] > 0 && !r->batch)
			sbuf_addf(r->note, "port %u: %u stream%s deleted\n", p, count[p],
				  count[p] > 1 ? "s" : "");
	}
	free(map);
	free(count);
	return rc;
}

static int run_move(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	const struct target *t = &args[0].target;
	unsigned to = (unsigned)args[1].v.u, np = ctl_nports(ctl);
	struct portset seen = {0};
	int rc = 0;

	for (unsigned i = 0; i < t->n; i++) {
		uint32_t s = t->item[i].s0;
		if (s != t->item[i].s1)
			return err_at(
				e, EINVAL, args[0].col,
				"\"%.60s\" is more than one stream, which cannot all become stream %u",
				args[0].text, to);
		for (unsigned p = t->item[i].p0; p <= t->item[i].p1 && p < np; p++) {
			if (!stream_exists(ctl, p, s))
				return no_stream(r, p, s, args[0].col, e);
			if (portset_has(&seen, p))
				return err_at(
					e, EINVAL, args[0].col,
					"port %u is named twice, and only one stream can become %u/%u",
					p, p, to);
			if (s != to && stream_exists(ctl, p, to))
				return err_at(
					e, EEXIST, args[1].col,
					"there is a stream %u/%u already; `stream delete %u/%u` removes it",
					p, to, p, to);
			portset_add(&seen, p);
		}
	}
	for (unsigned i = 0; i < t->n && rc == 0; i++)
		for (unsigned p = t->item[i].p0; p <= t->item[i].p1 && p < np && rc == 0; p++)
			rc = ctl_stream_move(ctl, p, t->item[i].s0, to, e);
	return rc;
}

static const struct arg_spec args_add[] = {
	{ARG_TARGETS, "ports", ARG_NEW},
	{ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, CTL_MAX_STREAMS}},
	{ARG_WORD, "like", ARG_OPT},
	{ARG_TARGETS, "stream", ARG_OPT},
	{ARG_END},
};
static const struct arg_spec args_copy[] = {{ARG_TARGETS, "stream"},
					    {ARG_TARGETS, "streams", ARG_NEW},
					    {ARG_END}};
static const struct arg_spec args_delete[] = {{ARG_TARGETS, "streams"}, {ARG_END}};
static const struct arg_spec args_move[] = {
	{ARG_TARGETS, "stream"},
	{ARG_VALUE, "ID", 0, {&vt_uint, 0, CTL_MAX_STREAMS - 1}},
	{ARG_END}};

const struct verb verb_stream_add = {
	.name = "stream add",
	.args = args_add,
	.run = run_add,
	.help = "Make streams: N more (or one) behind the last, or those that are named: `stream add 0/4-7`.\n"
		"They are enabled and have the default settings, or with `like` those of another stream:\n"
		"`stream add 0 3 like 0/1`.\n"
		"A port has 1 to 4096 streams, 0/0 to 0/4095; `show streams` lists them.",
};
const struct verb verb_stream_copy = {
	.name = "stream copy",
	.args = args_copy,
	.run = run_copy,
	.help = "Give streams all settings of one: `stream copy 0/3 1/0-7`.\n"
		"Those that are not there are made; on a bare port (`stream copy 0/3 1`) one more behind the last.",
};
const struct verb verb_stream_delete = {
	.name = "stream delete",
	.args = args_delete,
	.run = run_delete,
	.help = "Remove streams: `stream delete 0/4-7`. The others keep their ids.",
};
const struct verb verb_stream_move = {
	.name = "stream move",
	.args = args_move,
	.run = run_move,
	.help = "Give a stream another id, which must be free: `stream move 0/3 12`.\n"
		"Streams take their turns in the order of their ids.",
};
