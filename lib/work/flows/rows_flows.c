/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of streams that are flows. */
#include "flows_app.h"
#include "set/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "filebytes.h"
#include "flows_face.h"
#include "workload.h"

extern const struct work work_flows;

static const struct flows_cfg *flows_of(const struct set_obj *obj)
{
	return work_stream_cfg(obj->cfg, &work_flows);
}

/* ---- the row `flow`, on which the default frame depends ---- */

static void flow_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	set_work_put(row, obj, val);
	ctl_stream_frame_follow(obj->cfg);
}

static void flow_unset(const struct setting *row, const struct set_obj *obj)
{
	set_work_unset(row, obj);
	ctl_stream_frame_follow(obj->cfg);
}

static const struct setting_store flow_store = {flow_put, set_work_get, flow_unset};
/* A store of its own tells the rows of flows from those of others. */
static const struct setting_store flows_store = {set_work_put, set_work_get, set_work_unset};

/* ---- files, which the stream holds beside the plain bytes of works ---- */

static struct filebytes **file_at(const struct setting *row, const struct set_obj *obj)
{
	return (struct filebytes **)(void *)((char *)obj->cfg + row->offset);
}

static void file_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct filebytes *f, *before = *file_at(row, obj);

	memcpy(&f, val, sizeof(f));
	*file_at(row, obj) = filebytes_hold(f);
	filebytes_drop(before);
}

static bool file_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	memcpy(val, file_at(row, obj), sizeof(struct filebytes *));
	return *file_at(row, obj) != NULL;
}

static void file_unset(const struct setting *row, const struct set_obj *obj)
{
	filebytes_drop(*file_at(row, obj));
	*file_at(row, obj) = NULL;
}

static const struct setting_store file_store = {file_put, file_get, file_unset};

bool flows_idle(const struct setting *row, const struct set_obj *obj)
{
	if ((row->store != &flows_store && row->store != &file_store) ||
	    flows_of(obj)->role != FLOWS_OFF)
		return false;
	void *val = xcalloc(1, row->v.type->size);
	bool set = row->store->get(row, obj, val);
	free(val);
	return !set;
}

/* ---- rules between settings ---- */

/* The innermost header of one of these protocols; NULL: there is none. */
static const struct proto *innermost_header(const struct set_obj *obj, const char *const names[2],
					    unsigned *nth)
{
	const struct frame_stack *s = &((const struct stream_cfg *)obj->cfg)->frame.stack;
	const struct proto *found = NULL;

	*nth = 0;
	for (unsigned i = s->n; i-- > 0;) {
		const struct proto *p = s->hdr[i];
		if (found == NULL &&
		    (strcmp(p->name, names[0]) == 0 || strcmp(p->name, names[1]) == 0))
			found = p;
		*nth += found == p;
	}
	return found;
}

static const char *const names_ip[2] = {"ipv4", "ipv6"}, *const names_l4[2] = {"tcp", "udp"};

static bool is_udp(const struct set_obj *obj)
{
	unsigned nth;
	const struct proto *p = innermost_header(obj, names_l4, &nth);

	return p != NULL && strcmp(p->name, "udp") == 0;
}

static bool check_flow(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	unsigned nth;
	struct sbuf stack = {0};

	if (flows_of(obj)->role == FLOWS_OFF || (innermost_header(obj, names_ip, &nth) != NULL &&
						 innermost_header(obj, names_l4, &nth) != NULL))
		return true;
	frame_stack_print(&((const struct stream_cfg *)obj->cfg)->frame.stack, &stack);
	err_set(warn, EINVAL,
		"%s: the frame %s has no connections, which need IP and TCP or UDP; `set <streams> frame default` gives it both",
		row->name, sbuf_str(&stack));
	sbuf_free(&stack);
	return false;
}

static bool check_files(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	(void)row;
	return flows_of(obj)->role == FLOWS_OFF ||
	       flows_files_check(obj->cfg, is_udp(obj), warn) == 0;
}

static bool check_app(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct flows_cfg *cfg = flows_of(obj);

	if (cfg->role == FLOWS_OFF || !is_udp(obj) ||
	    (cfg->app.kind != FLOWS_HTTP && cfg->app.kind != FLOWS_DIALOG))
		return check_files(row, obj, warn);
	err_set(warn, EINVAL, "%s: %s runs on TCP, and the frame has UDP", row->name,
		cfg->app.kind == FLOWS_HTTP ? "http" : "a dialog");
	return false;
}

