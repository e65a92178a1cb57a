/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "frame_edit.h"

const char *const held_nets[] = {"ipv4", "ipv6", NULL};
const char *const held_l4s[] = {"tcp", "udp", "icmp", NULL};

/* A row for each word. Pktgen never sets the limits of MAC and IPv6 addresses; here they are all
 * that the field can hold. */
/* clang-format off */
const struct held_word held_words[] = {
	{ "type", "type", HELD_NET, .dflt = { "ipv4" }, .help = "network layer" },
	{ "proto", "proto", HELD_L4, .dflt = { "tcp" }, .help = "transport layer" },
	{ "dst-mac", "dst mac", HELD_RANGE, "eth", "dst", "dst mac", { NULL, "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "0" },
	  "destination MAC address" },
	{ "src-mac", "src mac", HELD_RANGE, "eth", "src", "src mac", { NULL, "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "0" },
	  "source MAC address" },
	{ "dst-ip", "dst ip", HELD_RANGE, "ipv4", "dst", "dst ip", { NULL, NULL, ".254", "0.0.0.1" }, "destination IPv4 address" },
	{ "src-ip", "src ip", HELD_RANGE, "ipv4", "src", "src ip", { NULL, NULL, ".254", "0.0.0.0" }, "source IPv4 address" },
	{ "dst-ip6", "dst ip", HELD_RANGE, "ipv6", "dst", "dst ip", { NULL, "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::" },
	  "destination IPv6 address" },
	{ "src-ip6", "src ip", HELD_RANGE, "ipv6", "src", "src ip", { NULL, "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::" },
	  "source IPv6 address" },
	{ "dst-port", "dst port", HELD_RANGE, "udp", "dst", "dst port", { "5678", "0", "65535", "1" }, "destination port" },
	{ "src-port", "src port", HELD_RANGE, "udp", "src", "src port", { "1234", "0", "65535", "1" }, "source port" },
	{ "tcp-flags", "tcp flags", HELD_ONE, "tcp", "flags", "tcp flags", { "ack" }, "TCP control flags" },
	{ "tcp-seq", "tcp seq", HELD_RANGE, "tcp", "seq", "tcp seq", { "0x12378", "0", "0x1fffffff", "0" }, "TCP sequence number" },
	{ "tcp-ack", "tcp ack", HELD_RANGE, "tcp", "ack", "tcp ack", { "0x12390", "0", "0x1fffffff", "0" }, "TCP acknowledgment number" },
	{ "ttl", "ttl", HELD_RANGE, "ipv4", "ttl", "ttl", { "64", "0", "255", "0" }, "time to live or hop limit" },
	{ "vlan", "vlan", HELD_RANGE, "vlan", "vid", "vlan", { "1", "1", "4095", "0" }, "VLAN id" },
	{ "cos", "cos", HELD_RANGE, "vlan", "pcp", "cos", { "0", "0", "7", "0" }, "priority code point of the VLAN tag" },
	{ "tos", "tos", HELD_RANGE, "ipv4", "tos", "tos", { "0", "0", "255", "0" }, "type of service or traffic class" },
	{ "hop-limits", "hop_limits", HELD_RANGE, "ipv6", "hlim", NULL, { "64", "0", "255", "0" }, "IPv6 hop limit" },
	{ "traffic-class", "traffic_class", HELD_RANGE, "ipv6", "tc", NULL, { "0", "0", "255", "0" }, "IPv6 traffic class" },
	{ "teid", "gtpu", HELD_RANGE, "gtpu", "teid", NULL, { "0", "0", "0xffffffff", "0" },
	  "GTP-U tunnel endpoint, puts gtpu behind udp" },
	{ "gid", "vxlan gid", HELD_RANGE, "vxlan", "gid", NULL, { "0", "0", "65535", "0" }, "VXLAN group" },
	{ "vni", "vxlan vni", HELD_RANGE, "vxlan", "vni", NULL, { "0", "0", "65535", "0" }, "VXLAN network identifier" },
	{ "size", "size", HELD_SIZE, .dflt = { "64", "64", "1518", "0" }, .help = "frame size with FCS" },
};
/* clang-format on */
const unsigned held_nwords = ARRAY_SIZE(held_words);
_Static_assert(ARRAY_SIZE(held_words) <= HELD_MAX, "HELD_MAX is too small");

int held_find(const char *name)
{
	for (unsigned i = 0; i < held_nwords; i++)
		if (strcmp(held_words[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The field that the word is about; NULL: it is about none. */
static const struct field *field_of(const struct held_word *w)
{
	const struct proto *p = w->proto != NULL ? proto_find(w->proto) : NULL;

	return p != NULL ? proto_field(p, w->field) : NULL;
}

void held_vspec(const struct held_word *w, bool inc, struct vspec *out)
{
	const struct field *f = field_of(w);

	if (f != NULL) {
		proto_vspec(f, out);
		if (inc)
			out->min = out->max = 0;
	} else if (w->kind == HELD_SIZE) {
		*out = (struct vspec){.type = &vt_fuint,
				      .bits = 16,
				      .min = inc ? 0 : 64,
				      .max = FRAME_MAX_LEN + FRAME_FCS};
	} else {
		*out = (struct vspec){.type = &vt_enum,
				      .choices = w->kind == HELD_NET ? held_nets : held_l4s};
	}
}

/* Parses a default into v, which stays zero if the text is none of the values that the type
 * parses. */
static void held_parse(const struct held_word *w, bool inc, const char *text,
		       uint8_t v[VT_FIELD_BYTES])
{
	struct vspec spec;

	memset(v, 0, VT_FIELD_BYTES);
	held_vspec(w, inc, &spec);
	if (spec.type == &vt_enum || spec.type->parse(&spec, text, v, NULL) != 0)
		return; /* the first choice is number 0, and "0" as an address means all zero */
}

/* The defaults of a word for a stream; the port's own address comes from cfg->dflt. */
static void held_defaults(const struct stream_cfg *cfg, const struct held_word *w,
			  uint8_t v[4][VT_FIELD_BYTES])
{
	const struct field *f = field_of(w);
	const struct frame_val *own =
		f != NULL ? frame_vals_find(&cfg->dflt, proto_find(w->proto), 1, f) : NULL;

	memset(v, 0, 4 * VT_FIELD_BYTES);
	if (w->dflt[RANGE_START] != NULL)
		held_parse(w, false, w->dflt[RANGE_START], v[RANGE_START]);
	else if (own != NULL)
		memcpy(v[RANGE_START], own->v, VT_FIELD_BYTES);
	if (w->kind != HELD_RANGE && w->kind != HELD_SIZE)
		return;
	if (w->dflt[RANGE_MIN] != NULL)
		held_parse(w, false, w->dflt[RANGE_MIN], v[RANGE_MIN]);
	else
		memcpy(v[RANGE_MIN], v[RANGE_START], VT_FIELD_BYTES);
	if (strcmp(w->dflt[RANGE_MAX], ".254") == 0) {
		memcpy(v[RANGE_MAX], v[RANGE_START], VT_FIELD_BYTES);
		v[RANGE_MAX][VT_FIELD_BYTES - 1] = 254;
	} else {
		held_parse(w, false, w->dflt[RANGE_MAX], v[RANGE_MAX]);
	}
	held_parse(w, true, w->dflt[RANGE_INC], v[RANGE_INC]);
}

void held_values(const struct stream_cfg *cfg, unsigned i, uint8_t v[4][VT_FIELD_BYTES])
{
	if (held_at(cfg, i)->set)
		memcpy(v, held_at(cfg, i)->v, sizeof(held_at(cfg, i)->v));
	else
		held_defaults(cfg, &held_words[i], v);
}

unsigned held_count(const struct stream_cfg *cfg)
{
	unsigned n = 0;

	for (unsigned i = 0; i < held_nwords; i++)
		n += held_at(cfg, i)->set;
	return n;
}

/* Where in a frame a word's field is: in the nth header of this protocol. */
struct place {
	const struct proto *proto;
	const struct field *field;
	unsigned nth;
};

/* Finds the field that a word means in these headers: that of the outermost header which has the
 * word, which is always the first one of its protocol. false: there is none. */
static bool find_place(const struct held_word *w, const struct frame_stack *s, struct place *out)
{
	const struct field *like = field_of(w);

	for (unsigned i = 0; like != NULL && i < s->n; i++) {
		const struct proto *p = s->hdr[i];
		const struct field *f = w->word != NULL
						? frame_word_field(p, w->word, strlen(w->word))
					: strcmp(p->name, w->proto) == 0 ? like
									 : NULL;
		if (f == NULL || f->kind != like->kind || f->bits != like->bits)
			continue;
		*out = (struct place){p, f, 1};
		return true;
	}
	return false;
}

bool held_fits(unsigned i, const struct frame_stack *stack)
{
	const struct held_word *w = &held_words[i];
	struct place at;

	return (w->kind != HELD_RANGE && w->kind != HELD_ONE) || find_place(w, stack, &at);
}

static void value_text(const struct held_word *w, vary_u x, struct sbuf *out)
{
	uint8_t v[VT_FIELD_BYTES];
	struct vspec spec;

	vary_store(x, v);
	held_vspec(w, false, &spec);
	spec.type->print(&spec, v, out);
}

/* -EINVAL if min is above max or start is not between them, compared as numbers. */
static int check_limits(const struct stream_cfg *cfg, const struct held_word *w, const vary_u x[4],
			struct err *e)
{
	struct sbuf start = {0}, min = {0}, max = {0};
	int rc = 0;

	value_text(w, x[RANGE_START], &start);
	value_text(w, x[RANGE_MIN], &min);
	value_text(w, x[RANGE_MAX], &max);
	if (x[RANGE_MIN] > x[RANGE_MAX])
		rc = err_set(e, EINVAL, "range %s: min %s is above max %s; `range %u/%u %s max %s`",
			     w->words, sbuf_str(&min), sbuf_str(&max), cfg->port, cfg->id, w->words,
			     sbuf_str(&min));
	else if (x[RANGE_START] < x[RANGE_MIN])
		rc = err_set(e, EINVAL,
			     "range %s: start %s is below min %s; `range %u/%u %s start %s`",
			     w->words, sbuf_str(&start), sbuf_str(&min), cfg->port, cfg->id,
			     w->words, sbuf_str(&min));
	else if (x[RANGE_START] > x[RANGE_MAX])
		rc = err_set(e, EINVAL,
			     "range %s: start %s is above max %s; `range %u/%u %s max %s`",
			     w->words, sbuf_str(&start), sbuf_str(&max), cfg->port, cfg->id,
			     w->words, sbuf_str(&start));
	sbuf_free(&start);
	sbuf_free(&min);
	sbuf_free(&max);
	return rc;
}

/* A field that stands still cannot be a digit of the nest (struct frame_nest): takes it out. */
static void leave_nest(struct frame_nest *n, const struct place *at)
{
	for (unsigned i = 0; i < n->n; i++) {
		if (n->at[i].proto != at->proto || n->at[i].field != at->field ||
		    n->at[i].nth != at->nth)
			continue;
		bool digit = !n->at[i].same_digit;
		memmove(&n->at[i], &n->at[i + 1], (n->n - i - 1) * sizeof(n->at[0]));
		n->n--;
		if (digit && i < n->n)
			n->at[i].same_digit = false;
		return;
	}
}

/* Puts the range, or the single value, of a word into the frame. */
static int apply_field(const struct stream_cfg *cfg, const struct held_word *w,
		       const uint8_t v[4][VT_FIELD_BYTES], struct frame_spec *spec, struct err *e)
{
	vary_u x[4] = {vary_load(v[0]), vary_load(v[1]), vary_load(v[2]), vary_load(v[3])};
	struct place at;

	if (!find_place(w, &spec->stack, &at))
		return 0;
	if (w->kind == HELD_ONE || x[RANGE_INC] == 0) {
		frame_vals_set(&spec->vals, at.proto, at.nth, at.field, v[RANGE_START]);
		leave_nest(&spec->nest, &at);
		return 0;
	}
	int rc = check_limits(cfg, w, x, e);
	if (rc < 0)
		return rc;
	struct vary vary = {
		.kind = VARY_RANGE,
		.bits = (uint8_t)at.field->bits,
		.first = x[RANGE_START],
		.lo = x[RANGE_MIN],
		.hi = x[RANGE_MAX],
		.step = x[RANGE_INC],
		.div = 1,
	};
	if (x[RANGE_MIN] == x[RANGE_MAX]) {
		vary.kind = VARY_FIXED;
		leave_nest(&spec->nest, &at);
	}
	frame_vals_vary(&spec->vals, at.proto, at.nth, at.field, &vary);
	return 0;
}

static int apply_size(const struct stream_cfg *cfg, const struct held_word *w,
		      const uint8_t v[4][VT_FIELD_BYTES], struct sizes *out, struct err *e)
{
	vary_u x[4] = {vary_load(v[0]), vary_load(v[1]), vary_load(v[2]), vary_load(v[3])};
	unsigned start = (unsigned)x[RANGE_START], min = (unsigned)x[RANGE_MIN],
		 max = (unsigned)x[RANGE_MAX], inc = (unsigned)x[RANGE_INC];

	if (inc != 0) {
		int rc = check_limits(cfg, w, x, e);
		if (rc < 0)
			return rc;
	}
	if (inc == 0 || min == max) {
		*out = (struct sizes){.kind = SIZES_FIXED, .n = 1};
		out->item[0].size = (uint16_t)start;
		out->item[0].weight = 1;
		return 0;
	}
	*out = (struct sizes){.kind = SIZES_RANGE,
			      .lo = (uint16_t)min,
			      .hi = (uint16_t)max,
			      .step = (uint16_t)inc,
			      .first = (uint16_t)(start != min ? start : 0)};
	return 0;
}

static int apply_word(const struct stream_cfg *cfg, unsigned i, struct frame_spec *spec,
		      struct sizes *sizes, struct err *e)
{
	const struct held_word *w = &held_words[i];
	const struct held_range *h = held_at(cfg, i);
	unsigned choice = h->v[0][VT_FIELD_BYTES - 1];

	switch (w->kind) {
	case HELD_NET:
		return frame_set_net(spec, held_nets[choice], NULL, e);
	case HELD_L4:
		return frame_set_l4(spec, held_l4s[choice], NULL, e);
	case HELD_SIZE:
		return apply_size(cfg, w, h->v, sizes, e);
	case HELD_RANGE:
	case HELD_ONE:
		break;
	}
	/* Whoever sets a tunnel endpoint wants GTP-U, so the header is added. If the frame has no
	 * place for it, the word is passed over. */
	if (strcmp(w->name, "teid") == 0)
		frame_add(spec, PART_GTPU, NULL, NULL);
	return apply_field(cfg, w, h->v, spec, e);
}

int held_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
	       struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; cfg->overlay_on && rc == 0 && i < held_nwords; i++)
		if (held_at(cfg, i)->set)
			rc = apply_word(cfg, i, spec, sizes, e);
	return rc;
}

unsigned held_unused(const struct stream_cfg *cfg, struct sbuf *out)
{
	struct frame_spec spec;
	struct sizes sizes = cfg->sizes;
	struct place at;
	unsigned n = 0;

	frame_spec_copy(&spec, &cfg->frame);
	held_apply(cfg, &spec, &sizes, NULL);
	for (unsigned i = 0; i < held_nwords; i++) {
		if (!held_at(cfg, i)->set || held_words[i].kind != HELD_RANGE ||
		    find_place(&held_words[i], &spec.stack, &at))
			continue;
		if (vary_load(held_at(cfg, i)->v[RANGE_INC]) != 0)
			sbuf_addf(out, "%s%s", n++ > 0 ? ", " : "", held_words[i].words);
	}
	frame_spec_free(&spec);
	return n;
}

/* Does this word of Pktgen's have a range that it steps through? */
static bool held_varies(const struct stream_cfg *s, unsigned i)
{
	uint8_t v[4][VT_FIELD_BYTES];

	if (!held_at(s, i)->set ||
	    (held_words[i].kind != HELD_RANGE && held_words[i].kind != HELD_SIZE))
		return false;
	held_values(s, i, v);
	return vary_load(v[RANGE_INC]) != 0 &&
	       memcmp(v[RANGE_MIN], v[RANGE_MAX], VT_FIELD_BYTES) != 0;
}

static void held_names(const struct stream_cfg *cfg, void (*add)(void *arg, const char *name),
		       void *arg)
{
	char name[64];

	for (unsigned i = 0; i < held_nwords; i++) {
		if (!held_varies(cfg, i))
			continue;
		snprintf(name, sizeof(name), "range.%s", held_words[i].name);
		add(arg, name);
	}
}

const struct cfg_overlay held_overlay = {.apply = held_apply, .varies = held_names};
