/* SPDX-License-Identifier: BSD-3-Clause */
#include "scroll.h"

#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#define TAB 8

struct line {
	wchar_t *text;
	unsigned n;
	uint8_t role;
	bool shown;
};

struct scroll {
	struct line *line; /* a ring */
	unsigned max, first, n;
	size_t chars; /* of all lines */
	unsigned long added;
	unsigned back; /* rows between the view and the end */
	bool read;     /* the view stands where the lines since `mark` begin */
	unsigned long mark;
	int rows, cols; /* size of the view when it was drawn last */
};

struct scroll *scroll_new(unsigned max_lines)
{
	struct scroll *s = xcalloc(1, sizeof(*s));

	s->line = xcalloc(max_lines, sizeof(*s->line));
	s->max = max_lines;
	return s;
}

static struct line *line_at(const struct scroll *s, unsigned i)
{
	return &s->line[(s->first + i) % s->max];
}

void scroll_free(struct scroll *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->n; i++)
		free(line_at(s, i)->text);
	free(s->line);
	free(s);
}

int scroll_columns(wchar_t wc)
{
	int n = wcwidth(wc);

	return n >= 0 ? n : iswcntrl((wint_t)wc) ? 2 : 1;
}

/* How one line is broken into rows. */
struct wrap {
	int cols, indent; /* indent: of all rows but the first */
	bool words;       /* words stay whole */
};

/* Returns how a line is broken. Words stay whole, and rows after the first are indented: in a list
 * or table to its last column (which has two or more blanks before it), else to a little right of
 * where the line begins. A typed command, and a line that begins far to the right, are broken
 * anywhere, so that the mark of an error stands below what it means. */
static struct wrap wrap_of(const struct line *l, int cols)
{
	struct wrap w = {.cols = cols};
	unsigned lead = 0, last = 0, i, most = cols > 0 ? (unsigned)cols * 3 / 5 : 0;

	while (lead < l->n && l->text[lead] == L' ')
		lead++;
	w.words = l->role != ROLE_LOG_ECHO && lead < most && cols >= 20;
	if (!w.words)
		return w;
	for (i = lead + 2; i < l->n; i++)
		if (l->text[i] != L' ' && l->text[i - 1] == L' ' && l->text[i - 2] == L' ')
			last = i;
	w.indent = (int)(last > 0 && last <= most ? last : lead + 2);
	return w;
}

/* Returns where the row that begins at `from` ends; *next is where the next one begins. A character
 * that takes no column stays with the one before it. */
static unsigned row_end(const struct line *l, const struct wrap *w, unsigned from, unsigned *next)
{
	int used = 0, room = from > 0 ? w->cols - w->indent : w->cols;
	unsigned i = from, word;

	for (; i < l->n; i++) {
		int n = scroll_columns(l->text[i]);
		if (used + n > room && i > from)
			break;
		used += n;
	}
	*next = i;
	if (i == l->n || !w->words)
		return i;
	for (word = i; word > from && l->text[word] != L' '; word--)
		;
	/* A word that would leave more than half of the row empty is cut instead. */
	if ((int)(i - word) > room / 2)
		return i;
	for (*next = word; *next < l->n && l->text[*next] == L' ';)
		++*next;
	while (word > from && l->text[word - 1] == L' ')
		word--;
	if (word > from)
		return word;
	*next = i;
	return i;
}

static unsigned line_rows(const struct line *l, int cols)
{
	const struct wrap w = wrap_of(l, cols);
	unsigned rows = 0, next = 0;

	do {
		row_end(l, &w, next, &next);
		rows++;
	} while (next < l->n);
	return rows;
}

wchar_t *scroll_wide(const char *text, size_t n, unsigned *len)
{
	wchar_t *out = xcalloc(TAB * n + 1, sizeof(*out));
	mbstate_t mbs = {0};
	unsigned k = 0;

	for (size_t i = 0; i < n;) {
		wchar_t wc;
		size_t used = mbrtowc(&wc, text + i, n - i, &mbs);
		if (used == 0 || used > n - i) {
			memset(&mbs, 0, sizeof(mbs));
			used = 1;
			wc = L'?';
		}
		i += used;
		if (wc == L'\t')
			do
				out[k++] = L' ';
			while (k % TAB != 0);
		else if (wc != L'\r')
			out[k++] = wcwidth(wc) < 0 ? L'?' : wc;
	}
	*len = k;
	return xrealloc(out, (k + 1) * sizeof(*out));
}

