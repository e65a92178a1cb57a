/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "out.h"

#define PAGE(name) extern const struct page page_##name;
#include "page_list.h"
#undef PAGE

#define PAGE(name) &page_##name,
const struct page *const pages[] = {
#include "page_list.h"
	NULL,
};
#undef PAGE

/* Returns true when word is an element of a comma separated list or, with `prefix`, the beginning
 * of one. */
static bool in_list(const char *list, const char *word, bool prefix)
{
	size_t len = strlen(word);

	for (const char *p = list; p != NULL && *p != '\0'; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");
		if (n >= len && (prefix || n == len) && strncasecmp(p, word, len) == 0)
			return true;
		p += n;
	}
	return false;
}

static const struct page *page_of(const char *word, bool prefix, unsigned *n)
{
	const struct page *found = NULL;

	*n = 0;
	for (unsigned i = 0; pages[i] != NULL; i++) {
		if (!in_list(pages[i]->name, word, prefix) &&
		    !in_list(pages[i]->alias, word, prefix))
			continue;
		found = pages[i];
		(*n)++;
	}
	return found;
}

/* Pages that do not exist yet, and the feature that each will come with. */
static const struct later_page {
	const char *name, *with;
} later_pages[] = {
	{"pcap", "replay of capture files"},
};

static const struct later_page *later_find(const char *word)
{
	for (unsigned i = 0; i < ARRAY_SIZE(later_pages) && word[0] != '\0'; i++)
		if (in_list(later_pages[i].name, word, true))
			return &later_pages[i];
	return NULL;
}

const struct page *page_find(const char *name, struct err *e)
{
	const struct page *p;
	unsigned n;

	p = page_of(name, false, &n);
	if (n == 1)
		return p;
	p = name[0] != '\0' ? page_of(name, true, &n) : NULL;
	if (p != NULL && n == 1)
		return p;
	const struct later_page *later = n == 0 ? later_find(name) : NULL;
	if (later != NULL) {
		err_set(e, EINVAL, "page '%s' comes with %s, which is not in this version",
			later->name, later->with);
		return NULL;
	}
	struct sbuf known = {0};
	for (unsigned i = 0; pages[i] != NULL; i++)
		if (n == 0 || in_list(pages[i]->name, name, true) ||
		    in_list(pages[i]->alias, name, true))
			sbuf_addf(&known, "%s%s", known.len > 0 ? ", " : "", pages[i]->name);
	if (n == 0)
		err_set(e, EINVAL, "there is no page '%s'; pages are: %s", name, sbuf_str(&known));
	else
		err_set(e, EINVAL, "'%s' is more than one page: %s", name, sbuf_str(&known));
	sbuf_free(&known);
	return NULL;
}

void page_parts(const struct page *page, unsigned port, unsigned stream, struct sbuf *out)
{
	for (const char *p = page->parts; *p != '\0'; p++) {
		if (*p == '@')
			sbuf_addf(out, "%u", port);
		else if (*p == '#')
			sbuf_addf(out, "%u", stream);
		else
			sbuf_addc(out, *p);
	}
	sbuf_add(out, ",head");
}

/* Puts text into the head line and moves *col two columns behind it. Text is cut at the line's
 * end. */
static void head_add(struct grid *g, int *col, enum role role, const char *fmt, ...)
	WR_PRINTF(4, 5);
static void head_add(struct grid *g, int *col, enum role role, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (*col < g->cols)
		*col += grid_left(g, 0, *col, g->cols - *col, role, text) + 2;
}

#define TEXT_MOST 48

/* A text that stands behind the ports in the head line. */
struct told {
	char text[TEXT_MOST];
	enum role role;
	int rank; /* as for page_fit() */
};

