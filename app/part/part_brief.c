/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "brief": what Pktgen's main page says about each port, in Pktgen's words. */
#include "part_brief.h"
#include "frame_edit.h"
#include "field_text.h"
#include "out.h"
#include "part.h"

#include <stdlib.h>
#include <string.h>

/* The stream that is described. spec includes its ranges if they are in use. */
struct shown {
	struct app *app;
	unsigned port, stream;
	const struct stream_cfg *cfg;
	struct frame_spec spec;
	struct sizes sizes;
	struct frame *frame; /* NULL: none can be built */
	struct err why;
};

static void view_open(struct shown *v)
{
	v->frame = xcalloc(1, sizeof(*v->frame));
	int rc = ctl_stream_spec(v->app->ctl, v->port, v->stream, &v->spec, &v->sizes, &v->why);
	if (rc == 0)
		rc = ctl_frame(v->app->ctl, v->port, v->stream, v->frame, &v->why);
	if (rc == 0)
		return;
	free(v->frame);
	v->frame = NULL;
}

static void view_close(struct shown *v)
{
	frame_spec_free(&v->spec);
	free(v->frame);
}

static bool brief_steps(const struct vary *v)
{
	return v != NULL && (v->kind == VARY_RANGE || v->kind == VARY_LIST);
}

static bool brief_draws(const struct vary *v)
{
	return v != NULL && (v->kind == VARY_RANDOM || v->kind == VARY_MASK);
}

static bool any_rnd(const struct frame_spec *spec)
{
	for (unsigned i = 0; spec->rnd_on && i < FRAME_MAX_RND; i++)
		if (spec->rnd[i].on && spec->rnd[i].rnd != 0)
			return true;
	return false;
}

/* The mode of a single stream: how its frames differ. */
static const char *mode_of_one(const struct shown *v)
{
	bool range = v->cfg->overlay_on || sizes_count(&v->sizes) > 1,
	     rnd = any_rnd(&v->spec) || v->spec.fill == FILL_RANDOM;

	for (unsigned i = 0; i < v->spec.vals.n; i++) {
		const struct frame_val *val = &v->spec.vals.val[i];
		if (field_val_header(&v->spec.stack, val) < 0)
			continue;
		range |= brief_steps(val->vary);
		rnd |= brief_draws(val->vary);
	}
	return range ? "Range" : rnd ? "Random" : "Single";
}

/* The mode of a port. When just the streams 1 to k are enabled, that is what Pktgen calls a
 * sequence. */
static const char *mode_of(const struct shown *v, unsigned enabled, unsigned lowest,
			   unsigned highest)
{
	if (enabled == 0)
		return "None";
	if (enabled == 1 && lowest != 1)
		return mode_of_one(v);
	return lowest == 1 && highest == enabled ? "Seq" : "Streams";
}

/* The field that a word of Pktgen stands for, in the outermost header that has it; *h is the index
 * of that header. NULL: no header has it. */
static const struct field *word_field(const struct frame_spec *spec, const char *word, unsigned *h)
{
	for (*h = 0; *h < spec->stack.n; ++*h) {
		const struct field *f = frame_word_field(spec->stack.hdr[*h], word, strlen(word));
		if (f != NULL)
			return f;
	}
	return NULL;
}

static bool word_draws(const struct shown *v, const char *word)
{
	unsigned h;
	const struct field *f = word_field(&v->spec, word, &h);
	const struct frame_val *val = f != NULL ? field_val(&v->spec, h, f) : NULL;

	return val != NULL && brief_draws(val->vary);
}

static void port_setting(const struct shown *v, const char *name, struct sbuf *out)
{
	const struct setting *row = cmd_setting_find(v->app->cmd, name, NULL);

	if (row != NULL)
		cmd_setting_text(v->app->cmd, row, v->port, 0, out);
}

/* Sets the letters of what a port that has an address answers. */
static void flags_host(const struct shown *v, char *echo, char *process)
{
	struct sbuf ip = {0}, answer = {0};

	port_setting(v, "ip", &ip);
	port_setting(v, "answer", &answer);
	if (ip.len > 0 && strcmp(ip.s, "none") != 0) {
		if (strstr(sbuf_str(&answer), "ping") != NULL)
			*echo = 'E';
		if (strstr(sbuf_str(&answer), "arp") != NULL ||
		    strstr(sbuf_str(&answer), "nd") != NULL)
			*process = 'I';
	}
	sbuf_free(&ip);
	sbuf_free(&answer);
}

