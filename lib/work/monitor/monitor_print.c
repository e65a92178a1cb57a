/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame that was seen, as a line, as a document and as a row. */
#include "monitor_app.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "frame.h"

#define NS_PER_S 1000000000ull
/* A command keeps so many of its documents for who has asked for results. */
#define KEPT_DOCS 1000

void monitor_print_time(uint64_t wall_ns, struct sbuf *out)
{
	time_t s = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;
	char stamp[16];

	localtime_r(&s, &tm);
	strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
	sbuf_addf(out, "%s.%09u", stamp, (unsigned)(wall_ns % NS_PER_S));
}

/* Checksums of sent frames may be left to the device, and are not right yet. */
static void monitor_brief(const struct monitor_line *l, struct sbuf *out, struct sbuf *stack)
{
	frame_brief(l->bytes, l->have, l->len, !l->tx, out, stack);
}

static void monitor_text(const struct monitor_line *l, bool hex, struct sbuf *out)
{
	if (l->not_shown > 0)
		sbuf_addf(out, "... %" PRIu64 " frame%s not shown\n", l->not_shown,
			  l->not_shown == 1 ? "" : "s");
	monitor_print_time(l->wall_ns, out);
	sbuf_addf(out, " %u %s q%u %4u  ", l->port, l->tx ? "tx" : "rx", l->queue,
		  l->len + FRAME_FCS);
	monitor_brief(l, out, NULL);
	sbuf_addc(out, '\n');
	if (hex)
		frame_print_hex(l->bytes, l->have, out);
}

json_t *monitor_line_json(const struct monitor_line *l)
{
	struct sbuf time = {0}, brief = {0}, stack = {0}, hex = {0};

	monitor_print_time(l->wall_ns, &time);
	monitor_brief(l, &brief, &stack);
	for (unsigned i = 0; i < l->have; i++)
		sbuf_addf(&hex, "%02x", l->bytes[i]);
	json_t *o = json_pack("{si,ss,si,ss,sI,si,ss,ss,sI,ss}", "port", (int)l->port, "direction",
			      l->tx ? "tx" : "rx", "queue", (int)l->queue, "time", sbuf_str(&time),
			      "wall_ns", (json_int_t)l->wall_ns, "size", (int)(l->len + FRAME_FCS),
			      "stack", sbuf_str(&stack), "summary", sbuf_str(&brief), "not_shown",
			      (json_int_t)l->not_shown, "hex", sbuf_str(&hex));
	sbuf_free(&time);
	sbuf_free(&brief);
	sbuf_free(&stack);
	sbuf_free(&hex);
	return o;
}

static const struct out_col cols[] = {
	{"time", "time", OF_STR},           {"port", "port", OF_COUNT},
	{"direction", "direction", OF_STR}, {"queue", "queue", OF_COUNT},
	{"size", "size", OF_COUNT},         {"stack", "stack", OF_STR},
	{"summary", "summary", OF_STR},     {"not_shown", "not shown", OF_COUNT},
	{"hex", "bytes", OF_STR},
};
static const struct out_view csv_view = {.rows = "rows", .cols = cols, .ncols = ARRAY_SIZE(cols)};

/* The heading stands before the first row alone. */
static void monitor_csv(json_t *one, bool first, struct sbuf *out)
{
	json_t *rows = json_pack("{s[O]}", "rows", one);
	struct sbuf all = {0};

	out_write(OUT_CSV, rows, &csv_view, &all);
	const char *text = sbuf_str(&all);
	sbuf_add(out, first ? text : text + strcspn(text, "\n") + 1);
	json_decref(rows);
	sbuf_free(&all);
}

void monitor_print(struct cmd_run *r, const struct monitor_line *l, bool hex, bool first)
{
	json_t *one = monitor_line_json(l), *doc = json_pack("{sO}", "monitor", one);

	if (json_array_size(r->results) < KEPT_DOCS)
		cmd_result(r, doc);
	if (r->out_mode == OUT_JSON)
		out_write(OUT_JSON, doc, NULL, r->out);
	else if (r->out_mode == OUT_CSV)
		monitor_csv(one, first, r->out);
	else
		monitor_text(l, hex, r->out);
	json_decref(one);
	json_decref(doc);
}
