/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that write other rows in Pktgen's words: they edit the headers, fields or random bits of a
 * stream. They are neither listed nor saved. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "frame_edit.h"
#include "pktgen.h"
#include "set/rows.h"

/* The unset() of these rows: they store nothing, so nothing is taken back. */
static void pktgen_keep(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	(void)obj;
}

/* ---- headers ---- */

static const char *const type_words[] = {"ipv4", "vlan", "ipv6", "arp", "ip4", "ip6", NULL};
static const char *const type_nets[] = {"ipv4", "ipv4", "ipv6", "arp", "ipv4", "ipv6"};
static const char *const proto_words[] = {"tcp", "udp", "icmp", NULL};
enum { TYPE_IPV4, TYPE_VLAN, TYPE_IPV6, TYPE_ARP };

static const struct stream_cfg *stream_of(const struct set_obj *obj)
{
	return obj->cfg;
}

/* The names of values that were lost because an edit removed their headers. They are kept for each
 * stream until the row's check tells of them. The pointer to the stream is only compared. */
struct gone {
	const void *stream;
	struct sbuf names;
};
static struct gone *gones;
static unsigned ngones;
/* Most streams whose names are kept. Callers that hold back the checks never take them. */
#define MOST_GONE 4096

static void gone_forget(unsigned i)
{
	sbuf_free(&gones[i].names);
	gones[i] = gones[--ngones];
}

/* Keeps the names for a stream, in place of those that were kept before. Takes the text from
 * *names. */
static void gone_keep(const void *stream, struct sbuf *names)
{
	for (unsigned i = ngones; i-- > 0;)
		if (gones[i].stream == stream || ngones == MOST_GONE)
			gone_forget(i);
	if (names->len == 0)
		return;
	gones = xrealloc(gones, (ngones + 1) * sizeof(*gones));
	gones[ngones++] = (struct gone){stream, *names};
	*names = (struct sbuf){0};
}

static bool gone_tell(const struct stream_cfg *c, struct err *warn)
{
	struct sbuf stack = {0};

	for (unsigned i = 0; i < ngones; i++) {
		if (gones[i].stream != c)
			continue;
		const char *names = sbuf_str(&gones[i].names);
		frame_stack_print(&c->frame.stack, &stack);
		err_set(warn, EINVAL, "%.700s %s no longer set: the frame is now %.200s", names,
			strchr(names, ',') != NULL ? "are" : "is", sbuf_str(&stack));
		sbuf_free(&stack);
		gone_forget(i);
		return true;
	}
	return false;
}

static int type_edit(struct frame_spec *f, int choice, struct sbuf *gone, struct err *e)
{
	const char *ip = frame_has_header(&f->stack, "ipv6") ? "ipv6" : "ipv4";
	int rc = frame_set_net(f, choice == TYPE_VLAN ? ip : type_nets[choice], gone, e);

	return rc == 0 && choice == TYPE_VLAN ? frame_add(f, PART_VLAN, gone, e) : rc;
}

static int proto_edit(struct frame_spec *f, int choice, struct sbuf *gone, struct err *e)
{
	return frame_set_l4(f, proto_words[choice], gone, e);
}

static int part_edit(struct frame_spec *f, enum frame_part part, bool on, struct sbuf *gone,
		     struct err *e)
{
	return on ? frame_add(f, part, gone, e) : frame_drop(f, part, gone, e);
}

static int pktgen_edit(const struct setting *row, struct frame_spec *f, const void *val,
		       struct sbuf *gone, struct err *e)
{
	if (row->v.choices == type_words)
		return type_edit(f, *(const int *)val, gone, e);
	if (row->v.choices == proto_words)
		return proto_edit(f, *(const int *)val, gone, e);
	return part_edit(f, *(const enum frame_part *)row->arg, *(const bool *)val, gone, e);
}

static int edit_may(const struct setting *row, const struct set_obj *obj, const void *val,
		    struct err *e)
{
	struct frame_spec f;
	struct err why;

	frame_spec_copy(&f, &stream_of(obj)->frame);
	int rc = pktgen_edit(row, &f, val, NULL, &why);
	frame_spec_free(&f);
	if (rc < 0)
		err_set(e, -rc, "%s: stream %u/%u: %.900s", row->name, obj->port, obj->id,
			why.text);
	return rc;
}

