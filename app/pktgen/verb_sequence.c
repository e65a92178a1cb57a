/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb `seq N P ...` of Pktgen. Slot N of a port is its stream N + 1. A line is turned into
 * rows of settings of that stream and their values, which are then written as by `set`. */
#include "cmd/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pktgen.h"

#define MAX_SETS 16

/* A line that is being parsed, and what it turns into: rows and their values, in this order. */
struct line {
	struct cmd_run *r;
	struct cmd_word *w;
	unsigned n, at; /* number of words; index of the next one */
	int end_col;    /* column behind the last word, for errors */
	struct {
		const char *row;
		char text[80];
		int col;
	} set[MAX_SETS];
	unsigned nsets;
};

enum { SLOT, PORTS, REST };

/* The values of the two long forms. In the second form each has its key in front, if it has one. A
 * type of {0} means that the value is checked elsewhere. */
static const struct {
	const char *key, *what;
	const struct vspec v;
} items[] = {
	{"dst", "destination MAC", {&vt_mac}},
	{"src", "source MAC", {&vt_mac}},
	{"dst", "destination IP", {0}},
	{"src", "source IP", {0}},
	{"sport", "source port", {&vt_fuint, .bits = 16}},
	{"dport", "destination port", {&vt_fuint, .bits = 16}},
	{NULL, "ipv4 or ipv6", {0}},
	{NULL, "udp, tcp or icmp", {0}},
	{"vlan", "VLAN id", {&vt_fuint, .bits = 12}},
	{"size", "size", {0}},
	{"teid", "TEID", {&vt_fuint, .bits = 32}},
};
enum { DMAC, SMAC, DIP, SIP, SPORT, DPORT, NET, L4, VLAN, SIZE, TEID };

/* Refuses the line at word `at`: `found` stands where `what` is wanted; NULL: it is missing. */
static int sequence_fail(const struct line *l, unsigned at, struct err *e, const char *what,
			 const char *found)
{
	int col = at < l->n ? l->w[at].col : l->end_col;

	if (found != NULL)
		return err_at(
			e, EINVAL, col,
			"\"%s\" is wanted here, not \"%.40s\"; `help sequence` shows the forms",
			what, found);
	return err_at(e, EINVAL, col, "%s is missing; `help sequence` shows the forms", what);
}

static int too_many(const struct line *l, struct err *e)
{
	return err_at(e, EINVAL, l->w[l->at].col,
		      "unexpected \"%.40s\"; `help sequence` shows the forms", l->w[l->at].text);
}

/* Adds a row and its value. col: where errors of this value point to; -1: nowhere. */
static void sequence_add(struct line *l, const char *row, const char *text, int col)
{
	l->set[l->nsets].row = row;
	l->set[l->nsets].col = col;
	snprintf(l->set[l->nsets++].text, sizeof(l->set[0].text), "%s", text);
}

/* Returns the next word. NULL: there is none, and *e says that `what` is missing. */
static const struct cmd_word *sequence_next(struct line *l, const char *what, struct err *e)
{
	if (l->at == l->n) {
		sequence_fail(l, l->n, e, what, NULL);
		return NULL;
	}
	return &l->w[l->at++];
}

/* Takes the next word, which must be this key. */
static int sequence_keyword(struct line *l, const char *key, struct err *e)
{
	const struct cmd_word *w = sequence_next(l, key, e);

	if (w == NULL)
		return -EINVAL;
	if (strcmp(w->text, key) != 0)
		return sequence_fail(l, l->at - 1, e, key, w->text);
	return 0;
}

/* Returns which of `words` word `at` is, or -errno. */
static int one_of(struct line *l, unsigned at, const char *const *words, struct err *e)
{
	struct vspec v = {.type = &vt_enum, .choices = words};
	int choice;
	int rc = vt_enum.parse(&v, l->w[at].text, &choice, e);

	if (rc < 0) {
		e->col = l->w[at].col;
		return rc;
	}
	return choice;
}

/* Checks that word `at` is a value of type v. mask: it is an address that may have a prefix length
 * behind it, which is checked too. */
