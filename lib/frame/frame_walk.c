/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks through the headers of bytes by the bindings, sections and roles of the protocol table. */
#include "frame_probe.h"
#include "frame_walk.h"

#include <string.h>

/* How surely a binding tells that its header follows. The lowest rank wins. */
enum rank { RANK_PEEK, RANK_VALUE, RANK_LEN, RANK_ALWAYS, RANK_NONE };

static enum rank rank_of(const struct proto *lower, const struct bind *b, const uint8_t *hdr,
			 const uint8_t *next, unsigned left)
{
	const struct field *f = proto_bind_field(lower, b);

	if (strcmp(b->lower, lower->name) != 0)
		return RANK_NONE;
	if (b->peek_mask != 0 && (left == 0 || (next[0] & b->peek_mask) != b->peek))
		return RANK_NONE;
	if (f == NULL)
		return RANK_ALWAYS;
	uint64_t v = proto_get_u64(f, hdr);
	if (b->is_len)
		return v <= b->value ? RANK_LEN : RANK_NONE;
	if (v != b->value ||
	    (b->also != NULL && proto_get_u64(proto_field(lower, b->also), hdr) != v))
		return RANK_NONE;
	return b->peek_mask != 0 ? RANK_PEEK : RANK_VALUE;
}

/* True if a probe seems to be here. Random bytes look like one by chance once in 65535 times. */
static bool is_probe(const uint8_t *at, unsigned left)
{
	uint64_t hi = 0, lo = 0;

	for (unsigned i = 0; i < 8 && left >= PROBE_LEN; i++) {
		hi = hi << 8 | at[i];
		lo = lo << 8 | at[i + 8];
	}
	return left >= PROBE_LEN && probe_right(hi, lo);
}

static const struct proto *next_proto(const struct proto *lower, const uint8_t *hdr,
				      const uint8_t *next, unsigned left, const struct bind **by)
{
	const struct proto *found = NULL;
	enum rank best = RANK_NONE, payload = RANK_NONE;

	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		for (const struct bind *b = (*p)->binds; b->lower != NULL; b++) {
			enum rank r = rank_of(lower, b, hdr, next, left);
			if ((*p)->is_payload) {
				payload = r < payload ? r : payload;
			} else if (r < best) {
				best = r;
				found = *p;
				*by = b;
			}
		}
	}
	/* a probe is looked for where a header is only guessed, or payload is as likely */
	if ((best == RANK_NONE || best == RANK_PEEK || payload <= best) && lower != &proto_probe &&
	    is_probe(next, left)) {
		*by = NULL;
		return &proto_probe;
	}
	return found;
}

static uint64_t default_number(const struct proto *p, const struct field *f)
{
	uint8_t v[VT_FIELD_BYTES];
	uint64_t x = 0;

	proto_default(p, f, v);
	for (unsigned i = VT_FIELD_BYTES - 8; i < VT_FIELD_BYTES; i++)
		x = x << 8 | v[i];
	return x;
}

/* The header that is being read, and what it says of lengths and of what follows it. */
struct reading {
	struct layout *l;
	const uint8_t *bytes;
	unsigned i, hlen, end;
	bool more; /* it is a fragment, and others follow */
	bool stop; /* what follows cannot be read as a header */
	enum verdict verdict;
};

static void walk_stop(struct reading *r, enum verdict why)
{
	r->verdict = why;
	r->stop = true;
}

static void read_field(struct reading *r, const struct field *f)
{
	const struct proto *p = r->l->h[r->i].proto;
	unsigned off = r->l->h[r->i].off;
	uint64_t v = f->bits <= 64 ? layout_get_u64(r->l, r->bytes, r->i, f) : 0;
	uint64_t bytes = v * (f->len_unit != 0 ? f->len_unit : 1) + (uint64_t)f->len_from;

	switch (f->role) {
	case ROLE_VERSION:
		if (v != default_number(p, f))
			walk_stop(r, HDR_VERSION);
		break;
	case ROLE_HLEN:
		if (bytes < p->len || bytes > r->end - off)
			walk_stop(r, bytes < p->len ? HDR_LENGTH : HDR_CUT);
		else
			r->hlen = (unsigned)bytes;
		break;
	case ROLE_LEN:
		if (bytes < r->hlen)
			walk_stop(r, HDR_LENGTH);
		else if (bytes > r->end - off)
			r->verdict = HDR_CUT;
		else
			r->end = off + (unsigned)bytes;
		break;
	case ROLE_MORE:
		r->more = (v & 1) != 0;
		break;
	case ROLE_FRAG:
		r->stop |= v != 0;
		break;
	default:
		break;
	}
}

static bool walk_holds(const struct reading *r, const struct cond *c)
{
	if (c->field == NULL)
		return true;
	const struct field *f = proto_field(r->l->h[r->i].proto, c->field);
	return layout_field(r->l, r->i, f) >= 0 &&
	       cond_has(c, layout_get_u64(r->l, r->bytes, r->i, f));
}

