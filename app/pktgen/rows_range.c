/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of Pktgen's ranges: range.dst-port and so on, one for each word of the table in held.h.
 * They are not in use until the row `ranges` is on. */
#include "set/rows.h"

#include <errno.h>
#include <string.h>

#include "held.h"
#include "pktgen.h"

/* The value of a row: start, min, max and inc, or some of them. */
struct held_val {
	uint8_t mask; /* a bit for each value that is given */
	uint8_t v[4][VT_FIELD_BYTES];
};
#define ALL_FOUR 15

static struct setting *rows;
static struct vspec (*specs)[2]; /* for each word: of start, min and max; of inc */

static const struct {
	const char *word;
	unsigned which;
} parts[] = {
	{"start", RANGE_START}, {"min", RANGE_MIN}, {"minimum", RANGE_MIN},   {"max", RANGE_MAX},
	{"maximum", RANGE_MAX}, {"inc", RANGE_INC}, {"increment", RANGE_INC},
};

/* Parses one word of text by of[0], or for an increment by of[1]. */
static int parse_one(const struct vspec *of, bool inc, const char *text, size_t len,
		     uint8_t v[VT_FIELD_BYTES], struct err *e)
{
	struct vspec number = {.type = &vt_fuint, .bits = of[0].bits};
	char word[64];
	int choice = 0;

	if (len >= sizeof(word))
		return vspec_fail(&of[inc], EINVAL, 0, e, text, "is no value");
	memcpy(word, text, len);
	word[len] = '\0';
	if (of->type == &vt_enum) {
		int rc = vt_enum.parse(of, word, &choice, e);
		v[VT_FIELD_BYTES - 1] = (uint8_t)choice;
		return rc;
	}
	/* An increment of an address may be a plain number. */
	if (inc && of->type != &vt_fuint && number.type->parse(&number, word, v, NULL) == 0)
		return 0;
	return of[inc].type->parse(&of[inc], word, v, e);
}

/* Returns whether the word has one value and not four. */
static bool is_single(const struct vspec *of)
{
	return of->type == &vt_enum || of->type == &vt_fflags;
}

/* Returns which of the four values the word names (RANGE_START and so on), -1: none. */
static int part_of(const char *word, size_t len)
{
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++)
		if (strlen(parts[i].word) == len && strncmp(parts[i].word, word, len) == 0)
			return (int)parts[i].which;
	return -1;
}

static int held_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct held_val val = {0};
	unsigned n = 0, want = is_single(s->of) ? 1 : 4;
	const char *p = text;
	int which = -1;

	for (;; n++) {
		p += strspn(p, " ");
		size_t len = strcspn(p, " ");
		if (len == 0)
			break;
		if (n == 0 && which < 0 && want == 4 && (which = part_of(p, len)) >= 0) {
			want = 1;
			p += len + strspn(p + len, " ");
			len = strcspn(p, " ");
			if (len == 0)
				break;
		}
		if (n == want)
			return vspec_fail(s, EINVAL, (int)(p - text), e, text,
					  "has more than %u value%s", want, want == 1 ? "" : "s");
		unsigned at = which >= 0 ? (unsigned)which : n;
		int rc = parse_one(s->of, at == RANGE_INC, p, len, val.v[at], e);
		if (rc < 0) {
			if (e != NULL)
				e->col = (int)(p - text) + (e->col > 0 ? e->col : 0);
			return rc;
		}
		val.mask |= (uint8_t)(1u << at);
		p += len;
	}
	if (n < want)
		return vspec_fail(s, EINVAL, (int)strlen(text), e, text, "has %u of %u values", n,
				  want);
	memcpy(out, &val, sizeof(val));
	return 0;
}

static void held_vprint(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct held_val *val = v;
	unsigned n = is_single(s->of) ? 1 : 4;
	const char *sep = "";

	for (unsigned i = 0; i < n; i++) {
		if ((val->mask >> i & 1) == 0)
			continue;
		sbuf_add(out, sep);
		if (n == 4 && val->mask != ALL_FOUR)
			sbuf_addf(out, "%s ",
				  i == RANGE_START ? "start"
				  : i == RANGE_MIN ? "min"
				  : i == RANGE_MAX ? "max"
						   : "inc");
		if (s->of->type == &vt_enum)
			sbuf_add(out, s->of->choices[val->v[i][VT_FIELD_BYTES - 1]]);
		else
			s->of[i == RANGE_INC].type->print(&s->of[i == RANGE_INC], val->v[i], out);
		sep = " ";
	}
}

static void held_vallowed(const struct vspec *s, struct sbuf *out)
{
	if (!is_single(s->of))
		sbuf_add(out, "START MIN MAX INC, or start|min|max|inc V; V: ");
	vspec_allowed(s->of, out);
}