static bool check_tps(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct flows_cfg *cfg = flows_of(obj);

	if (!cfg->tps.on || cfg->transactions != 1)
		return true;
	err_set(warn, EINVAL,
		"%s: it needs connections that stay open, and these have one transaction; `set <streams> transactions forever` holds them",
		row->name);
	return false;
}

static bool check_pipeline(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct flows_cfg *cfg = flows_of(obj);

	if (cfg->role == FLOWS_OFF || cfg->bytes_pipeline == 1)
		return true;
	if (!is_udp(obj))
		err_set(warn, EINVAL,
			"%s: it is for `app bytes` over UDP, and the frame has no UDP; http.pipeline is for TCP",
			row->name);
	else if (cfg->transactions == 1)
		err_set(warn, EINVAL,
			"%s: connections have one transaction; `set <streams> transactions forever` gives them more",
			row->name);
	else
		return true;
	return false;
}

/* ---- flow.src and its like ---- */

/* A row that stands for the field of the innermost header that has it. */
struct tuple_arg {
	const char *const *headers;
	const char *field;
};

static const struct setting *tuple_resolve(const struct setting *row, const struct set_obj *obj,
					   struct err *e)
{
	const struct tuple_arg *a = row->arg;
	unsigned nth = 1;
	const struct proto *p =
		obj != NULL ? innermost_header(obj, a->headers, &nth) : proto_find(a->headers[0]);
	struct sbuf name = {0};

	if (p == NULL) {
		frame_stack_print(&((const struct stream_cfg *)obj->cfg)->frame.stack, &name);
		err_set(e, EINVAL,
			"%s: the frame %s has neither %s nor %s; `set <streams> frame ...` first",
			row->name, sbuf_str(&name), a->headers[0], a->headers[1]);
		sbuf_free(&name);
		return NULL;
	}
	if (nth == 1)
		return set_field_row(p, proto_field(p, a->field));
	sbuf_addf(&name, "%s[%u].%s", p->name, nth, a->field);
	const struct setting *found = set_row_named(sbuf_str(&name));
	sbuf_free(&name);
	return found;
}

static const struct tuple_arg tuple_src = {names_ip, "src"}, tuple_dst = {names_ip, "dst"},
			      tuple_sport = {names_l4, "src"}, tuple_dport = {names_l4, "dst"};

void flows_tuple_rows(const struct setting ***rows, unsigned *n)
{
#define TUPLE(what, of, text) \
	{ \
		.name = "flow." what, .scope = &scope_stream, .arg = &of, \
		.resolve = tuple_resolve, .help = text \
	}
	static struct setting made[] = {
		TUPLE("src", tuple_src,
		      "source address of the innermost IP header: of a client's connections, or of a server"),
		TUPLE("dst", tuple_dst,
		      "destination address of the innermost IP header: the servers of a client"),
		TUPLE("sport", tuple_sport,
		      "source port of TCP or UDP: 1024..65535 of a client and 80 of a server, if it is not set"),
		TUPLE("dport", tuple_dport,
		      "destination port of TCP or UDP: 80 of a client, if it is not set"),
	};
#undef TUPLE

	for (unsigned i = 0; i < ARRAY_SIZE(made); i++) {
		const struct tuple_arg *a = made[i].arg;
		const struct proto *p = proto_find(a->headers[0]);
		/* addresses of both families have no type in common */
		if (a->headers == names_l4)
			made[i].v = set_field_row(p, proto_field(p, a->field))->v;
		set_add_row(rows, n, &made[i]);
	}
}

/* ---- the table ---- */

static const char *const role_words[] = {"off", "client", "server", NULL};
static const char *const direction_words[] = {"up", "down", "both", NULL};
static const char *const sums_words[] = {"verify", "trust", NULL};
static const char *const congestion_words[] = {"cubic", "newreno", "none", NULL};
static const char *const auto_word[] = {"auto", NULL}, *const forever_word[] = {"forever", NULL};
static const char *const think_words[] = {"0s", NULL};
static const char *const method_words[] = {"GET", "HEAD", "POST", "PUT", NULL};
static const char *const path_words[] = {"/", NULL}, *const host_words[] = {"address", NULL};
static const char *const status_words[] = {"200", NULL}, *const header_words[] = {"none", NULL};
static const struct vspec per_second = {.type = &vt_per_second};
static const struct vspec sizes = {.type = &vt_wl_sizes}, pauses = {.type = &vt_wl_pauses};

