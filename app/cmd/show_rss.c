/* SPDX-License-Identifier: BSD-3-Clause */
/* show rss: how devices spread received frames over their queues. */
#include "show.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct out_col rss_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"queues", "rxq", OF_COUNT},
	{"way", "queue by", OF_STR},
	{"fields", "fields", OF_STR},
	{"function", "function", OF_STR},
	{"symmetric", "symmetric", OF_STR},
	{"key_bytes", "key bytes", OF_COUNT},
	{"table_entries", "entries", OF_COUNT},
	{"table", "table, repeated", OF_STR},
};
static const struct out_view rss_view = {.rows = "ports",
					 .cols = rss_cols,
					 .ncols = ARRAY_SIZE(rss_cols)};

static const struct out_col stream_cols[] = {
	{"to", "to port", OF_COUNT},      {"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},   {"frame", "frame", OF_STR},
	{"hashed", "hashed by", OF_STR},  {"queue", "queue", OF_COUNT},
	{"spread", "spread", OF_STR},     {"looked", "frames seen", OF_COUNT},
	{"tx_packets", "sent", OF_COUNT},
};
static const struct out_view stream_view = {.rows = "streams",
					    .cols = stream_cols,
					    .ncols = ARRAY_SIZE(stream_cols)};

static const struct out_col queue_cols[] = {
	{"port", "port", OF_COUNT},         {"queue", "queue", OF_COUNT},
	{"entries", "entries", OF_COUNT},   {"predicted", "predicted", OF_PERCENT},
	{"counted", "counted", OF_PERCENT}, {"packets", "received", OF_COUNT},
};
static const struct out_view queue_view = {.rows = "rx_queues",
					   .cols = queue_cols,
					   .ncols = ARRAY_SIZE(queue_cols)};

/* Puts the rows of all ports under one key of a document for a table. `to`: the name of the port
 * that a row belongs to. */
static json_t *rows_of(const json_t *doc, const char *key, const char *to)
{
	json_t *rows = json_array(), *port, *row;
	size_t i, k;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		json_array_foreach(json_object_get(port, key), k, row) {
			json_t *copy = json_copy(row);
			json_object_set(copy, to, json_object_get(port, "port"));
			json_array_append_new(rows, copy);
		}
	}
	return json_pack("{s:o}", key, rows);
}

/* "25.0% 25.0% 50.0%", the share of each queue. */
static void set_spread(json_t *row)
{
	const json_t *shares = json_object_get(row, "shares");
	struct sbuf text = {0};

	for (size_t q = 0; q < json_array_size(shares); q++) {
		sbuf_add(&text, q > 0 ? " " : "");
		sbuf_addf(&text, "%.1f%%", json_number_value(json_array_get(shares, q)) * 100);
	}
	json_object_set_new(row, "spread", json_string(text.len > 0 ? text.s : "-"));
	sbuf_free(&text);
}

/* What is too long for a table. */
static void rss_lines(const json_t *doc, struct sbuf *out)
{
	json_t *port;
	size_t i;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		const char *key = json_string_value(json_object_get(port, "key"));
		const json_t *from = json_object_get(port, "from");
		int p = (int)json_integer_value(json_object_get(port, "port"));
		if (key != NULL && json_is_string(json_object_get(port, "function")))
			sbuf_addf(out, "port %d: key %s\n", p, key);
		if (json_is_integer(from))
			sbuf_addf(out, "port %d: receives the streams of port %d (%s)\n", p,
				  (int)json_integer_value(from),
				  json_string_value(json_object_get(port, "from_why")));
	}
}

/* What a table does not say. */
static void rss_notes(const json_t *doc, struct sbuf *out)
{
	json_t *port, *s;
	size_t i, k;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		const char *why = json_string_value(json_object_get(port, "why")),
			   *stale = json_string_value(json_object_get(port, "counted_why"));
		int p = (int)json_integer_value(json_object_get(port, "port"));
		if (why != NULL)
			sbuf_addf(out, "port %d: queues cannot be predicted: %s\n", p, why);
		if (stale != NULL)
			sbuf_addf(out, "port %d: no shares of what was counted: %s\n", p, stale);
		json_array_foreach(json_object_get(port, "streams"), k, s) {
			const char *doubt = json_string_value(json_object_get(s, "doubt"));
			int from = (int)json_integer_value(json_object_get(s, "port")),
			    id = (int)json_integer_value(json_object_get(s, "stream"));
			if (doubt != NULL)
				sbuf_addf(out, "stream %d/%d: not predicted: %s\n", from, id,
					  doubt);
			else if (json_is_array(json_object_get(s, "shares")) &&
				 !json_is_true(json_object_get(s, "all")))
				sbuf_addf(
					out,
					"stream %d/%d: the shares are those of its first %d frames; later ones differ\n",
					from, id,
					(int)json_integer_value(json_object_get(s, "looked")));
		}
	}
}

static void rss_tables(const json_t *doc, struct sbuf *out)
{
	json_t *streams = rows_of(doc, "streams", "to"),
	       *queues = rows_of(doc, "rx_queues", "port"), *row;
	size_t i;

	json_array_foreach(json_object_get(streams, "streams"), i, row)
		set_spread(row);
	rss_lines(doc, out);
	if (json_array_size(json_object_get(streams, "streams")) > 0)
		out_write(OUT_TEXT, streams, &stream_view, out);
	out_write(OUT_TEXT, queues, &queue_view, out);
	rss_notes(doc, out);
	json_decref(streams);
	json_decref(queues);
}

int show_rss(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = ctl_rss_json(app_of(r)->ctl, &sel->ports);

	(void)e;
	if (r->out_mode == OUT_CSV) {
		json_t *rows = rows_of(doc, "rx_queues", "port");
		json_object_set(doc, "rx_queues", json_object_get(rows, "rx_queues"));
		json_decref(rows);
		return show_out(r, doc, &queue_view);
	}
	verb_out(r, r->out_mode, doc, &rss_view);
	if (r->out_mode == OUT_TEXT && json_array_size(json_object_get(doc, "ports")) > 0)
		rss_tables(doc, r->out);
	json_decref(doc);
	return 0;
}