static json_t *flags_of(const struct shown *v)
{
	char flags[] = "---------"; /* PEBILipRc; this version has only some of these features */

	if (ctl_port_cfg(v->app->ctl, v->port)->promiscuous)
		flags[0] = 'P';
	flags_host(v, &flags[1], &flags[3]);
	if (word_draws(v, "src ip"))
		flags[5] = 'i';
	if (word_draws(v, "sport"))
		flags[6] = 'p';
	if (any_rnd(&v->spec))
		flags[7] = 'R';
	return json_string(flags);
}

static json_t *text_or_null(struct sbuf *text, bool there)
{
	json_t *o = there ? out_json_text(sbuf_str(text)) : json_null();

	sbuf_free(text);
	return o;
}

/* Says whether all bits of a value are random, as rnd_s_ip makes them. Then one word stands for the
 * long mask. */
static bool all_random(const struct frame_val *val)
{
	return val != NULL && val->vary != NULL && val->vary->kind == VARY_MASK &&
	       val->field->bits > 0 && val->vary->mask == ~(vary_u)0 >> (128 - val->field->bits);
}

static json_t *word_text(const struct shown *v, const char *word)
{
	struct sbuf text = {0};
	unsigned h;
	const struct field *f = word_field(&v->spec, word, &h);

	if (f != NULL && all_random(field_val(&v->spec, h, f)))
		return json_string("random");
	return text_or_null(&text, f != NULL && field_text(&v->spec, v->frame, &v->cfg->dflt, h, f,
							   &text));
}

/* Tags and tunnels in Pktgen's words, "VLAN VxLan". QnQ stands for both tags. */
static json_t *encap_of(const struct shown *v)
{
	static const struct {
		enum frame_part part;
		const char *name;
	} parts[] = {
		{PART_QINQ, "QnQ"},  {PART_VLAN, "VLAN"},     {PART_MPLS, "MPLS"},
		{PART_GRE, "GREip"}, {PART_GRE_ETH, "GREet"}, {PART_VXLAN, "VxLan"},
		{PART_GTPU, "GTPu"},
	};
	struct sbuf text = {0};
	bool pair = frame_has(&v->spec.stack, PART_QINQ);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (frame_has(&v->spec.stack, parts[i].part) &&
		    !(pair && parts[i].part == PART_VLAN))
			sbuf_addf(&text, "%s%s", text.len > 0 ? " " : "", parts[i].name);
	return text_or_null(&text, text.len > 0);
}

/* The first header of the stack that is among the names, as people write its name. */
static json_t *named_header(const struct shown *v, const char *const (*names)[2])
{
	for (unsigned h = 0; h < v->spec.stack.n; h++)
		for (unsigned i = 0; names[i][0] != NULL; i++)
			if (strcmp(v->spec.stack.hdr[h]->name, names[i][0]) == 0)
				return json_string(names[i][1]);
	return json_null();
}

/* The ids of all tags, the outermost first: "100/5". */
static json_t *vlan_text(const struct shown *v)
{
	struct sbuf text = {0};

	for (unsigned h = 0; h < v->spec.stack.n; h++) {
		const struct field *f = proto_field(v->spec.stack.hdr[h], "vid");
		size_t len = text.len;
		if (f == NULL)
			continue;
		if (len > 0)
			sbuf_addc(&text, '/');
		field_text(&v->spec, v->frame, &v->cfg->dflt, h, f, &text);
	}
	return text_or_null(&text, text.len > 0);
}

static json_t *size_text(const struct shown *v)
{
	struct sbuf text = {0};

	if (v->sizes.kind == SIZES_AUTO && v->frame != NULL)
		sbuf_addf(&text, "%u", v->frame->len + FRAME_FCS);
	else
		vt_sizes.print(&(struct vspec){&vt_sizes}, &v->sizes, &text);
	return text_or_null(&text, true);
}

static json_t *number_text(uint64_t n)
{
	struct sbuf text = {0};

	sbuf_addf(&text, "%llu", (unsigned long long)n);
	return text_or_null(&text, true);
}

static json_t *stack_text(const struct shown *v)
{
	struct sbuf text = {0};

	frame_stack_print(&v->spec.stack, &text);
	return text_or_null(&text, true);
}