#define AT(member) offsetof(struct flows_cfg, member)
#define ROW(word, member, reason) \
	.name = word, .scope = &scope_stream, .store = &flows_store, .arg = &work_flows, \
	.offset = AT(member), .why = reason

#define FILE_ROW(word, member) \
	.name = word, .scope = &scope_stream, .store = &file_store, \
	.offset = offsetof(struct stream_cfg, member), .why = WHY_WORK, .v = {&flows_vt_file}, \
	.dflt = "none", .flags = SET_FILE, .check = check_files

#define MINUTE_NS 60000000000ull

const struct setting flows_rows[] = {
	{.name = "flow",
	 .scope = &scope_stream,
	 .store = &flow_store,
	 .arg = &work_flows,
	 .offset = AT(role),
	 .why = WHY_FRAMES | WHY_ORDER | WHY_WORK,
	 .v = {&vt_enum, .choices = role_words},
	 .dflt = "off",
	 .check = check_flow,
	 .help = "whether the stream is a flow, whose frames are connections: their client opens them, their server answers"},
	{ROW("app", app, WHY_WORK), .v = {&flows_vt_app}, .dflt = "auto", .check = check_app,
	 .help = "what connections do; both ends must say the same"},
	{ROW("cps", cps, WHY_RATE | WHY_WORK), .v = {&vt_per_second}, .dflt = FLOWS_DFLT_CPS,
	 .unit = "connections/s",
	 .help = "connections that a client opens in a second; arrival says whether evenly"},
	{ROW("connections", connections, WHY_RATE | WHY_WORK), .alias = "cc",
	 .v = {&flows_vt_number, 1, 1u << 27, .choices = auto_word}, .dflt = "auto",
	 .help = "most connections of a client that are open at once, where opening stops; auto: as many as it has tuples, but at most 1M"},
	{ROW("tps", tps, WHY_RATE | WHY_WORK), .v = {&flows_vt_tps, .of = &per_second},
	 .dflt = "off", .check = check_tps, .unit = "transactions/s",
	 .help = "transactions that a client starts in a second on open connections; off: each connection starts its next one by itself"},
	{ROW("transactions", transactions, WHY_WORK),
	 .v = {&flows_vt_number, 1, UINT32_MAX, .choices = forever_word},
	 .dflt = FLOWS_DFLT_TRANSACTIONS, .check = check_tps,
	 .help = "transactions of a connection; forever: until the end"},
	{ROW("think", think, WHY_WORK),
	 .v = {&flows_vt_vary, .choices = think_words, .of = &pauses}, .dflt = "0s",
	 .help = "pause of a client between a response and its next request"},
	{ROW("request", request, WHY_WORK),
	 .v = {&flows_vt_vary, .choices = auto_word, .of = &sizes}, .dflt = "auto", .unit = "bytes",
	 .check = check_files,
	 .help = "payload of a request, of http of its body (POST, PUT); auto: 64, of http none"},
	{ROW("response", response, WHY_WORK),
	 .v = {&flows_vt_vary, .choices = auto_word, .of = &sizes}, .dflt = "auto", .unit = "bytes",
	 .check = check_files,
	 .help = "payload of a response, of http of its body; auto: 64, of http 100"},
	{FILE_ROW("request.file", request_file),
	 .help = "file whose bytes each request is, of http a whole one; it is read when it is set"},
	{FILE_ROW("response.file", response_file),
	 .help = "file whose bytes each response is, of http a whole one; it is read when it is set"},
	{ROW("direction", direction, WHY_WORK), .v = {&vt_enum, .choices = direction_words},
	 .dflt = "up", .help = "of `app stream`: who sends. up: the client, down: the server"},
	{ROW("close", close, WHY_WORK), .v = {&flows_vt_close}, .dflt = "fin client",
	 .help = "how a connection ends behind its last transaction, and by whom; keep: it stays open until the end"},
	{ROW("flow.drain", drain_ns, WHY_WORK), .v = {&vt_duration, 0, 60 * MINUTE_NS},
	 .dflt = FLOWS_DFLT_DRAIN,
	 .help = "after the end of opening: time in which open connections may finish; then they are reset and counted as aborted"},
	{ROW("flow.timewait", timewait_ns, WHY_WORK), .v = {&vt_duration, 0, 10 * MINUTE_NS},
	 .dflt = FLOWS_DFLT_TIMEWAIT,
	 .help = "rest of a closed connection's tuple; it is used before if all others are in use"},
	{ROW("flow.window", window, WHY_WORK),
	 .v = {&flows_vt_number, 1, 1u << 30, .choices = auto_word}, .dflt = "auto",
	 .unit = "bytes",
	 .help = "window that is offered to the peer; auto: 16 KB or 8 segments, growing up to 4 MB where that is faster"},
	{ROW("flow.mss", mss, WHY_WORK), .v = {&flows_vt_number, 64, 65495, .choices = auto_word},
	 .dflt = "auto", .unit = "bytes",
	 .help = "largest payload of a segment or datagram; auto: as the port's mtu allows"},
	{ROW("flow.congestion", congestion, WHY_WORK), .v = {&vt_enum, .choices = congestion_words},
	 .dflt = "cubic",
	 .help = "control of congestion; none: as much as the peer's window takes"},
	{ROW("flow.rto", rto_ns, WHY_WORK), .v = {&vt_duration, 1000000, 5 * MINUTE_NS},
	 .dflt = FLOWS_DFLT_RTO,
	 .help = "least time without an answer after which a segment is sent again"},
	{ROW("flow.retries", retries, WHY_WORK), .v = {&vt_uint, 0, 14}, .dflt = FLOWS_DFLT_RETRIES,
	 .help = "how often a segment is sent again before its connection is given up"},
	{ROW("flow.sack", sack, WHY_WORK), .v = {&vt_bool}, .dflt = FLOWS_DFLT_SACK,
	 .help = "whether selective acknowledgements are offered"},
	{ROW("flow.verify", verify, WHY_WORK), .v = {&vt_bool}, .dflt = "off",
	 .help = "whether received payload is compared with what was to come"},
	{ROW("flow.sums", sums, WHY_WORK), .v = {&vt_enum, .choices = sums_words}, .dflt = "verify",
	 .help = "received checksums that the device has not judged; trust: they count as unverified, if all flows of the port say so"},
	{ROW("flow.by_dst", by_dst, WHY_WORK), .v = {&vt_bool}, .dflt = "off",
	 .help = "whether connections are counted by server, too: a client's destinations, a server's own addresses; see `show flows by dst`"},
	{ROW("flow.dead", dead, WHY_WORK), .v = {&flows_vt_dead}, .dflt = "none",
	 .help = "servers that answer nothing, as machines without power: frames to these addresses of flow.src vanish, and so do those from them"},
	{ROW("bytes.pipeline", bytes_pipeline, WHY_WORK), .v = {&vt_uint, 1, WL_BYTES_PIPELINE},
	 .dflt = FLOWS_DFLT_PIPELINE, .check = check_pipeline,
	 .help = "of `app bytes` over UDP: most requests of a client that are open at once on a connection"},
	{ROW("http.method", method, WHY_WORK), .v = {&flows_vt_method, .choices = method_words},
	 .dflt = "GET", .help = "of a client's requests: a method, or several with weights"},
	{ROW("http.path", path, WHY_WORK), .v = {&flows_vt_path, .choices = path_words},
	 .dflt = "/", .help = "of a client's requests: a path, or several with weights"},
	{ROW("http.host", host, WHY_WORK), .v = {&flows_vt_host, .choices = host_words},
	 .dflt = "address",
	 .help = "of a client's requests: a host, or several with weights; address: the first destination address"},
	{ROW("http.header", header, WHY_WORK), .v = {&flows_vt_header, .choices = header_words},
	 .dflt = "none", .help = "further fields of requests or responses"},
	{ROW("http.status", status, WHY_WORK), .v = {&flows_vt_status, .choices = status_words},
	 .dflt = "200", .help = "of a server's responses: a status, or several with weights"},
	{ROW("http.chunked", chunked, WHY_WORK), .v = {&vt_bool}, .dflt = "off",
	 .help = "bodies are sent in chunks instead of behind their length"},
	{ROW("http.pipeline", pipeline, WHY_WORK), .v = {&vt_uint, 1, WL_HTTP_PIPELINE},
	 .dflt = FLOWS_DFLT_PIPELINE,
	 .help = "most requests of a client that are open at once on a connection"},
	{0},
};