static void held_vcomplete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *arg, const char *word), void *arg)
{
	if (is_single(s->of)) {
		s->of->type->complete(s->of, prefix, offer, arg);
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++)
		if (strncmp(parts[i].word, prefix, strlen(prefix)) == 0)
			offer(arg, parts[i].word);
}

static const struct vtype vt_held = {
	.name = "range",
	.syntax = "START MIN MAX INC",
	.size = sizeof(struct held_val),
	.parse = held_vparse,
	.print = held_vprint,
	.complete = held_vcomplete,
	.allowed = held_vallowed,
};

/* The type of rows that have one value. */
static const struct vtype vt_held_one = {
	.name = "held",
	.syntax = "one value",
	.size = sizeof(struct held_val),
	.parse = held_vparse,
	.print = held_vprint,
	.complete = held_vcomplete,
	.allowed = held_vallowed,
};

static unsigned index_of(const struct setting *row)
{
	return (unsigned)((const struct held_word *)row->arg - held_words);
}

static void held_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	struct stream_cfg *c = obj->cfg;
	const struct held_val *new = val;
	unsigned i = index_of(row);
	uint8_t v[4][VT_FIELD_BYTES];

	held_values(c, i, v);
	for (unsigned k = 0; k < 4; k++)
		if (new->mask >> k & 1)
			memcpy(v[k], new->v[k], VT_FIELD_BYTES);
	memcpy(held_at(c, i)->v, v, sizeof(v));
	held_at(c, i)->set = true;
}

static bool held_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct stream_cfg *c = obj->cfg;
	struct held_val *out = val;
	unsigned i = index_of(row);

	out->mask = ALL_FOUR;
	held_values(c, i, out->v);
	return held_at(c, i)->set;
}

static void held_unset(const struct setting *row, const struct set_obj *obj)
{
	memset(held_at(obj->cfg, index_of(row)), 0, sizeof(struct held_range));
}

static const struct setting_store held_store = {.put = held_put,
						.get = held_get,
						.unset = held_unset};

/* Warns of ranges that cannot be used as they are. While they are not in use nothing is said, so
 * that they can be given in any order. */
static bool held_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct stream_cfg *c = obj->cfg;
	struct frame_spec spec;
	struct sizes sizes = c->sizes;
	struct sbuf unused = {0};

	(void)row;
	if (!c->overlay_on)
		return true;
	if (held_count(c) == 0) {
		err_set(warn, EINVAL,
			"no range is given yet, so all frames stay the same; for example `range %u dst port 1000 1000 1999 1`",
			obj->port);
		return false;
	}
	frame_spec_copy(&spec, &c->frame);
	int rc = held_apply(c, &spec, &sizes, warn);
	frame_spec_free(&spec);
	if (rc == 0 && held_unused(c, &unused) > 0)
		rc = err_set(warn, EINVAL,
			     "not in use, because the frame has no such header: range %s",
			     sbuf_str(&unused));
	sbuf_free(&unused);
	return rc == 0;
}

static const struct setting ranges_row = {
	.name = "ranges",
	.scope = &scope_stream,
	.v = {&vt_bool},
	.dflt = "off",
	.offset = offsetof(struct stream_cfg, overlay_on),
	.check = held_check,
	.help = "whether the ranges (range.dst-port ...) are in use; `enable <ports> range`",
};

bool pktgen_idle(const struct setting *row, const struct set_obj *obj)
{
	return row->store == &held_store && !held_at(obj->cfg, index_of(row))->set;
}

static void make_rows(void)
{
	cfg_overlay_set(&held_overlay);
	rows = xcalloc(held_nwords, sizeof(*rows));
	specs = xcalloc(held_nwords, sizeof(*specs));
	for (unsigned i = 0; i < held_nwords; i++) {
		const struct held_word *w = &held_words[i];
		struct sbuf name = {0}, help = {0};
		held_vspec(w, false, &specs[i][0]);
		held_vspec(w, true, &specs[i][1]);
		sbuf_addf(&name, "range.%s", w->name);
		sbuf_addf(&help, "%s, while ranges are on: `range <ports> %s ...`", w->help,
			  w->words);
		bool one = is_single(specs[i]);
		rows[i] = (struct setting){
			.name = name.s,
			.scope = &scope_stream,
			.v = {.type = one ? &vt_held_one : &vt_held, .of = specs[i]},
			.store = &held_store,
			.dflt = one ? w->dflt[RANGE_START] : NULL,
			.arg = w,
			.check = held_check,
			.help = help.s,
		};
	}
}

void pktgen_range_rows(const struct setting ***all, unsigned *n)
{
	if (rows == NULL)
		make_rows();
	for (unsigned i = 0; i < held_nwords; i++)
		set_add_row(all, n, &rows[i]);
	set_add_row(all, n, &ranges_row);
}