/* Appends a time as "0:07", "12:00" or "3:00:00". */
static void put_clock(double ns, struct sbuf *out)
{
	uint64_t s = ns < 1e18 ? (uint64_t)(ns / 1e9) : 1000000000;

	if (s >= 3600)
		sbuf_addf(out, "%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
			  (unsigned)(s % 60));
	else
		sbuf_addf(out, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

/* Adds a text to the list t, and empties the buffer. */
static void ui_tell(struct told *t, unsigned *n, enum role role, int rank, struct sbuf *text)
{
	struct told *to = &t[(*n)++];

	*to = (struct told){.role = role, .rank = rank};
	snprintf(to->text, sizeof(to->text), "%s", sbuf_str(text));
	sbuf_reset(text);
}

/* Tells how long the ports have been sending and how long they still will, or how long they sent
 * last. */
static void tell_time(const json_t *snap, const json_t **port, unsigned nports, struct told *t,
		      unsigned *n, struct sbuf *b)
{
	double gone[2] = {0}, left = page_num(snap, "head.left_ns", -1);

	for (unsigned i = 0; i < nports; i++) {
		bool sends = page_sends(port[i]);
		double ns = page_num(port[i], "run.duration_ns", 0);
		gone[sends] = ns > gone[sends] ? ns : gone[sends];
	}
	if (gone[true] > 0 || gone[false] > 0) {
		sbuf_add(b, gone[true] > 0 ? "sending " : "sent ");
		put_clock(gone[gone[true] > 0], b);
		ui_tell(t, n, ROLE_TOP_SPINNER, 3, b);
	}
	if (gone[true] > 0 && left >= 0) {
		sbuf_add(b, "left ");
		put_clock(left, b);
		ui_tell(t, n, ROLE_TOP_SPINNER, 4, b);
	}
}

/* Tells how many frames were lost in this machine or came damaged, on all ports together. */
static void tell_errors(const json_t **port, unsigned nports, struct told *t, unsigned *n,
			struct sbuf *b)
{
	static const char *const keys[] = {"rx.errors", "rx.missed",  "rx.nombuf",
					   "tx.errors", "tx.dropped", "tx.nombuf"};
	double sum = NAN;

	for (unsigned i = 0; i < nports; i++)
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			double v = page_num(port[i], keys[k], NAN);
			if (isfinite(v))
				sum = isfinite(sum) ? sum + v : v;
		}
	if (isnan(sum))
		return;
	sbuf_add(b, sum > 0 ? "errors " : "no errors");
	if (sum > 0)
		out_si_digits(sum, 4, b);
	ui_tell(t, n, sum > 0 ? ROLE_WARN : ROLE_ZERO, sum > 0 ? 1 : 5, b);
}

/* Puts as many of the texts as there is room for from col on, and the program's name at the end. */
static void head_rest(const json_t *snap, const json_t **port, unsigned nports, struct grid *g,
		      int col)
{
	const char *verdict = page_str(snap, "head.verdict", NULL);
	struct told t[6];
	int size[ARRAY_SIZE(t)], rank[ARRAY_SIZE(t)], at[ARRAY_SIZE(t)];
	struct sbuf b = {0};
	unsigned n = 0;

	tell_time(snap, port, nports, t, &n, &b);
	tell_errors(port, nports, t, &n, &b);
	if (verdict != NULL) {
		bool valid = strcmp(verdict, "valid") == 0;
		sbuf_addf(&b, "trial %s", verdict);
		ui_tell(t, &n, valid ? ROLE_GOOD : ROLE_WARN, valid ? 6 : 2, &b);
	}
	sbuf_add(&b, "wirerate");
	ui_tell(t, &n, ROLE_TOP_COPYRIGHT, 7, &b);
	for (unsigned i = 0; i < n; i++) {
		size[i] = grid_width(t[i].text);
		rank[i] = t[i].rank;
	}
	page_fit(size, rank, n, 2, g->cols - col, at);
	for (unsigned i = 0; i < n; i++) {
		if (at[i] < 0)
			continue;
		if (i + 1 == n)
			grid_right(g, 0, col + at[i], g->cols - col - at[i], t[i].role, t[i].text);
		else
			grid_put(g, 0, col + at[i], -1, t[i].role, t[i].text);
	}
	sbuf_free(&b);
}

static void ui_head(const struct page *page, const struct page_in *in, struct grid *g,
		    const struct page_out *o)
{
	unsigned n, at = page_first(in, o->of), first = 0, last = 0;
	const json_t **port = page_ports(in->snap, &n);
	int col = 2;

	if (o->shown > 0 && at + o->shown <= n) {
		first = (unsigned)page_int(port[at], "port", 0);
		last = (unsigned)page_int(port[at + o->shown - 1], "port", 0);
	}
	if (g->rows == 0) {
		free(port);
		return;
	}
	grid_fill(g, 0, 0, 1, ROLE_TOP_SPINNER, (wchar_t) "-\\|/"[in->spin % 4]);
	head_add(g, &col, ROLE_TOP_PAGE, "<%s>", page->name);
	if (page->one_port)
		head_add(g, &col, ROLE_TOP_PORTS, "port %u", in->port);
	else if (o->all > o->rows && o->top > 0)
		; /* where a list is scrolled, its rows say which ports they are of */
	else if (o->shown == 1 && o->of > 1)
		head_add(g, &col, ROLE_TOP_PORTS, "port %u of %u", first, o->of);
	else if (o->shown > 0 && o->shown < o->of)
		head_add(g, &col, ROLE_TOP_PORTS, "ports %u-%u of %u", first, last, o->of);
	else if (o->of > 0)
		head_add(g, &col, ROLE_TOP_PORTS, "%u port%s", o->of, o->of == 1 ? "" : "s");
	if (o->all > o->rows)
		head_add(g, &col, ROLE_TOP_PORTS, "rows %u-%u of %u", o->top + 1, o->top + o->rows,
			 o->all);
	head_rest(in->snap, port, n, g, col);
	free(port);
}

void page_draw(const struct page *page, const struct page_in *in, struct grid *g,
	       struct page_out *out)
{
	struct page_in shown = *in;
	struct grid body;

	*out = (struct page_out){0};
	grid_init(&body, g->rows - 1, g->cols);
	page->draw(in, &body, out);
	if (in->first > 0 && out->of > 0) {
		/* Once there is room for all ports, all are shown, and none stays out of sight
		 * before the first. */
		struct page_in all = *in;
		struct page_out o = {0};
		struct grid whole;
		all.first = 0;
		grid_init(&whole, g->rows - 1, g->cols);
		page->draw(&all, &whole, &o);
		if (o.shown == o.of && o.rows == o.all) {
			struct grid other = body;
			body = whole;
			whole = other;
			shown = all;
			*out = o;
		}
		grid_free(&whole);
	}
	for (int r = 0; r < body.rows; r++)
		memcpy(grid_at(g, r + 1, 0), grid_at(&body, r, 0),
		       (size_t)g->cols * sizeof(*g->cell));
	grid_free(&body);
	ui_head(page, &shown, g, out);
}

const json_t **page_ports(const json_t *snap, unsigned *n)
{
	const json_t *list = json_object_get(snap, "ports"), *port;
	const json_t **all = xcalloc(json_array_size(list) + 1, sizeof(*all));
	size_t i;

	*n = 0;
	json_array_foreach(list, i, port)
		if (json_is_object(port) && !json_is_false(json_object_get(port, "used")))
			all[(*n)++] = port;
	return all;
}

const json_t *page_by(const json_t *list, const char *key, unsigned number)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const json_t *v = json_object_get(item, key);
		if (json_is_integer(v) && json_integer_value(v) == number)
			return item;
	}
	return NULL;
}