static void add_port_words(const struct shown *v, json_t *o)
{
	const struct port_cfg *cfg = ctl_port_cfg(v->app->ctl, v->port);
	struct sbuf rate = {0};
	int node;
	const char *pci = ctl_port_bus(v->app->ctl, v->port, &node);

	vt_rate.print(&(struct vspec){&vt_rate}, &cfg->rate, &rate);
	json_object_set_new(o, "count",
			    cfg->count == 0 ? json_string("Forever") : number_text(cfg->count));
	json_object_set_new(o, "rate", text_or_null(&rate, true));
	json_object_set_new(o, "burst", number_text(cfg->burst));
	json_object_set_new(o, "rxburst", number_text(cfg->rxburst));
	json_object_set_new(o, "node", node >= 0 ? number_text((unsigned)node) : json_null());
	json_object_set_new(o, "pci", pci != NULL ? json_string(pci) : json_null());
}

static void add_frame_words(const struct shown *v, json_t *o)
{
	static const char *const types[][2] = {{"ipv4", "IPv4"},
					       {"ipv6", "IPv6"},
					       {"arp", "ARP"},
					       {0}};
	static const char *const protos[][2] = {
		{"tcp", "TCP"},       {"udp", "UDP"},   {"icmp", "ICMP"},
		{"icmpv6", "ICMPv6"}, {"igmp", "IGMP"}, {"sctp", "SCTP"},
		{"esp", "ESP"},       {"ah", "AH"},     {0}};
	static const char *const words[][2] = {{"sport", "sport"},         {"dport", "dport"},
					       {"tcp_flags", "tcp flags"}, {"ip_dst", "dst ip"},
					       {"ip_src", "src ip"},       {"mac_dst", "dst mac"},
					       {"mac_src", "src mac"}};

	json_object_set_new(o, "encap", encap_of(v));
	json_object_set_new(o, "frame", stack_text(v));
	json_object_set_new(o, "size", size_text(v));
	json_object_set_new(o, "type", named_header(v, types));
	json_object_set_new(o, "proto", named_header(v, protos));
	json_object_set_new(o, "vlan", vlan_text(v));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		json_object_set_new(o, words[i][0], word_text(v, words[i][1]));
	json_object_set_new(o, "error",
			    v->frame != NULL ? json_null() : out_json_text(v->why.text));
}

void brief_stream(struct app *app, unsigned port, unsigned stream, json_t *o)
{
	static const char *const words[] = {"cos", "tos", "teid"};
	struct shown v = {.app = app,
			  .port = port,
			  .stream = stream,
			  .cfg = ctl_stream_cfg(app->ctl, port, stream),
			  .why = {.text = ""}};

	view_open(&v);
	add_frame_words(&v, o);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		json_object_set_new(o, words[i], word_text(&v, words[i]));
	view_close(&v);
}

static json_t *one_port(struct app *app, unsigned port)
{
	struct shown v = {.app = app, .port = port, .why = {.text = ""}};
	unsigned n = ctl_nstreams(app->ctl, port), enabled = 0, lowest = 0, highest = 0;
	json_t *o = json_object();

	for (unsigned s = 0; s < n; s++) {
		const struct stream_cfg *c = ctl_stream_cfg(app->ctl, port, s);
		if (c == NULL || !c->enabled)
			continue;
		lowest = enabled++ == 0 ? s : lowest;
		highest = s;
	}
	v.stream = enabled > 0 ? lowest : app_first_stream(app, port);
	v.cfg = ctl_stream_cfg(app->ctl, port, v.stream);
	view_open(&v);
	json_object_set_new(o, "port", json_integer(port));
	json_object_set_new(o, "stream", json_integer(v.stream));
	json_object_set_new(o, "mode", json_string(mode_of(&v, enabled, lowest, highest)));
	json_object_set_new(o, "flags", flags_of(&v));
	json_object_set_new(o, "streams", number_text(enabled));
	add_port_words(&v, o);
	add_frame_words(&v, o);
	view_close(&v);
	return o;
}

static int brief_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		     json_t *doc, struct err *e)
{
	json_t *list = json_array();

	(void)snap;
	(void)arg;
	(void)e;
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		json_array_append_new(list, one_port(app, p));
	json_object_set_new(doc, "brief", list);
	return 0;
}

const struct snap_part part_brief = {.name = "brief", .add = brief_add};