static void edit_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct sbuf gone = {0};

	struct stream_cfg *c = obj->cfg;

	pktgen_edit(row, &c->frame, val, &gone, NULL);
	c->frame_set = true;
	gone_keep(obj->cfg, &gone);
	sbuf_free(&gone);
}

static bool edit_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	return !gone_tell(obj->cfg, warn) && set_check_stream(row, obj, warn);
}

static bool type_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct frame_stack *s = &stream_of(obj)->frame.stack;

	(void)row;
	*(int *)val = frame_has_header(s, "arp")    ? TYPE_ARP
		      : frame_has(s, PART_VLAN)     ? TYPE_VLAN
		      : frame_has_header(s, "ipv6") ? TYPE_IPV6
						    : TYPE_IPV4;
	return false;
}

static bool proto_get_word(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct frame_stack *s = &stream_of(obj)->frame.stack;

	(void)row;
	*(int *)val = frame_has_header(s, "icmp") || frame_has_header(s, "icmpv6") ? 2
		      : frame_has_header(s, "tcp")                                 ? 0
										   : 1;
	return false;
}

/* Refuses to read a row when the frame has none of the headers that the row has words for. */
static int has_one(const struct setting *row, const struct set_obj *obj, const char *const *headers,
		   struct err *e)
{
	const struct stream_cfg *c = obj->cfg;
	struct sbuf stack = {0};

	for (; *headers != NULL; headers++)
		if (frame_has_header(&c->frame.stack, *headers))
			return 0;
	frame_stack_print(&c->frame.stack, &stack);
	err_set(e, EINVAL,
		"%s: stream %u/%u: its words do not tell of the frame %.200s; `frame` does",
		row->name, obj->port, obj->id, sbuf_str(&stack));
	sbuf_free(&stack);
	return -EINVAL;
}

static int type_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	static const char *const headers[] = {"arp", "vlan", "ipv6", "ipv4", NULL};

	return has_one(row, obj, headers, e);
}

static int proto_told(const struct setting *row, const struct set_obj *obj, struct err *e)
{
	static const char *const headers[] = {"icmp", "icmpv6", "tcp", "udp", NULL};

	return has_one(row, obj, headers, e);
}

static bool part_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	*(bool *)val = frame_has(&stream_of(obj)->frame.stack, *(const enum frame_part *)row->arg);
	return false;
}

static const struct setting_store type_store = {
	.put = edit_put, .get = type_get, .unset = pktgen_keep, .may = edit_may, .told = type_told};
static const struct setting_store proto_store = {
	.put = edit_put,
	.get = proto_get_word,
	.unset = pktgen_keep,
	.may = edit_may,
	.told = proto_told,
};
static const struct setting_store part_store = {.put = edit_put,
						.get = part_get,
						.unset = pktgen_keep,
						.may = edit_may};

static bool proto_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	if (frame_has_header(&stream_of(obj)->frame.stack, "arp")) {
		err_set(warn, EINVAL,
			"proto has no meaning in an arp frame; `set <ports> type ipv4` comes first");
		return false;
	}
	return edit_check(row, obj, warn);
}

static const enum frame_part part_vlan = PART_VLAN, part_qinq = PART_QINQ, part_mpls = PART_MPLS,
			     part_gre = PART_GRE, part_gre_eth = PART_GRE_ETH,
			     part_vxlan = PART_VXLAN, part_gtpu = PART_GTPU;

/* ---- rows that set several fields at once ---- */

#define MAX_FIELDS 3

struct fields {
	unsigned n;
	const char *name[MAX_FIELDS]; /* names of the fields, in the first header of their kind */
	const char *enable;           /* the header, and the word of `enable` that adds it */
};