const json_t *page_port(const json_t *snap, unsigned port)
{
	return page_by(json_object_get(snap, "ports"), "port", port);
}

double page_num(const json_t *obj, const char *path, double missing)
{
	const json_t *v = out_get(obj, path);

	return json_is_number(v) ? json_number_value(v) : missing;
}

int page_int(const json_t *obj, const char *path, int missing)
{
	double v = page_num(obj, path, missing);

	return v >= INT_MIN && v <= INT_MAX ? (int)v : missing;
}

bool page_link_lost(const json_t *port)
{
	const char *link = page_str(port, "link", "");

	return strcmp(link, "down") == 0 || strcmp(link, "deleted") == 0;
}

bool page_sends(const json_t *port)
{
	return strcmp(page_str(port, "run.state", "idle"), "idle") != 0;
}

const char *page_str(const json_t *obj, const char *path, const char *missing)
{
	const json_t *v = out_get(obj, path);

	return json_is_string(v) ? json_string_value(v) : missing;
}

unsigned page_first(const struct page_in *in, unsigned n)
{
	return in->first < n ? in->first : 0;
}

void page_list(const struct page_in *in, unsigned all, int room, struct page_out *out)
{
	out->all = all;
	out->rows = room <= 0 ? 0 : (unsigned)room < all ? (unsigned)room : all;
	out->top = in->top < all - out->rows ? in->top : all - out->rows;
}

void page_port_name(const json_t *port, const struct page_in *in, int width, struct sbuf *out)
{
	double number = page_num(port, "port", 0);
	const char *name = page_str(port, "name", "-");
	size_t before = out->len;

	sbuf_addf(out, "%s%.0f:", number == in->port ? ">" : "", number);
	int room = width - grid_width(sbuf_str(out) + before);
	if (grid_width(name) > room) {
		while (*name != '\0' && grid_width(name) > room - 1)
			for (name++; ((unsigned char)*name & 0xc0) == 0x80; name++)
				;
		sbuf_addc(out, '~');
	}
	sbuf_add(out, name);
}

