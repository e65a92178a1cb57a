/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits of a frame's headers. An edit changes a copy of the stack and keeps where each header comes
 * from; edit_end() checks the new stack and then moves values and nesting to it. */
#include "frame_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEW (-1)

/* The stack as it will be, and for each header its index in the old stack. A header that takes the
 * place of another keeps that one's index. */
struct edit {
	struct frame_stack s;
	int from[FRAME_MAX_HDRS + 8];
	bool full;
};

static void edit_begin(struct edit *ed, const struct frame_stack *s)
{
	ed->s = *s;
	ed->full = false;
	for (unsigned i = 0; i < s->n; i++)
		ed->from[i] = (int)i;
}

static void put_in(struct edit *ed, unsigned at, const char *name)
{
	struct frame_stack *s = &ed->s;

	if (s->n == FRAME_MAX_HDRS) {
		ed->full = true;
		return;
	}
	memmove(&s->hdr[at + 1], &s->hdr[at], (s->n - at) * sizeof(s->hdr[0]));
	memmove(&ed->from[at + 1], &ed->from[at], (s->n - at) * sizeof(ed->from[0]));
	s->hdr[at] = proto_find(name);
	ed->from[at] = NEW;
	s->n++;
}

static void take_out(struct edit *ed, unsigned at, unsigned n)
{
	struct frame_stack *s = &ed->s;

	memmove(&s->hdr[at], &s->hdr[at + n], (s->n - at - n) * sizeof(s->hdr[0]));
	memmove(&ed->from[at], &ed->from[at + n], (s->n - at - n) * sizeof(ed->from[0]));
	s->n -= n;
	memset(&s->hdr[s->n], 0, n * sizeof(s->hdr[0]));
}

/* Takes out all headers from index `at` on. */
static void edit_cut(struct edit *ed, unsigned at)
{
	if (at < ed->s.n)
		take_out(ed, at, ed->s.n - at);
}

static bool edit_is(const struct frame_stack *s, unsigned i, const char *name)
{
	return i < s->n && strcmp(s->hdr[i]->name, name) == 0;
}

static bool is_ip(const struct frame_stack *s, unsigned i)
{
	return edit_is(s, i, "ipv4") || edit_is(s, i, "ipv6");
}

static bool is_tag(const struct frame_stack *s, unsigned i)
{
	return edit_is(s, i, "vlan") || edit_is(s, i, "qinq");
}

static int edit_find(const struct frame_stack *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (edit_is(s, i, name))
			return (int)i;
	return -1;
}

static int outer_ip(const struct frame_stack *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (is_ip(s, i))
			return (int)i;
	return -1;
}

static int inner_ip(const struct frame_stack *s)
{
	for (unsigned i = s->n; i-- > 0;)
		if (is_ip(s, i))
			return (int)i;
	return -1;
}

/* Index of the first header behind eth and its tags. */
static unsigned past_tags(const struct frame_stack *s)
{
	unsigned i = 1;

	while (is_tag(s, i))
		i++;
	return i < s->n ? i : s->n;
}

/* Index of the first header behind an IP header. Extension headers belong to the IP header before
 * them. */
static unsigned past_ip(const struct frame_stack *s, unsigned ip)
{
	unsigned i = ip + 1;

	while (i < s->n && strncmp(s->hdr[i]->name, "ipv6", 4) == 0 && s->hdr[i]->name[4] != '\0')
		i++;
	return i;
}

/* Index of the nth header of protocol p; -1: there is none. */
static int header_at(const struct frame_stack *s, const struct proto *p, unsigned nth)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->hdr[i] == p && --nth == 0)
			return (int)i;
	return -1;
}

const struct field *frame_word_field(const struct proto *p, const char *word, size_t len)
{
	for (const struct field *f = p->fields; f->name != NULL; f++) {
		for (const char *w = f->word; w != NULL && *w != '\0';) {
			size_t n = strcspn(w, ",");
			if (n == len && strncmp(w, word, n) == 0)
				return f;
			w += n + (w[n] == ',');
		}
	}
	return NULL;
}

/* The field of p that has a Pktgen word in common with f, and the same form of values; NULL:
 * none. */
static const struct field *same_word(const struct field *f, const struct proto *p)
{
	for (const char *w = f->word; w != NULL && *w != '\0';) {
		size_t n = strcspn(w, ",");
		const struct field *g = frame_word_field(p, w, n);
		if (g != NULL && g->kind == f->kind && g->bits == f->bits)
			return g;
		w += n + (w[n] == ',');
	}
	return NULL;
}

