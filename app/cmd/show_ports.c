/* SPDX-License-Identifier: BSD-3-Clause */
/* show ports, xstats, map, plan, clock: print what control knows of devices, workers and clock. */
#include <stdlib.h>
#include <string.h>

#include "face.h"
#include "show.h"

static const struct out_col port_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"driver", "driver", OF_STR},
	{"link", "link", OF_STR},
	{"speed_mbps", "speed", OF_MBPS},
	{"mac", "mac", OF_STR},
	{"mtu", "mtu", OF_COUNT},
	{"node", "node", OF_COUNT},
	{"used", "used", OF_STR},
	{"rx_queues", "rxq", OF_COUNT},
	{"tx_queues", "txq", OF_COUNT},
	{"rxd", "rxd", OF_COUNT},
	{"txd", "txd", OF_COUNT},
	{"mbufs", "mbufs", OF_COUNT},
	{"memory_bytes", "memory", OF_BPS},
	{"promiscuous", "promisc", OF_STR},
	{"rss", "rss", OF_STR},
	{"flow_control", "flow control", OF_STR},
	{"notes", "notes", OF_STR},
};
/* The notes are sentences, which do not fit a table. In text they follow the table, so its view
 * leaves out the last column. */
static const struct out_view port_view = {.rows = "ports",
					  .cols = port_cols,
					  .ncols = ARRAY_SIZE(port_cols) - 1};
static const struct out_view port_view_csv = {.rows = "ports",
					      .cols = port_cols,
					      .ncols = ARRAY_SIZE(port_cols)};

int show_ports(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = ctl_ports_json(app_of(r)->ctl), *port, *note;
	size_t i, k;

	(void)e;
	show_filter(doc, sel);
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &port_view_csv);
	verb_out(r, OUT_TEXT, doc, &port_view);
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		json_array_foreach(json_object_get(port, "notes"), k, note)
			sbuf_addf(r->out, "port %d: %s\n",
				  (int)json_integer_value(json_object_get(port, "port")),
				  json_string_value(note));
	}
	json_decref(doc);
	return 0;
}

static const struct out_col xstat_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"xstat", "xstat", OF_STR},
	{"value", "value", OF_COUNT},
};
static const struct out_view xstat_view = {.rows = "rows",
					   .cols = xstat_cols,
					   .ncols = ARRAY_SIZE(xstat_cols)};

/* The counters differ from port to port, so the table has a line for each counter of each port. */
int show_xstats(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = ctl_xstats_json(app_of(r)->ctl, &sel->ports), *rows = json_array(), *port,
	       *value;
	const char *key;
	size_t i;

	(void)e;
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		json_object_foreach(json_object_get(port, "xstats"), key, value)
			json_array_append_new(rows, json_pack("{s:O, s:O, s:s, s:O}", "port",
							      json_object_get(port, "port"), "name",
							      json_object_get(port, "name"),
							      "xstat", key, "value", value));
	}
	if (r->out_mode != OUT_JSON)
		json_object_set(doc, "rows", rows);
	json_decref(rows);
	return show_out(r, doc, &xstat_view);
}

/* The columns that fit a terminal of 120 columns. JSON has all members. */
static const struct out_col plan_worker_cols[] = {
	{"lcore", "lcore", OF_COUNT},
	{"cpu", "cpu", OF_COUNT},
	{"plan", "plan", OF_COUNT},
	{"acknowledged", "ack", OF_COUNT},
};
static const struct out_col plan_task_cols[] = {
	{"kind", "task", OF_STR},         {"port", "port", OF_COUNT},
	{"tx_queue", "txq", OF_COUNT},    {"rx_queue", "rxq", OF_COUNT},
	{"streams", "streams", OF_COUNT}, {"size", "size", OF_COUNT},
	{"frames", "frames", OF_COUNT},   {"period_cycles", "cycles", OF_PPS},
	{"engine", "engine", OF_STR},     {"sums", "checksums", OF_STR},
	{"lanes", "lanes", OF_COUNT},     {"memory_bytes", "memory", OF_COUNT},
	{"run", "run", OF_COUNT},
};
static const struct out_view plan_view = {
	.rows = "workers",
	.cols = plan_worker_cols,
	.ncols = ARRAY_SIZE(plan_worker_cols),
	.sub = "tasks",
	.sub_cols = plan_task_cols,
	.nsub_cols = ARRAY_SIZE(plan_task_cols),
};