static void add_section(struct reading *r, const struct section *section, unsigned off,
			unsigned len)
{
	struct layout *l = r->l;

	if (l->nsections == FRAME_MAX_SECTIONS)
		return;
	l->section[l->nsections++] = (struct layout_section){section, off, len};
	l->h[r->i].nsections++;
}

static bool has_section(const struct reading *r, const struct section *section)
{
	const struct layout *l = r->l;

	for (unsigned k = l->h[r->i].section; k < l->h[r->i].section + l->h[r->i].nsections; k++)
		if (l->section[k].section == section)
			return true;
	return false;
}

static const struct field *bytes_field(const struct proto *p, const struct section *section)
{
	for (const struct field *f = p->fields; f->name != NULL; f++)
		if (f->section == section && f->kind == FIELD_BYTES)
			return f;
	return NULL;
}

/* Length of a section's FIELD_BYTES field, whose section has been added with none: as many bytes as
 * a field counts, or all that is left. */
static unsigned bytes_left(const struct reading *r, const struct field *bytes, unsigned left)
{
	const struct proto *p = r->l->h[r->i].proto;

	for (const struct field *f = p->fields; f->name != NULL && proto_role(p, ROLE_HLEN) == NULL;
	     f++) {
		if (f->role != ROLE_COUNT || !proto_of_has(f, bytes->name) ||
		    layout_field(r->l, r->i, f) < 0)
			continue;
		int64_t units = (int64_t)layout_get_u64(r->l, r->bytes, r->i, f) - f->len_from;
		uint64_t n = units > 0 ? (uint64_t)units * (f->len_unit != 0 ? f->len_unit : 1) : 0;
		return n < left ? (unsigned)n : left;
	}
	return left;
}

/* True if the section is in this header, which has so many bytes left for it. */
static bool section_seen(const struct reading *r, const struct section *section, unsigned left)
{
	if (!walk_holds(r, &section->when))
		return false;
	if (!section->optional)
		return true;
	if (section->seen[0].field == NULL)
		return left > 0 && left >= section->len;
	for (unsigned k = 0; k < ARRAY_SIZE(section->seen); k++)
		if (section->seen[k].field != NULL && walk_holds(r, &section->seen[k]))
			return true;
	return false;
}

/* The section whose FIELD_BYTES field holds the options that the table does not know, or NULL. */
static const struct section *raw_options(const struct proto *p)
{
	for (const struct section *section = p->sections; section != NULL && section->name != NULL;
	     section++)
		if (p->options != OPTIONS_NONE && !section->option &&
		    bytes_field(p, section) != NULL)
			return section;
	return NULL;
}

/* Adds the sections that are no options. Returns where they end. */
static unsigned read_sections(struct reading *r, unsigned at, unsigned limit)
{
	const struct proto *p = r->l->h[r->i].proto;
	const struct section *raw = raw_options(p);

	for (const struct section *section = p->sections; section != NULL && section->name != NULL;
	     section++) {
		if (section->option || section == raw || !section_seen(r, section, limit - at))
			continue;
		if (section->len > limit - at) {
			walk_stop(r, HDR_CUT);
			break;
		}
		const struct field *bytes = bytes_field(p, section);
		add_section(r, section, at, section->len);
		unsigned more = bytes != NULL ? bytes_left(r, bytes, limit - at - section->len) : 0;
		if (has_section(r, section))
			r->l->section[r->l->nsections - 1].len += more;
		at += section->len + more;
	}
	return at;
}

/* Length of the option at p; 0: no further option can be read. */
static unsigned option_len(enum proto_options how, const uint8_t *p, unsigned left)
{
	unsigned n;

	if (how == OPTIONS_IP && p[0] == 0)
		return 0;
	if ((how == OPTIONS_IP && p[0] == 1) || (how == OPTIONS_IP6 && p[0] == 0))
		return 1;
	if (left < 2)
		return 0;
	n = how == OPTIONS_ND ? p[1] * 8u : how == OPTIONS_IP6 ? p[1] + 2u : p[1];
	return n < 2 || n > left ? 0 : n;
}

static bool is_padding(enum proto_options how, const uint8_t *p)
{
	return how == OPTIONS_IP ? p[0] <= 1 : how == OPTIONS_IP6 && p[0] <= 1;
}

/* Known options become sections, up to the first one that the table does not know. From there to
 * the last option all is raw bytes, so that a frame that is built from what was read is the
 * same. */