/* True for the headers that frame_add() and frame_drop() are for. */
static bool comes_and_goes(const struct proto *p)
{
	static const char *const names[] = {"vlan", "qinq", "mpls", "gre", "vxlan", "gtpu"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(p->name, names[i]) == 0)
			return true;
	return false;
}

bool frame_val_waits(const struct frame_val *v)
{
	if (comes_and_goes(v->proto))
		return true;
	return v->nth == 1 && v->field->word != NULL && strncmp(v->field->word, "tcp ", 4) == 0;
}

/* The name of a field in the new stack, and what becomes of its value. */
struct name {
	const struct proto *proto;
	const struct field *field;
	uint8_t nth;
	bool there; /* the value belongs to a header of the new stack */
	bool gone;  /* its header is taken out, or the one in its place has no such field */
};

static struct name edit_renamed(const struct edit *ed, const struct frame_stack *old,
				const struct proto *p, uint8_t nth, const struct field *f)
{
	struct name n = {.proto = p, .field = f, .nth = nth};
	int was = header_at(old, p, nth), now = -1;

	if (was < 0)
		return n;
	for (unsigned i = 0; i < ed->s.n; i++)
		if (ed->from[i] == was)
			now = (int)i;
	if (now < 0) {
		n.gone = true;
		return n;
	}
	const struct proto *q = ed->s.hdr[now];
	const struct field *g = q == p ? f : same_word(f, q);
	if (g == NULL) {
		n.gone = true;
		return n;
	}
	return (struct name){.proto = q,
			     .field = g,
			     .nth = frame_stack_nth(&ed->s, (unsigned)now),
			     .there = true};
}

static bool same_name(const struct name *a, const struct name *b)
{
	return a->proto == b->proto && a->field == b->field && a->nth == b->nth;
}

static void move_values(const struct edit *ed, const struct frame_stack *old,
			struct frame_vals *vals, struct sbuf *gone)
{
	struct name *to = xcalloc(vals->n + 1u, sizeof(*to));
	unsigned n = vals->n, kept = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct frame_val *v = &vals->val[i];
		to[i] = edit_renamed(ed, old, v->proto, v->nth, v->field);
		to[i].gone = to[i].gone && !frame_val_waits(v);
		if (to[i].gone && gone != NULL) {
			sbuf_add(gone, gone->len > 0 ? ", " : "");
			frame_field_name(v->proto, v->nth, v->field, gone);
		}
	}
	/* A value that waits for its header gives way to one that moves to the same name. */
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n && !to[i].there; k++)
			to[i].gone |= to[k].there && same_name(&to[i], &to[k]);
	for (unsigned i = 0; i < n; i++) {
		const struct frame_val *v = &vals->val[kept];
		if (to[i].gone)
			frame_vals_unset(vals, v->proto, v->nth, v->field);
		else
			to[kept++] = to[i];
	}
	for (unsigned i = 0; i < kept; i++) {
		vals->val[i].proto = to[i].proto;
		vals->val[i].field = to[i].field;
		vals->val[i].nth = to[i].nth;
	}
	free(to);
}

static void move_nest(const struct edit *ed, const struct frame_stack *old, struct frame_nest *nest)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < nest->n; i++) {
		struct name to = edit_renamed(ed, old, nest->at[i].proto, nest->at[i].nth,
					      nest->at[i].field);
		if (to.gone)
			continue;
		nest->at[kept] = nest->at[i];
		nest->at[kept].proto = to.proto;
		nest->at[kept].field = to.field;
		nest->at[kept++].nth = to.nth;
	}
	if (kept > 0)
		nest->at[0].same_digit = false;
	nest->n = kept;
}

static int edit_end(struct edit *ed, struct frame_spec *spec, struct sbuf *gone, struct err *e)
{
	struct frame_stack *s = &ed->s;
	struct sbuf text = {0};
	int rc = 0, ip = inner_ip(s);

	if (ed->full)
		return err_set(e, EINVAL, "a frame has at most %u headers", FRAME_MAX_HDRS);
	unsigned l4 = ip >= 0 ? past_ip(s, (unsigned)ip) : s->n;
	if (edit_is(s, l4, "icmp") && edit_is(s, (unsigned)ip, "ipv6"))
		s->hdr[l4] = proto_find("icmpv6");
	else if (edit_is(s, l4, "icmpv6") && edit_is(s, (unsigned)ip, "ipv4"))
		s->hdr[l4] = proto_find("icmp");
	for (unsigned i = 0; rc == 0 && i < s->n; i++) {
		if (i == 0 ? s->hdr[0]->starts : proto_bind(s->hdr[i - 1], s->hdr[i]) != NULL)
			continue;
		frame_stack_print(&spec->stack, &text);
		rc = err_set(
			e, EINVAL,
			"the frame %s cannot take it: %s cannot follow %s; `set <ports> frame ...` writes another one",
			sbuf_str(&text), s->hdr[i]->name, i > 0 ? s->hdr[i - 1]->name : "nothing");
		sbuf_free(&text);
	}
	if (rc != 0)
		return rc;
	move_values(ed, &spec->stack, &spec->vals, gone);
	move_nest(ed, &spec->stack, &spec->nest);
	spec->stack = *s;
	return 0;
}