static int sequence_value(struct line *l, unsigned at, const struct vspec *v, bool mask,
			  struct err *e)
{
	_Alignas(16) uint8_t out[VT_FIELD_BYTES];
	char text[80];
	const char *slash = mask ? strchr(l->w[at].text, '/') : NULL;
	size_t len = slash != NULL ? (size_t)(slash - l->w[at].text) : strlen(l->w[at].text);
	struct vspec bits = {.type = &vt_fuint, .bits = 8, .max = v->type == &vt_ip6 ? 128 : 32};

	snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1),
		 l->w[at].text);
	int rc = v->type->parse(v, text, out, e);
	if (rc == 0 && slash != NULL && (rc = bits.type->parse(&bits, slash + 1, out, e)) < 0)
		e->col += (int)len + 1;
	if (rc < 0)
		e->col = l->w[at].col + (e->col > 0 ? e->col : 0);
	return rc;
}

/* Parses a long form, with keys or without. All values are checked before any row is added. */
static int long_form(struct line *l, bool keys, struct err *e)
{
	static const char *const nets[] = {"ipv4", "ipv6", NULL}, *const l4s[] = {"udp", "tcp",
										  "icmp", NULL};
	static const struct vspec ip4 = {&vt_ip4}, ip6 = {&vt_ip6};
	unsigned at[ARRAY_SIZE(items)];
	char text[ARRAY_SIZE(items)][80] = {""};

	for (unsigned i = 0; i < ARRAY_SIZE(items); i++) {
		at[i] = l->n;
		if (i == TEID && l->at == l->n)
			break;
		if (keys && items[i].key != NULL && sequence_keyword(l, items[i].key, e) < 0)
			return -EINVAL;
		if (sequence_next(l, items[i].what, e) == NULL)
			return -EINVAL;
		at[i] = l->at - 1;
	}
	if (l->at < l->n)
		return too_many(l, e);
	int net = one_of(l, at[NET], nets, e), l4 = net < 0 ? -1 : one_of(l, at[L4], l4s, e);
	if (net < 0 || l4 < 0)
		return -EINVAL;
	for (unsigned i = 0; i < ARRAY_SIZE(items); i++) {
		bool ip = i == DIP || i == SIP;
		const struct vspec *v = ip ? (net == 1 ? &ip6 : &ip4) : &items[i].v;
		int rc = at[i] < l->n && v->type != NULL ? sequence_value(l, at[i], v, ip, e) : 0;
		if (rc < 0)
			return rc;
		if (at[i] < l->n)
			snprintf(text[i], sizeof(text[i]), "%.*s",
				 ip ? (int)strcspn(l->w[at[i]].text, "/") : 79, l->w[at[i]].text);
	}
	bool teid = at[TEID] < l->n && strtoull(text[TEID], NULL, 0) != 0;
	if (teid && l4 != 0)
		return err_at(e, EINVAL, l->w[at[TEID]].col,
			      "a TEID makes the frame GTP-U, which needs udp, not %s", l4s[l4]);
	if (!teid)
		sequence_add(l, "with.gtpu", "off", -1);
	sequence_add(l, "type", nets[net], l->w[at[NET]].col);
	sequence_add(l, "proto", l4s[l4], l->w[at[L4]].col);
	if (teid)
		sequence_add(l, "with.gtpu", "on", l->w[at[TEID]].col);
	sequence_add(l, "eth.dst", text[DMAC], l->w[at[DMAC]].col);
	sequence_add(l, "eth.src", text[SMAC], l->w[at[SMAC]].col);
	sequence_add(l, net == 1 ? "ipv6.dst" : "ipv4.dst", text[DIP], l->w[at[DIP]].col);
	sequence_add(l, net == 1 ? "ipv6.src" : "ipv4.src", text[SIP], l->w[at[SIP]].col);
	if (l4 != 2) {
		sequence_add(l, l4 == 0 ? "udp.src" : "tcp.src", text[SPORT], l->w[at[SPORT]].col);
		sequence_add(l, l4 == 0 ? "udp.dst" : "tcp.dst", text[DPORT], l->w[at[DPORT]].col);
	}
	sequence_add(l, "vlan.vid", text[VLAN], l->w[at[VLAN]].col);
	if (teid)
		sequence_add(l, "gtpu.teid", text[TEID], l->w[at[TEID]].col);
	sequence_add(l, "size", text[SIZE], l->w[at[SIZE]].col);
	return 0;
}