static void read_options(struct reading *r, unsigned at, unsigned limit)
{
	const struct proto *p = r->l->h[r->i].proto;
	const struct section *raw = raw_options(p);
	unsigned from = 0, to = 0, n;

	for (; at < limit; at += n) {
		const uint8_t *o = r->bytes + at;
		const struct section *known = NULL;
		n = option_len(p->options, o, limit - at);
		if (n == 0) {
			/* A list without mistakes ends with padding. */
			if (o[0] != 0 || p->options != OPTIONS_IP) {
				from = from != 0 ? from : at;
				to = limit;
			}
			break;
		}
		for (const struct section *section = p->sections;
		     section->name != NULL && from == 0; section++)
			if (section->option && section->head[0] == o[0] && section->len == n &&
			    walk_holds(r, &section->when) && !has_section(r, section))
				known = section;
		if (known != NULL) {
			add_section(r, known, at, n);
		} else if (!is_padding(p->options, o)) {
			from = from != 0 ? from : at;
			to = at + n;
		}
	}
	if (raw != NULL && to > from)
		add_section(r, raw, from, to - from);
}

static void read_header(struct reading *r)
{
	struct layout *l = r->l;
	const struct proto *p = l->h[r->i].proto;
	unsigned off = l->h[r->i].off;
	const struct section *raw = raw_options(p);

	for (const struct field *f = p->fields; f->name != NULL; f++)
		if (!r->stop && f->section == NULL && f->bits != 0)
			read_field(r, f);
	bool cut = r->stop && r->verdict != HDR_GOOD, fixed = proto_role(p, ROLE_HLEN) != NULL;
	if (!cut) {
		unsigned limit = fixed ? off + r->hlen : r->end;
		unsigned at =
			p->sections != NULL ? read_sections(r, off + p->len, limit) : off + p->len;
		if (raw != NULL && r->verdict != HDR_CUT && walk_holds(r, &raw->when)) {
			read_options(r, at, limit);
			at = limit;
		}
		if (!fixed)
			r->hlen = at - off;
	}
	l->h[r->i].hlen = r->hlen;
	if (!cut && p->closed && walk_holds(r, &p->closed_when))
		r->end = off + r->hlen;
	l->h[r->i].end = r->end;
}

/* Reads the length that stands in place of an EtherType. */
static void read_len(struct reading *r, const struct bind *by)
{
	const struct proto *p = r->l->h[r->i].proto;
	unsigned next = r->l->h[r->i].off + r->hlen;
	uint64_t v = layout_get_u64(r->l, r->bytes, r->i, proto_bind_field(p, by));

	if (v > r->end - next)
		r->verdict = HDR_CUT;
	else
		r->end = next + (unsigned)v;
}

void frame_walk(const uint8_t *bytes, unsigned len, struct walk *w)
{
	const struct proto *p = NULL;
	const struct bind *by = NULL;
	unsigned off = 0, end = len;
	bool unsure = false;

	memset(w, 0, sizeof(*w));
	for (const struct proto *const *t = proto_table; *t != NULL && p == NULL; t++)
		if ((*t)->starts)
			p = *t;
	while (p != NULL && w->l.n < FRAME_MAX_HDRS && end - off >= p->len) {
		unsigned i = w->l.n++;
		struct reading r = {.l = &w->l, .bytes = bytes, .i = i, .hlen = p->len, .end = end};

		w->l.h[i].proto = p;
		w->l.h[i].off = off;
		w->l.h[i].section = (uint16_t)w->l.nsections;
		read_header(&r);
		const uint8_t *hdr = bytes + off;
		off += r.hlen;
		p = r.stop ? NULL : next_proto(p, hdr, bytes + off, r.end - off, &by);
		if (p != NULL && by != NULL && by->is_len)
			read_len(&r, by);
		end = r.end;
		unsure |= r.verdict != HDR_GOOD;
		w->l.h[i].end = end;
		w->verdict[i] = r.verdict;
		w->unsure[i] = unsure;
		unsure |= r.more;
	}
	w->l.tail = off;
	w->payload = off;
	w->padding = end;
	w->len = len;
}

const char *verdict_text(enum verdict v)
{
	static const char *const text[] = {
		[HDR_GOOD] = NULL,
		[HDR_VERSION] = "unknown version",
		[HDR_LENGTH] = "length below the header's own",
		[HDR_CUT] = "length beyond the frame",
	};

	return text[v];
}

enum sum_state frame_sum_state(const struct walk *w, const uint8_t *bytes, unsigned i,
			       const struct field *f)
{
	struct frame_sum s;

	if (!layout_sum(&w->l, bytes, i, f, &s))
		return SUM_NO_FIELD;
	if (w->len > UINT16_MAX || (f->role != ROLE_SUM_HDR && w->unsure[i]) || s.to < s.off + 2u ||
	    (f->zero_is_none && layout_get_u64(&w->l, bytes, i, f) == 0))
		return SUM_UNKNOWN;
	return frame_sum_good(&s, bytes) ? SUM_GOOD : SUM_BAD;
}