static int fields_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint8_t v[MAX_FIELDS][VT_FIELD_BYTES] = {{0}};
	const char *p = text;
	char word[32];

	for (unsigned i = 0; i <= s->bits; i++) {
		p += strspn(p, " ");
		size_t len = strcspn(p, " ");
		if (i == s->bits && len == 0)
			break;
		if (len == 0 || i == s->bits)
			return vspec_fail(s, EINVAL, (int)(p - text), e, text,
					  "has %s than %u values", len == 0 ? "less" : "more",
					  s->bits);
		/* Pktgen reads such a number as hexadecimal, with or without 0x */
		const char *lead = s->of[i].hex && strncmp(p, "0x", 2) != 0 ? "0x" : "";
		if (len + 3 > sizeof(word))
			return vspec_fail(s, EINVAL, (int)(p - text), e, text, "is no number");
		snprintf(word, sizeof(word), "%s%.*s", lead, (int)len, p);
		int rc = s->of[i].type->parse(&s->of[i], word, v[i], e);
		if (rc < 0 && lead[0] != '\0')
			return vspec_fail(s, EINVAL, (int)(p - text), e, text,
					  "has \"%.*s\", which is no hexadecimal number of %u bits",
					  (int)len, p, s->of[i].bits);
		if (rc < 0) {
			if (e != NULL)
				e->col = (int)(p - text);
			return rc;
		}
		p += len;
	}
	memcpy(out, v, sizeof(v));
	return 0;
}

static void fields_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	const uint8_t(*v)[VT_FIELD_BYTES] = val;

	for (unsigned i = 0; i < s->bits; i++) {
		sbuf_add(out, i > 0 ? " " : "");
		s->of[i].type->print(&s->of[i], v[i], out);
	}
}

static const struct vtype vt_qinqids = {
	.name = "ids",
	.syntax = "OUTER INNER, 0 to 4095 each",
	.size = MAX_FIELDS * VT_FIELD_BYTES,
	.parse = fields_vparse,
	.print = fields_vprint,
};
static const struct vtype vt_vxlan = {
	.name = "vxlan",
	.syntax =
		"FLAGS GID VNI; flags are 16 bits in hexadecimal, 0800 says that the VNI is valid",
	.size = MAX_FIELDS * VT_FIELD_BYTES,
	.parse = fields_vparse,
	.print = fields_vprint,
};
static const struct vspec qinq_specs[] = {{&vt_fuint, .bits = 12}, {&vt_fuint, .bits = 12}};
static const struct vspec vxlan_specs[] = {{&vt_fuint, .bits = 16, .hex = true},
					   {&vt_fuint, .bits = 16},
					   {&vt_fuint, .bits = 24}};
static const struct fields qinq_fields = {2, {"qinq.vid", "vlan.vid"}, "qinq"};
static const struct fields vxlan_fields = {3, {"vxlan.flags", "vxlan.gid", "vxlan.vni"}, "vxlan"};

static void set_field(struct stream_cfg *c, const char *name, const uint8_t v[VT_FIELD_BYTES])
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;

	if (frame_field_parse(name, &p, &nth, &f, NULL) == 0)
		frame_vals_set(&c->frame.vals, p, nth, f, v);
}

/* The value that the user has set, or the field's default. */
static void get_field(const struct stream_cfg *c, const char *name, uint8_t v[VT_FIELD_BYTES])
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;
	struct vspec spec;

	memset(v, 0, VT_FIELD_BYTES);
	if (frame_field_parse(name, &p, &nth, &f, NULL) < 0)
		return;
	const struct frame_val *val = frame_vals_find(&c->frame.vals, p, nth, f);
	proto_vspec(f, &spec);
	if (val != NULL)
		memcpy(v, val->v, VT_FIELD_BYTES);
	else if (f->dflt != NULL)
		spec.type->parse(&spec, f->dflt, v, NULL);
}

static void fields_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct fields *s = row->arg;
	const uint8_t(*v)[VT_FIELD_BYTES] = val;

	for (unsigned i = 0; i < s->n; i++)
		set_field(obj->cfg, s->name[i], v[i]);
}

static bool fields_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct fields *s = row->arg;
	uint8_t(*v)[VT_FIELD_BYTES] = val;

	for (unsigned i = 0; i < s->n; i++)
		get_field(obj->cfg, s->name[i], v[i]);
	return false;
}

static bool fields_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct fields *s = row->arg;

	if (frame_has_header(&stream_of(obj)->frame.stack, s->enable))
		return true;
	err_set(warn, EINVAL,
		"the frame has no %s header; `enable <ports> %s` puts it in, and the values wait for it",
		s->enable, s->enable);
	return false;
}

static const struct setting_store fields_store = {.put = fields_put,
						  .get = fields_get,
						  .unset = pktgen_keep};

/* A label stack entry of RFC 3032, section 2.1: label, class, bottom of stack, ttl. The bit for the
 * bottom is ignored here, because the frame sets it by itself. */
