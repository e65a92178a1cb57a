/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs show host and show neighbours. */
#include "host_app.h"
#include "host_face.h"

static const struct out_col host_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"answered.arp", "answered arp", OF_COUNT},
	{"answered.nd", "nd", OF_COUNT},
	{"answered.ping", "ping", OF_COUNT},
	{"answered.unreachable", "unreachable", OF_COUNT},
	{"answered.reset", "reset", OF_COUNT},
	{"heard", "heard", OF_COUNT},
	{"claims", "claims", OF_COUNT},
	{"pongs", "pongs", OF_COUNT},
	{"errors", "errors", OF_COUNT},
	{"unasked", "unasked", OF_COUNT},
	{"refused.truncated", "truncated", OF_COUNT},
	{"refused.malformed", "malformed", OF_COUNT},
	{"refused.checksum", "checksum", OF_COUNT},
	{"refused.sender", "sender", OF_COUNT},
	{"refused.own_frame", "own frame", OF_COUNT},
	{"refused.hop_limit", "hop limit", OF_COUNT},
	{"refused.fragment", "fragment", OF_COUNT},
	{"refused.options", "options", OF_COUNT},
	{"refused.no_room", "no room", OF_COUNT},
	{"refused.rate", "rate", OF_COUNT},
	{"probes", "probes", OF_COUNT},
	{"sent", "sent", OF_COUNT},
	{"dropped", "dropped", OF_COUNT},
	{"unheard", "unheard", OF_COUNT},
};
static const struct out_view host_view = {.rows = "ports",
					  .cols = host_cols,
					  .ncols = ARRAY_SIZE(host_cols),
					  .transpose = true};
static const struct out_view host_csv = {.rows = "ports",
					 .cols = host_cols,
					 .ncols = ARRAY_SIZE(host_cols)};

static const struct out_col neighbour_cols[] = {
	{"port", "port", OF_COUNT}, {"vlan", "vlan", OF_STR},   {"address", "address", OF_STR},
	{"mac", "mac", OF_STR},     {"state", "state", OF_STR}, {"age_ns", "age", OF_NS},
	{"use", "use", OF_STR}};
static const struct out_view neighbour_view = {.rows = "neighbours",
					       .cols = neighbour_cols,
					       .ncols = ARRAY_SIZE(neighbour_cols)};

/* Refuses a document without ports. Takes the document over then. */
static int some_host(json_t *doc, struct err *e)
{
	if (json_array_size(json_object_get(doc, "ports")) > 0)
		return 0;
	json_decref(doc);
	return host_none(e);
}

/* The VLAN ids of an address or a neighbour, "10.100", behind `before`; nothing for none. */
static void vlans_text(const json_t *of, const char *before, struct sbuf *out)
{
	json_t *vid;
	size_t i;

	json_array_foreach(json_object_get(of, "vlans"), i, vid)
		sbuf_addf(out, "%s%d", i == 0 ? before : ".", (int)json_integer_value(vid));
}

int host_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = host_json(app_of(r)->ctl, &sel->ports), *port, *own;
	int rc = some_host(doc, e);
	size_t i, k;

	if (rc < 0)
		return rc;
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &host_csv);
	verb_out(r, OUT_TEXT, doc, &host_view);
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		json_array_foreach(json_object_get(port, "addresses"), k, own) {
			struct sbuf tags = {0};
			vlans_text(own, " in VLAN ", &tags);
			sbuf_addf(r->out, "port %d: %s%s: %s\n",
				  (int)json_integer_value(json_object_get(port, "port")),
				  json_string_value(json_object_get(own, "address")),
				  sbuf_str(&tags),
				  json_string_value(json_object_get(own, "state")));
			sbuf_free(&tags);
		}
	}
	json_decref(doc);
	return 0;
}

/* Tables have a row for each neighbour, with its port. */
static json_t *neighbour_rows(const json_t *doc)
{
	json_t *rows = json_array(), *port, *x;
	size_t i, k;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		json_array_foreach(json_object_get(port, "neighbours"), k, x) {
			json_t *row = json_copy(x);
			bool gateway = json_is_true(json_object_get(row, "gateway"));
			struct sbuf vlans = {0};
			vlans_text(row, "", &vlans);
			json_object_set_new(row, "vlan",
					    json_string(vlans.len > 0 ? sbuf_str(&vlans) : "-"));
			sbuf_free(&vlans);
			json_object_set(row, "port", json_object_get(port, "port"));
			json_object_set_new(row, "use", json_string(gateway ? "gateway" : "-"));
			json_array_append_new(rows, row);
		}
	}
	return json_pack("{ss,so}", "show", "neighbours", "neighbours", rows);
}

int host_show_neighbours(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = host_neighbours_json(app_of(r)->ctl, &sel->ports), *rows;
	int rc = some_host(doc, e);

	if (rc < 0)
		return rc;
	if (r->out_mode == OUT_JSON)
		return show_out(r, doc, NULL);
	rows = neighbour_rows(doc);
	json_decref(doc);
	return show_out(r, rows, &neighbour_view);
}