/* Index of the gre header that carries Ethernet, or the one that does not; -1: there is none. */
static int find_gre(const struct frame_stack *s, bool eth)
{
	for (unsigned i = 0; i < s->n; i++)
		if (edit_is(s, i, "gre") && edit_is(s, i + 1, "eth") == eth)
			return (int)i;
	return -1;
}

/* Index of a vlan tag behind the outer eth that is not the inner tag of a pair; -1: there is
 * none. */
static int find_vlan(const struct frame_stack *s)
{
	for (unsigned i = 1; is_tag(s, i); i++)
		if (edit_is(s, i, "vlan") && !edit_is(s, i - 1, "qinq"))
			return (int)i;
	return -1;
}

bool frame_has_header(const struct frame_stack *s, const char *name)
{
	return edit_find(s, name) >= 0;
}

bool frame_has(const struct frame_stack *s, enum frame_part part)
{
	switch (part) {
	case PART_VLAN:
		return find_vlan(s) >= 0 || (edit_is(s, 1, "qinq") && edit_is(s, 2, "vlan"));
	case PART_QINQ:
		return edit_is(s, 1, "qinq");
	case PART_MPLS:
		return edit_is(s, past_tags(s), "mpls");
	case PART_GRE:
		return find_gre(s, false) >= 0;
	case PART_GRE_ETH:
		return find_gre(s, true) >= 0;
	case PART_VXLAN:
		return edit_find(s, "vxlan") > 0;
	case PART_GTPU:
		return edit_find(s, "gtpu") > 0;
	}
	return false;
}

static int no_place(const struct frame_spec *spec, const char *what, const char *needs,
		    struct err *e)
{
	struct sbuf text = {0};

	frame_stack_print(&spec->stack, &text);
	err_set(e, EINVAL,
		"%s needs %s, and the frame is %s; `set <ports> frame ...` writes another one",
		what, needs, sbuf_str(&text));
	sbuf_free(&text);
	return -EINVAL;
}

/* Puts these headers behind the outermost IP header, and behind them an IP header of the same
 * version. */
static int add_tunnel(struct edit *ed, const struct frame_spec *spec, const char *const *hdrs,
		      const char *what, struct err *e)
{
	int ip = outer_ip(&ed->s);

	if (ip < 0)
		return no_place(spec, what, "an IP header", e);
	const char *inner = ed->s.hdr[ip]->name;
	unsigned at = past_ip(&ed->s, (unsigned)ip);
	for (; *hdrs != NULL && !ed->full; hdrs++)
		put_in(ed, at++, *hdrs);
	if (!ed->full)
		put_in(ed, at, inner);
	return 0;
}

/* Takes out the headers from `at` to the first IP header inside, or to the end. */
static void drop_tunnel(struct edit *ed, unsigned at)
{
	unsigned end = at;

	while (end < ed->s.n && !is_ip(&ed->s, end))
		end++;
	if (end < ed->s.n)
		end = past_ip(&ed->s, end);
	take_out(ed, at, end - at);
}

static int add_gtpu(struct edit *ed, const struct frame_spec *spec, struct err *e)
{
	int ip = inner_ip(&ed->s);
	unsigned l4 = ip >= 0 ? past_ip(&ed->s, (unsigned)ip) : 0;

	if (ip < 0 || !edit_is(&ed->s, l4, "udp"))
		return no_place(spec, "gtpu", "udp", e);
	edit_cut(ed, l4 + 1);
	put_in(ed, l4 + 1, "gtpu");
	return 0;
}