static int short_form(struct line *l, struct err *e)
{
	const struct cmd_word *w[3];
	const char *first = l->w[0].text;
	char text[80];

	l->at = 1;
	if (strcmp(first, "cos") == 0) {
		if ((w[0] = sequence_next(l, "cos", e)) == NULL ||
		    sequence_keyword(l, "tos", e) < 0 ||
		    (w[1] = sequence_next(l, "tos", e)) == NULL)
			return -EINVAL;
		sequence_add(l, "vlan.pcp", w[0]->text, w[0]->col);
		sequence_add(l, "tos", w[1]->text, w[1]->col);
	} else if (strcmp(first, "vxlan") == 0) {
		if ((w[0] = sequence_next(l, "FLAGS", e)) == NULL ||
		    sequence_keyword(l, "gid", e) < 0 ||
		    (w[1] = sequence_next(l, "gid", e)) == NULL ||
		    sequence_keyword(l, "vid", e) < 0 ||
		    (w[2] = sequence_next(l, "vid", e)) == NULL)
			return -EINVAL;
		snprintf(text, sizeof(text), "%.20s %.20s %.20s", w[0]->text, w[1]->text,
			 w[2]->text);
		sequence_add(l, "vxlan", text, w[0]->col);
	} else { /* tcp flag LIST */
		if ((w[0] = sequence_next(l, "flags", e)) == NULL)
			return -EINVAL;
		if (strcmp(w[0]->text, "flags") != 0 && strcmp(w[0]->text, "flag") != 0)
			return sequence_fail(l, 1, e, "flags", w[0]->text);
		if ((w[1] = sequence_next(l, "a list of flags", e)) == NULL)
			return -EINVAL;
		sequence_add(l, "tcp.flags", w[1]->text, w[1]->col);
	}
	return l->at == l->n ? 0 : too_many(l, e);
}

static int sequence_parse(struct line *l, struct err *e)
{
	const char *first = l->w[0].text;

	if (strcmp(first, "cos") == 0 || strcmp(first, "vxlan") == 0 || strcmp(first, "tcp") == 0)
		return short_form(l, e);
	return long_form(l, strcmp(first, "dst") == 0, e);
}

/* A slot as it was before the line, on one port. */
struct before {
	/* named: it existed, and had the settings cfg. made: the line has made it. */
	bool named, made;
	struct stream_cfg cfg;
};

/* Undoes what a line has done that failed. was: one for each port. */
static void take_back(struct ctl *ctl, struct before *was, unsigned stream)
{
	for (unsigned p = 0; p < ctl_nports(ctl); p++) {
		struct stream_cfg *c = ctl_stream_cfg(ctl, p, stream);
		if (was[p].made) {
			ctl_stream_delete(ctl, p, stream, NULL);
		} else if (was[p].named && c != NULL) {
			stream_cfg_free(c);
			*c = was[p].cfg;
			was[p].named = false;
			ctl_touch_stream(ctl, p, (int)stream, WHY_ALL);
		}
	}
}

static int write_rows(struct line *l, const struct target *t, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < l->nsets && rc == 0; i++) {
		const struct setting *row = cmd_setting_find(l->r->cmd, l->set[i].row, e);
		/* Only the last row checks the stream and warns. */
		struct sbuf *note = i + 1 == l->nsets ? l->r->note : NULL;
		rc = row == NULL ? -EINVAL : cmd_set(l->r->cmd, t, row, l->set[i].text, note, e);
		if (rc < 0)
			e->col = l->set[i].col + (e->col > 0 && l->set[i].col >= 0 ? e->col : 0);
	}
	return rc;
}