void page_fit(const int *size, const int *rank, unsigned n, int gap, int room, int *at)
{
	int64_t sum = 0, place = 0;
	unsigned left = n;

	for (unsigned i = 0; i < n; i++) {
		at[i] = 0;
		sum += size[i];
	}
	for (; left > 0 && sum + (int64_t)gap * (left - 1) > room; left--) {
		unsigned worst = n;
		for (unsigned i = 0; i < n; i++)
			if (at[i] == 0 && rank[i] > 0 && (worst == n || rank[i] >= rank[worst]))
				worst = i;
		if (worst == n)
			break;
		at[worst] = -1;
		sum -= size[worst];
	}
	for (unsigned i = 0; i < n; i++) {
		if (at[i] < 0)
			continue;
		at[i] = (int)place;
		place += size[i] + gap;
	}
}

#define DIGITS 4

static void put_figure(struct grid *g, int row, int col, int width, enum role role, double v,
		       void (*text)(double v, int digits, struct sbuf *out))
{
	struct sbuf b = {0};

	if (!(v < 0 || v > 0) && role != ROLE_WARN)
		role = ROLE_ZERO;
	for (int digits = DIGITS; digits > 0; digits--) {
		sbuf_reset(&b);
		text(v, digits, &b);
		if (grid_width(sbuf_str(&b)) <= width)
			break;
	}
	grid_right(g, row, col, width, role,
		   grid_width(sbuf_str(&b)) <= width ? sbuf_str(&b) : "~");
	sbuf_free(&b);
}

void page_put_si(struct grid *g, int row, int col, int width, enum role role, double v)
{
	put_figure(g, row, col, width, role, v, out_si_digits);
}

void page_put_ns(struct grid *g, int row, int col, int width, enum role role, double ns)
{
	put_figure(g, row, col, width, role, ns, out_ns_digits);
}

void page_put_share(struct grid *g, int row, int col, int width, enum role role, double share)
{
	put_figure(g, row, col, width, role, share, out_share_digits);
}

void page_pair(double a, const char *word, const char *sep, double b, int width, struct sbuf *out)
{
	for (int digits = DIGITS; digits > 0; digits--) {
		sbuf_reset(out);
		if (word != NULL)
			sbuf_add(out, word);
		else
			out_si_digits(a, digits, out);
		sbuf_add(out, sep);
		out_si_digits(b, digits, out);
		if (grid_width(sbuf_str(out)) <= width)
			return;
	}
	sbuf_reset(out);
	sbuf_addc(out, '~');
}

/* Returns true when the word in these columns is a figure that is 0 or not known. */
static bool is_quiet(const struct grid *g, int row, int col, int end)
{
	const struct grid_cell *c = &g->cell[row * g->cols + col];
	bool zero = end > col && c[0].ch == L'0';

	for (int i = 0; i < end - col; i++)
		zero &= c[i].ch == L'0' || c[i].ch == L'.' || c[i].ch == L'%';
	return zero || (end == col + 1 && c[0].ch == L'-');
}

void page_quiet(struct grid *g, int row, int col, int width)
{
	int stop = col + width < g->cols ? col + width : g->cols;

	for (int from = col, to; row >= 0 && row < g->rows && from >= 0 && from < stop;
	     from = to + 1) {
		for (to = from; to < stop && grid_at(g, row, to)->ch != L' ' &&
				grid_at(g, row, to)->ch != L'/';
		     to++)
			;
		if (!is_quiet(g, row, from, to))
			continue;
		for (int c = from; c < to; c++)
			grid_at(g, row, c)->role = ROLE_ZERO;
		if (from > col && grid_at(g, row, from - 1)->ch == L'/')
			grid_at(g, row, from - 1)->role = ROLE_ZERO;
		if (to < stop && grid_at(g, row, to)->ch == L'/')
			grid_at(g, row, to)->role = ROLE_ZERO;
	}
}

void page_put_count(struct grid *g, int row, int col, int width, enum role role, const json_t *v)
{
	struct sbuf b = {0};

	if (!json_is_number(v) || json_number_value(v) == 0)
		role = ROLE_ZERO;
	out_cell(v, OF_COUNT, &b);
	if (json_is_number(v) && grid_width(sbuf_str(&b)) > width)
		page_put_si(g, row, col, width, role, json_number_value(v));
	else
		grid_right(g, row, col, width, role, sbuf_str(&b));
	sbuf_free(&b);
}