int frame_add(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e)
{
	static const char *const gre[] = {"gre", NULL}, *const gre_eth[] = {"gre", "eth", NULL},
				 *const vxlan[] = {"udp", "vxlan", "eth", NULL};
	struct edit ed;
	int rc = 0;

	if (frame_has(&spec->stack, part))
		return 0;
	edit_begin(&ed, &spec->stack);
	switch (part) {
	case PART_VLAN:
		put_in(&ed, edit_is(&ed.s, 1, "qinq") ? 2 : 1, "vlan");
		break;
	case PART_QINQ:
		if (!edit_is(&ed.s, 1, "vlan"))
			put_in(&ed, 1, "vlan");
		put_in(&ed, 1, "qinq");
		break;
	case PART_MPLS:
		put_in(&ed, past_tags(&ed.s), "mpls");
		break;
	case PART_GRE:
		rc = add_tunnel(&ed, spec, gre, "gre", e);
		break;
	case PART_GRE_ETH:
		rc = add_tunnel(&ed, spec, gre_eth, "gre", e);
		break;
	case PART_VXLAN:
		rc = add_tunnel(&ed, spec, vxlan, "vxlan", e);
		break;
	case PART_GTPU:
		rc = add_gtpu(&ed, spec, e);
		break;
	}
	return rc != 0 ? rc : edit_end(&ed, spec, gone, e);
}

int frame_drop(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e)
{
	struct edit ed;
	int at;

	if (!frame_has(&spec->stack, part))
		return 0;
	edit_begin(&ed, &spec->stack);
	switch (part) {
	case PART_VLAN:
		while ((at = find_vlan(&ed.s)) >= 0)
			take_out(&ed, (unsigned)at, 1);
		break;
	case PART_QINQ:
		take_out(&ed, 1, edit_is(&ed.s, 2, "vlan") ? 2 : 1);
		break;
	case PART_MPLS:
		for (unsigned i = past_tags(&ed.s); edit_is(&ed.s, i, "mpls");)
			take_out(&ed, i, 1);
		break;
	case PART_GRE:
	case PART_GRE_ETH:
		drop_tunnel(&ed, (unsigned)find_gre(&ed.s, part == PART_GRE_ETH));
		break;
	case PART_VXLAN:
		drop_tunnel(&ed, (unsigned)edit_find(&ed.s, "vxlan") - 1);
		break;
	case PART_GTPU:
		take_out(&ed, (unsigned)edit_find(&ed.s, "gtpu"), 1);
		break;
	}
	return edit_end(&ed, spec, gone, e);
}

/* Index of the outermost IP header. A stack without one gets IP and udp behind its tags and
 * labels. */
static unsigned need_ip(struct edit *ed, const char *name)
{
	int ip = outer_ip(&ed->s);

	if (ip >= 0)
		return (unsigned)ip;
	unsigned at = past_tags(&ed->s);
	while (edit_is(&ed->s, at, "mpls"))
		at++;
	bool arp = edit_is(&ed->s, at, "arp");
	edit_cut(ed, at + arp);
	if (!arp)
		put_in(ed, at, name);
	ed->s.hdr[at] = proto_find(name);
	put_in(ed, at + 1, "udp");
	return at;
}

int frame_set_net(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e)
{
	struct edit ed;

	edit_begin(&ed, &spec->stack);
	if (strcmp(name, "arp") == 0 && edit_find(&ed.s, "arp") >= 0)
		return 0;
	unsigned at = need_ip(&ed, strcmp(name, "arp") == 0 ? "ipv4" : name);
	if (edit_is(&ed.s, at, name))
		return edit_end(&ed, spec, gone, e);
	/* extension headers are of the other version */
	take_out(&ed, at + 1, past_ip(&ed.s, at) - at - 1);
	ed.s.hdr[at] = proto_find(name);
	if (strcmp(name, "arp") == 0) {
		edit_cut(&ed, at + 1);
		for (unsigned first = past_tags(&ed.s); first < at && edit_is(&ed.s, first, "mpls");
		     at--)
			take_out(&ed, first, 1);
	}
	return edit_end(&ed, spec, gone, e);
}

int frame_set_l4(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e)
{
	struct edit ed;

	if (edit_find(&spec->stack, "arp") >= 0)
		return 0;
	edit_begin(&ed, &spec->stack);
	need_ip(&ed, "ipv4");
	unsigned ip = (unsigned)inner_ip(&ed.s), at = past_ip(&ed.s, ip);
	if (strcmp(name, "icmp") == 0 && edit_is(&ed.s, ip, "ipv6"))
		name = "icmpv6";
	if (at == ed.s.n)
		put_in(&ed, at, name);
	else
		ed.s.hdr[at] = proto_find(name);
	if (at + 1 < ed.s.n && proto_bind(ed.s.hdr[at], ed.s.hdr[at + 1]) == NULL)
		edit_cut(&ed, at + 1);
	return edit_end(&ed, spec, gone, e);
}