static int mpls_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct vspec number = {.type = &vt_fuint, .bits = 32};
	uint8_t v[VT_FIELD_BYTES];
	char word[16];
	size_t len = strlen(text);

	if (len > 10)
		return vspec_fail(s, EINVAL, 0, e, text, "is no entry of 32 bits");
	snprintf(word, sizeof(word), "%s%s", strncmp(text, "0x", 2) != 0 ? "0x" : "", text);
	if (number.type->parse(&number, word, v, NULL) < 0)
		return vspec_fail(s, EINVAL, 0, e, text, "is no entry of 32 bits");
	uint32_t x = (uint32_t)vary_load(v);
	memcpy(out, &x, sizeof(x));
	return 0;
}

static void mpls_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	(void)s;
	sbuf_addf(out, "0x%08x", *(const uint32_t *)val);
}

static const struct vtype vt_mpls = {
	.name = "entry",
	.syntax = "8 hexadecimal digits: label, class, bottom, ttl",
	.size = sizeof(uint32_t),
	.parse = mpls_vparse,
	.print = mpls_vprint,
};

static void mpls_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	uint32_t x = *(const uint32_t *)val;
	uint8_t v[VT_FIELD_BYTES];

	(void)row;
	vary_store(x >> 12, v);
	set_field(obj->cfg, "mpls.label", v);
	vary_store(x >> 9 & 7, v);
	set_field(obj->cfg, "mpls.tc", v);
	vary_store(x & 255, v);
	set_field(obj->cfg, "mpls.ttl", v);
}

static bool mpls_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	uint8_t label[VT_FIELD_BYTES], tc[VT_FIELD_BYTES], ttl[VT_FIELD_BYTES];

	(void)row;
	get_field(obj->cfg, "mpls.label", label);
	get_field(obj->cfg, "mpls.tc", tc);
	get_field(obj->cfg, "mpls.ttl", ttl);
	*(uint32_t *)val =
		(uint32_t)(vary_load(label) << 12 | vary_load(tc) << 9 | 1 << 8 | vary_load(ttl));
	return false;
}

static const struct setting_store mpls_store = {.put = mpls_put,
						.get = mpls_get,
						.unset = pktgen_keep};
static const struct fields mpls_fields = {0, {NULL}, "mpls"};

/* ---- random bits: `rnd 3 20 XXXX` is `rnd.3 20 XXXX` ---- */

struct rnd_val {
	unsigned i;
	struct frame_rnd bits;
};

static int bits_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	unsigned n;
	const struct setting *rows = set_rnd_table(&n);
	struct rnd_val v = {0};
	size_t len = strspn(text, "0123456789"), at = len + strspn(text + len, " ");

	for (size_t i = 0; i < len && v.i < 1000; i++)
		v.i = v.i * 10 + (unsigned)(text[i] - '0');
	if (len == 0 || (text[len] != ' ' && text[len] != '\0'))
		return vspec_fail(s, EINVAL, 0, e, text, "does not begin with a number");
	if (v.i >= n)
		return vspec_fail(s, ERANGE, 0, e, text, "begins with %u, and the last is %u", v.i,
				  n - 1);
	int rc = rows[v.i].v.type->parse(&rows[v.i].v, text + at, &v.bits, e);
	if (rc < 0 && e != NULL)
		e->col = (int)at + (e->col > 0 ? e->col : 0);
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static void bits_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	unsigned n;
	const struct rnd_val *v = val;
	const struct setting *row = &set_rnd_table(&n)[v->i];

	(void)s;
	sbuf_addf(out, "%u ", v->i);
	row->v.type->print(&row->v, &v->bits, out);
}

static const struct vtype vt_bits = {
	.name = "bits",
	.syntax =
		"INDEX OFFSET MASK, or INDEX off; index 0 to 31, mask of 1 to 32 bits: 0, 1, . as it is, X random",
	.size = sizeof(struct rnd_val),
	.parse = bits_vparse,
	.print = bits_vprint,
};

static void bits_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct rnd_val *v = val;

	(void)row;
	((struct stream_cfg *)obj->cfg)->frame.rnd[v->i] = v->bits;
}