static const struct out_col plan_port_cols[] = {
	{"port", "port", OF_COUNT},     {"rate", "rate", OF_STR}, {"arrival", "arrival", OF_STR},
	{"catchup", "catchup", OF_STR}, {"lag_ns", "lag", OF_NS}, {"pacing", "pacing", OF_STR},
};
static const struct out_view plan_port_view = {.rows = "ports",
					       .cols = plan_port_cols,
					       .ncols = ARRAY_SIZE(plan_port_cols)};

/* The table of a face, where the document has rows for it. */
static const struct out_view *plan_table(const struct face *f, const json_t *doc)
{
	return f->plan_view != NULL && json_array_size(out_get(doc, f->plan_view->rows)) > 0
		       ? f->plan_view
		       : NULL;
}

static bool plan_has(const struct out_col *cols, unsigned n, const char *key)
{
	unsigned i = 0;

	while (i < n && strcmp(cols[i].key, key) != 0)
		i++;
	return i < n;
}

/* CSV is one table: rows of faces stand behind those of workers, with what these do not have in
 * columns of their own. */
static void plan_csv(const json_t *plan, struct sbuf *out)
{
	struct out_col *cols = xcalloc(ARRAY_SIZE(plan_task_cols), sizeof(*cols));
	unsigned n = ARRAY_SIZE(plan_task_cols);
	json_t *doc = json_copy((json_t *)(uintptr_t)plan),
	       *workers = json_copy(json_object_get(plan, "workers"));
	struct out_view view = plan_view;

	json_object_set_new(doc, "workers", workers);
	memcpy(cols, plan_task_cols, sizeof(plan_task_cols));
	for (const struct face *const *f = faces; *f != NULL; f++) {
		const struct out_view *v = (*f)->plan_view;
		if (v == NULL)
			continue;
		cols = xrealloc(cols, (n + v->ncols) * sizeof(*cols));
		for (unsigned i = 0; i < v->ncols; i++)
			if (!plan_has(cols, n, v->cols[i].key))
				cols[n++] = v->cols[i];
		if (plan_table(*f, plan) != NULL)
			json_array_append_new(workers,
					      json_pack("{s:O}", "tasks", out_get(plan, v->rows)));
	}
	view.sub_cols = cols;
	view.nsub_cols = n;
	out_write(OUT_CSV, doc, &view, out);
	json_decref(doc);
	free(cols);
}

static void plan_text(const json_t *doc, struct cmd_run *r)
{
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->plan_note != NULL)
			(*f)->plan_note(doc, r->note);
	out_write(OUT_TEXT, doc, &plan_view, r->out);
	if (json_array_size(json_object_get(doc, "ports")) > 0)
		out_write(OUT_TEXT, doc, &plan_port_view, r->out);
	for (const struct face *const *f = faces; *f != NULL; f++)
		if (plan_table(*f, doc) != NULL)
			out_write(OUT_TEXT, doc, plan_table(*f, doc), r->out);
}

int show_plan(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	(void)sel;
	(void)e;
	json_t *doc = ctl_plan_json(app_of(r)->ctl);
	if (r->out_mode == OUT_JSON)
		return show_out(r, doc, &plan_view);
	if (r->out_mode == OUT_CSV)
		plan_csv(doc, r->out);
	else
		plan_text(doc, r);
	json_decref(doc);
	return 0;
}

int show_clock(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	(void)sel;
	(void)e;
	return show_out(r, ctl_clock_json(app_of(r)->ctl), NULL);
}

static const struct out_col map_cols[] = {
	{"port", "port", OF_COUNT},
	{"side", "side", OF_STR},
	{"queue", "queue", OF_COUNT},
	{"lcore", "lcore", OF_COUNT},
};
static const struct out_view map_view = {.rows = "queues",
					 .cols = map_cols,
					 .ncols = ARRAY_SIZE(map_cols)};

static const char *port_name(void *arg, unsigned port)
{
	return ctl_port_name(arg, port);
}

int show_map(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;

	(void)sel;
	(void)e;
	json_t *doc = show_doc("map"), *map = app_map_json(app_of(r));
	json_object_update(doc, map);
	json_decref(map);
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &map_view);
	cmd_result(r, doc);
	json_decref(doc);
	place_draw(ctl_placement(ctl), ctl_place_in(ctl), port_name, ctl, r->out);
	return 0;
}