/* Makes *t the list of ports that was given, with the slot's stream on each of them. */
static void slot_target(const struct target *given, unsigned stream, struct target *t)
{
	*t = *given;
	for (unsigned i = 0; i < t->n; i++) {
		t->item[i].s0 = t->item[i].s1 = stream;
		t->item[i].has_streams = true;
	}
}

static int write_all(struct line *l, const struct target *given, const struct portset *ports,
		     unsigned stream, struct err *e)
{
	struct ctl *ctl = app_of(l->r)->ctl;
	struct before *was = xcalloc(ctl_nports(ctl) + 1, sizeof(*was));
	struct target t;
	int rc = 0;

	slot_target(given, stream, &t);
	for (unsigned p = 0; p < ctl_nports(ctl) && rc == 0; p++) {
		if (!portset_has(ports, p))
			continue;
		const struct stream_cfg *c = ctl_stream_cfg(ctl, p, stream);
		if (c != NULL) {
			stream_cfg_copy(&was[p].cfg, c);
			was[p].named = true;
		} else {
			rc = pktgen_slot_make(ctl, p, stream, e);
			was[p].made = rc == 0;
		}
	}
	if (rc == 0)
		rc = write_rows(l, &t, e);
	if (rc < 0)
		take_back(ctl, was, stream);
	for (unsigned p = 0; p < ctl_nports(ctl); p++)
		if (was[p].named)
			stream_cfg_free(&was[p].cfg);
	free(was);
	return rc;
}

static int sequence_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct line l = {.r = r, .end_col = (int)strlen(r->line)};
	struct cmd_word words[64];
	char *buf = xcalloc(strlen(r->line) + 1, 1);
	struct portset ports;
	struct err own = {.col = -1};
	int rc = arg_ports(r, &args[PORTS], &ports, &own);
	int n = rc < 0 ? rc
		       : cmd_split(r->line, words, ARRAY_SIZE(words), buf, strlen(r->line) + 1,
				   &own);

	if (n >= 0) {
		unsigned first = 0;
		while (first < (unsigned)n && words[first].col < args[REST].col)
			first++;
		l.w = words + first;
		l.n = (unsigned)n - first;
		rc = sequence_parse(&l, &own);
		if (rc >= 0)
			rc = write_all(&l, &args[PORTS].target, &ports,
				       (unsigned)args[SLOT].v.u + 1, &own);
	}
	free(buf);
	if (rc < 0 && e != NULL)
		*e = own;
	return rc < 0 ? rc : 0;
}

static const struct arg_spec args_sequence[] = {
	[SLOT] = {ARG_VALUE, "N", 0, {&vt_uint, 0, CTL_MAX_STREAMS - 2}},
	[PORTS] = {ARG_TARGETS, "ports", ARG_NEW},
	[REST] = {ARG_REST,
		  "DMAC SMAC DIP SIP/LEN SPORT DPORT ipv4|ipv6 udp|tcp|icmp VLAN SIZE [TEID]"},
	{ARG_END},
};

const struct verb verb_sequence = {
	.name = "sequence",
	.alias = "seq",
	.args = args_sequence,
	.run = sequence_run,
	.help = "Write slot N of Pktgen's sequence, which is stream N + 1 of the ports.\n"
		"`set <ports> seq_cnt K` puts the first K slots to use.\n"
		"seq N P DMAC SMAC DIP SIP/LEN SPORT DPORT ipv4|ipv6 udp|tcp|icmp VLAN SIZE [TEID]\n"
		"seq N P dst DMAC src SMAC dst DIP src SIP sport V dport V ipv4|ipv6 udp|tcp|icmp vlan V size V [teid V]\n"
		"seq N P cos C tos T\n"
		"seq N P vxlan FLAGS gid G vid V\n"
		"seq N P tcp flags LIST\n"
		"A slot that is not there is made, with the tags and tunnels of stream 0. The VLAN id counts while\n"
		"`enable <ports> vlan` is on. A TEID other than 0 puts gtpu behind udp. The mask of the source address has no effect.",
};