/* Reads the first of rnd.0 to rnd.31 that is set. */
static bool bits_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct frame_rnd *rnd = stream_of(obj)->frame.rnd;
	struct rnd_val v = {0};

	(void)row;
	while (v.i < FRAME_MAX_RND - 1 && !rnd[v.i].on)
		v.i++;
	v.i = rnd[v.i].on ? v.i : 0;
	v.bits = rnd[v.i];
	memcpy(val, &v, sizeof(v));
	return false;
}

static bool bits_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	struct rnd_val v;

	bits_get(row, obj, &v);
	if (!v.bits.on || stream_of(obj)->frame.rnd_on)
		return set_check_stream(row, obj, warn);
	err_set(warn, EINVAL, "the random bits wait until `enable <ports> random`");
	return false;
}

static const struct setting_store bits_store = {.put = bits_put,
						.get = bits_get,
						.unset = pktgen_keep};

/* ---- random source address and port ---- */

struct rnd_word {
	const char *word, *says;
};
static const struct rnd_word rnd_ip = {"src ip", "a source address"},
			     rnd_pt = {"sport", "a source port"};

/* The field that the word stands for in the outermost header that has it. NULL: no header has
 * it. */
static const struct field *rnd_field(const struct stream_cfg *c, const struct rnd_word *w,
				     const struct proto **p)
{
	for (unsigned i = 0; i < c->frame.stack.n; i++) {
		const struct field *f =
			frame_word_field(c->frame.stack.hdr[i], w->word, strlen(w->word));
		if (f != NULL) {
			*p = c->frame.stack.hdr[i];
			return f;
		}
	}
	return NULL;
}

static int rnd_may(const struct setting *row, const struct set_obj *obj, const void *val,
		   struct err *e)
{
	const struct rnd_word *w = row->arg;
	const struct proto *p;
	struct sbuf stack = {0};

	if (!*(const bool *)val || rnd_field(obj->cfg, w, &p) != NULL)
		return 0;
	frame_stack_print(&stream_of(obj)->frame.stack, &stack);
	err_set(e, EINVAL, "%s: the frame %s has no header with %s", row->name, sbuf_str(&stack),
		w->says);
	sbuf_free(&stack);
	return -EINVAL;
}

static bool rnd_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct stream_cfg *c = obj->cfg;
	const struct proto *p = NULL;
	const struct field *f = rnd_field(c, row->arg, &p);
	const struct frame_val *v = f != NULL ? frame_vals_find(&c->frame.vals, p, 1, f) : NULL;

	*(bool *)val = v != NULL && v->vary != NULL &&
		       (v->vary->kind == VARY_RANDOM || v->vary->kind == VARY_MASK);
	return false;
}

/* The value of the field when the user has set none: the port's default, or the field's. */
static void port_value(const struct stream_cfg *c, const struct proto *p, const struct field *f,
		       uint8_t v[VT_FIELD_BYTES])
{
	const struct frame_val *own = frame_vals_find(&c->dflt, p, 1, f);
	struct vspec spec;

	memset(v, 0, VT_FIELD_BYTES);
	proto_vspec(f, &spec);
	if (own != NULL)
		memcpy(v, own->v, VT_FIELD_BYTES);
	else if (f->dflt != NULL)
		spec.type->parse(&spec, f->dflt, v, NULL);
}

/* Turns random bits on with a mask over the present value, so that turning them off restores that
 * value. */
static void rnd_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct stream_cfg *c = obj->cfg;
	const struct proto *p = NULL;
	const struct field *f = rnd_field(c, row->arg, &p);
	uint8_t own[VT_FIELD_BYTES], first[VT_FIELD_BYTES];
	bool now;

	rnd_get(row, obj, &now);
	if (f == NULL || now == *(const bool *)val)
		return;
	const struct frame_val *v = frame_vals_find(&c->frame.vals, p, 1, f);
	port_value(c, p, f, own);
	if (v != NULL && v->vary != NULL && v->vary->kind == VARY_MASK)
		vary_store(v->vary->first, first);
	else
		memcpy(first, v != NULL && v->vary == NULL ? v->v : own, VT_FIELD_BYTES);
	if (!now) {
		vary_u all = f->bits >= 128 ? ~(vary_u)0 : ((vary_u)1 << f->bits) - 1;
		struct vary mask = {.kind = VARY_MASK,
				    .bits = (uint8_t)f->bits,
				    .first = vary_load(first),
				    .mask = all,
				    .div = 1};
		frame_vals_vary(&c->frame.vals, p, 1, f, &mask);
	} else if (memcmp(first, own, VT_FIELD_BYTES) == 0) {
		frame_vals_unset(&c->frame.vals, p, 1, f);
	} else {
		frame_vals_set(&c->frame.vals, p, 1, f, first);
	}
}