static void drop_oldest(struct scroll *s)
{
	struct line *l = line_at(s, 0);

	s->chars -= l->n;
	free(l->text);
	s->first = (s->first + 1) % s->max;
	s->n--;
}

static void add_line(struct scroll *s, enum role role, const char *text, size_t n, bool shown)
{
	struct line l = {.role = (uint8_t)role, .shown = shown};

	l.text = scroll_wide(text, n, &l.n);
	s->chars += l.n;
	while (s->n == s->max || (s->n > 0 && s->chars > SCROLL_CHARS))
		drop_oldest(s);
	*line_at(s, s->n++) = l;
	s->added++;
	/* A view of older lines stays where it is. */
	if (s->back > 0)
		s->back += line_rows(&l, s->cols);
}

void scroll_add(struct scroll *s, enum role role, const char *text, bool shown)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		add_line(s, role, text, n, shown);
		text += n + (text[n] == '\n');
	}
}

unsigned long scroll_mark(const struct scroll *s)
{
	return s->added;
}

unsigned scroll_rows(const struct scroll *s, unsigned long mark, int cols)
{
	unsigned rows = 0;

	for (unsigned i = 0; i < s->n && i < s->added - mark; i++)
		rows += line_rows(line_at(s, s->n - 1 - i), cols);
	return rows;
}

void scroll_from(struct scroll *s, unsigned long mark)
{
	unsigned rows = scroll_rows(s, mark, s->cols);

	s->back = rows > (unsigned)s->rows ? rows - (unsigned)s->rows : 0;
	s->read = true;
	s->mark = mark;
}

void scroll_by(struct scroll *s, int rows)
{
	s->read = false;
	if (rows < 0 && s->back < (unsigned)-rows)
		s->back = 0;
	else
		s->back += (unsigned)rows;
}

void scroll_end(struct scroll *s)
{
	s->back = 0;
	s->read = false;
}

/* Draws those rows of a line that lie in the view, from `row` on. Returns the row below them. */
static int draw_line(const struct line *l, int row, int rows, int cols, scroll_fn *fn, void *arg)
{
	const struct wrap w = wrap_of(l, cols);
	unsigned from = 0, next;

	do {
		unsigned end = row_end(l, &w, from, &next), n = end - from,
			 lead = from > 0 ? (unsigned)w.indent : 0;
		if (row >= 0 && row < rows && lead == 0) {
			fn(arg, row, l->role, l->text + from, n);
		} else if (row >= 0 && row < rows) {
			wchar_t *text = xcalloc(lead + n + 1, sizeof(*text));
			wmemset(text, L' ', lead);
			wmemcpy(text + lead, l->text + from, n);
			fn(arg, row, l->role, text, lead + n);
			free(text);
		}
		row++;
		from = next;
	} while (from < l->n);
	return row;
}

unsigned scroll_draw(struct scroll *s, int rows, int cols, scroll_fn *fn, void *arg)
{
	unsigned have = 0, i = s->n;
	bool other = rows != s->rows || cols != s->cols;

	s->rows = rows;
	s->cols = cols;
	if (rows <= 0 || cols <= 0)
		return s->back;
	if (s->read && other) /* in a view of another size the beginning stays in sight too */
		scroll_from(s, s->mark);
	s->read = s->read && s->back > 0;
	while (i > 0 && have < s->back + (unsigned)rows)
		have += line_rows(line_at(s, --i), cols);
	if (s->back > 0 && have < s->back + (unsigned)rows)
		s->back = have > (unsigned)rows ? have - (unsigned)rows : 0;
	int row = rows + (int)s->back - (int)have;
	for (; i < s->n && row < rows; i++)
		row = draw_line(line_at(s, i), row, rows, cols, fn, arg);
	return s->back;
}

void scroll_replay(struct scroll *s, FILE *f, const char *error, const char *normal)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct line *l = line_at(s, i);
		char mb[16];
		mbstate_t mbs = {0};
		if (l->shown)
			continue;
		l->shown = true;
		fputs(l->role == ROLE_LOG_ERROR ? error : "", f);
		for (unsigned k = 0; k < l->n; k++) {
			size_t n = wcrtomb(mb, l->text[k], &mbs);
			if (n != (size_t)-1)
				fwrite(mb, 1, n, f);
		}
		fputs(l->role == ROLE_LOG_ERROR ? normal : "", f);
		fputc('\n', f);
	}
	fflush(f);
}