static const struct setting_store rnd_store = {.put = rnd_put,
					       .get = rnd_get,
					       .unset = pktgen_keep,
					       .may = rnd_may};

#define PART(word_, part_, help_) \
	{ \
		.name = "with." word_, .scope = &scope_stream, .v = {&vt_bool}, .dflt = "off", \
		.flags = SET_DERIVED, .store = &part_store, .arg = &(part_), .check = edit_check, \
		.help = help_ "; the same as an edit of `frame`" \
	}

const struct setting pktgen_edit_rows[] = {
	{.name = "type",
	 .scope = &scope_stream,
	 .v = {&vt_enum, .choices = type_words},
	 .dflt = "ipv4",
	 .flags = SET_DERIVED,
	 .store = &type_store,
	 .check = edit_check,
	 .help = "Pktgen's way to choose the network layer, vlan adds a tag; the same as an edit of `frame`"},
	{.name = "proto",
	 .scope = &scope_stream,
	 .v = {&vt_enum, .choices = proto_words},
	 .dflt = "udp",
	 .flags = SET_DERIVED,
	 .store = &proto_store,
	 .check = proto_check,
	 .help = "Pktgen's way to choose the transport layer; the same as an edit of `frame`"},
	PART("vlan", part_vlan, "a VLAN tag behind eth"),
	PART("qinq", part_qinq, "a service tag and a VLAN tag behind eth"),
	PART("mpls", part_mpls, "an MPLS label behind eth and its tags"),
	PART("gre", part_gre, "a GRE tunnel behind the IP header, with IP inside"),
	PART("gre_eth", part_gre_eth,
	     "a GRE tunnel behind the IP header, with Ethernet and IP inside"),
	PART("vxlan", part_vxlan, "a VXLAN tunnel behind the IP header"),
	PART("gtpu", part_gtpu, "a GTP-U header behind udp"),
	{.name = "qinqids",
	 .scope = &scope_stream,
	 .v = {&vt_qinqids, .of = qinq_specs, .bits = 2},
	 .dflt = "1 1",
	 .flags = SET_DERIVED,
	 .store = &fields_store,
	 .arg = &qinq_fields,
	 .check = fields_check,
	 .help = "qinq.vid and vlan.vid by one line"},
	{.name = "vxlan",
	 .scope = &scope_stream,
	 .v = {&vt_vxlan, .of = vxlan_specs, .bits = 3},
	 .dflt = "0800 0 0",
	 .flags = SET_DERIVED,
	 .store = &fields_store,
	 .arg = &vxlan_fields,
	 .check = fields_check,
	 .help = "vxlan.flags, vxlan.gid and vxlan.vni by one line"},
	{.name = "mpls-entry",
	 .alias = "mpls entry",
	 .scope = &scope_stream,
	 .v = {&vt_mpls},
	 .dflt = "0x00010140",
	 .flags = SET_DERIVED,
	 .store = &mpls_store,
	 .arg = &mpls_fields,
	 .check = fields_check,
	 .help = "mpls.label, mpls.tc and mpls.ttl as one number"},
	{.name = "rnd",
	 .scope = &scope_stream,
	 .v = {&vt_bits},
	 .dflt = "0 off",
	 .flags = SET_DERIVED,
	 .store = &bits_store,
	 .check = bits_check,
	 .help = "Pktgen's way to write rnd.0 to rnd.31"},
	{.name = "rnd_s_ip",
	 .scope = &scope_stream,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .flags = SET_DERIVED,
	 .store = &rnd_store,
	 .arg = &rnd_ip,
	 .check = set_check_stream,
	 .help = "a random source address in each frame; the same as a variation of ipv4.src"},
	{.name = "rnd_s_pt",
	 .scope = &scope_stream,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .flags = SET_DERIVED,
	 .store = &rnd_store,
	 .arg = &rnd_pt,
	 .check = set_check_stream,
	 .help = "a random source port in each frame; the same as a variation of udp.src or tcp.src"},
	{0},
};
