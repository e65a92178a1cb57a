/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "screen_in.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "footer.h"

#define PROMPT_BUSY "running> "
#define NS_PER_S 1000000000ull
#define TYPED_AHEAD_NS 30000000ull /* least time between two redraws while keys wait to be read */

/* A window that has no size yet says 0 or 1. */
void screen_size(const struct fullscreen *s, int *rows, int *cols)
{
	const char *env_rows = getenv("LINES"), *env_cols = getenv("COLUMNS");
	struct winsize w = {0};

	ioctl(s->fd, TIOCGWINSZ, &w);
	long r = w.ws_row > 1 || w.ws_col > 1 ? w.ws_row : 0,
	     c = w.ws_row > 1 || w.ws_col > 1 ? w.ws_col : 0;
	if (r == 0)
		r = env_rows != NULL ? strtol(env_rows, NULL, 10) : 0;
	if (c == 0)
		c = env_cols != NULL ? strtol(env_cols, NULL, 10) : 0;
	*rows = r > 0 && r <= 1000 ? (int)r : 24;
	*cols = c > 0 && c <= 2000 ? (int)c : 80;
}

/* Returns the snapshot for the page, or NULL with *e. What was selected may have been deleted
 * since. Then the first stream of the port is selected, else the first stream of port 0. */
static json_t *page_snapshot(struct fullscreen *s, struct err *e)
{
	struct view *v = s->f->view;
	struct sbuf parts = {0};
	struct err again;

	page_parts(v->page, v->port, v->stream, &parts);
	json_t *snap = sess_snapshot(s->f->sess, sbuf_str(&parts), e);
	for (int i = 0; i < 2 && snap == NULL; i++) {
		unsigned port = i == 0 ? v->port : 0;
		sbuf_reset(&parts);
		sbuf_addf(&parts, "streams:%u", port);
		json_t *list = sess_snapshot(s->f->sess, sbuf_str(&parts), &again);
		const json_t *first = json_array_get(json_object_get(list, "streams"), 0);
		unsigned stream = (unsigned)json_integer_value(json_object_get(first, "stream"));
		json_decref(list);
		if (list == NULL || (port == v->port && stream == v->stream))
			continue;
		sbuf_reset(&parts);
		page_parts(v->page, port, stream, &parts);
		snap = sess_snapshot(s->f->sess, sbuf_str(&parts), &again);
		if (snap != NULL) {
			v->port = port;
			v->stream = stream;
		}
	}
	sbuf_free(&parts);
	return snap;
}

/* Draws a warning that the numbers are old, if the program that we are attached to has not
 * answered: it may stand still, or the way to it may be cut. */
static void draw_unanswered(const struct fullscreen *s)
{
	uint64_t ns = sess_unanswered_ns(s->f->sess);
	char text[80];
	int n;

	if (ns == 0)
		return;
	if (ns < NS_PER_S)
		n = snprintf(text, sizeof(text), " OLD NUMBERS: no answer yet ");
	else
		n = snprintf(text, sizeof(text),
			     " OLD NUMBERS: no answer for %u s (Ctrl-D detaches) ",
			     (unsigned)(ns / NS_PER_S));
	int col = s->at.cols > n ? s->at.cols - n : 0;
	draw_text(s->paint, 0, col, s->at.cols - col, ROLE_LOG_ERROR, text);
}

/* Returns how many rows the page gets. A pane takes what it needs first, but not the page's head
 * line. */
static int page_rows(const struct fullscreen *s)
{
	int all = s->at.page_rows + s->at.log_rows,
	    rows = s->pane ? (int)scroll_rows(s->f->log, s->pane_mark, s->at.cols) : 0,
	    left = all - rows;

	return s->pane && left < s->page_need ? (left > 1 ? left : 1) : s->page_need;
}

void screen_close_pane(struct fullscreen *s)
{
	if (!s->pane)
		return;
	s->pane = false;
	scroll_end(s->f->log);
	s->due_page = s->due_log = true;
}

void screen_read(struct fullscreen *s, unsigned long mark)
{
	scroll_from(s->f->log, mark);
	s->due_log = true;
	s->pane = (int)scroll_rows(s->f->log, mark, s->at.cols) > s->at.log_rows &&
		  !s->f->view->frozen && s->at.page_most > 0;
	s->pane_mark = mark;
	s->due_page = s->due_page || s->pane;
}

/* Gives the log the rows that the page leaves empty. Between two actions of the user the page only
 * grows, so that mere numbers move no line. */
static void fit_page(struct fullscreen *s, const struct grid *g)
{
	int had = s->at.page_rows, used = grid_used(g);

	if (used > s->page_need)
		s->page_need = used;
	layout_fit(&s->at, page_rows(s));
	if (s->at.page_rows != had)
		s->due_log = true;
}

static void draw_page(struct fullscreen *s)
{
	struct view *v = s->f->view;
	struct page_out *o = &s->out_of;
	struct grid g;
	struct err e;

	if (v->page == NULL || s->at.page_most == 0)
		return;
	json_t *snap = page_snapshot(s, &e);
	grid_init(&g, s->at.page_most, s->at.cols);
	if (snap != NULL) {
		const struct page_in in = {.snap = snap,
					   .port = v->port,
					   .stream = v->stream,
					   .first = v->first,
					   .max_ports = (unsigned)v->max_ports,
					   .top = v->top,
					   .ascii = view_ascii(v),
					   .spin = s->spin++};
		page_draw(v->page, &in, &g, o);
		json_decref(s->snap);
		s->snap = snap;
		if (o->shown < o->of && v->first + o->shown < o->of)
			v->room = o->shown;
		else if (v->first == 0)
			v->room = 0;
	} else {
		grid_putf(&g, 0, 0, -1, ROLE_TOP_PAGE, "<%s>", v->page->name);
		for (size_t r = 1, at = 0; at < strlen(e.text); at += (size_t)s->at.cols)
			grid_put(&g, (int)r++, 0, -1, ROLE_LOG_ERROR, e.text + at);
	}
	fit_page(s, &g);
	g.rows = s->at.page_rows;
	draw_grid(s->paint, 0, &g);
	draw_unanswered(s);
	grid_free(&g);
}

static void draw_sep(const struct fullscreen *s)
{
	int col = 2;

	if (s->at.sep < 0)
		return;
	draw_fill(s->paint, s->at.sep, 0, s->at.cols, ROLE_SEP_DASH,
		  view_ascii(s->f->view) ? L'-' : L'\x2500');
	if (s->below > 0) {
		char text[64];
		snprintf(text, sizeof(text), " %u more row%s below: PgDn%s ", s->below,
			 s->below == 1 ? "" : "s", s->pane ? "; the page: Esc" : "");
		col += draw_text(s->paint, s->at.sep, col, s->at.cols - col, ROLE_SEP_TEXT, text) +
		       1;
	} else if (s->pane) {
		col += draw_text(s->paint, s->at.sep, col, s->at.cols - col, ROLE_SEP_TEXT,
				 " the page: Esc ") +
		       1;
	}
	const wchar_t *work = s->f->progress.text;
	if (work == NULL || col + 4 >= s->at.cols)
		return;
	col += draw_text(s->paint, s->at.sep, col, s->at.cols - col, ROLE_SEP_TEXT, " ");
	col += draw_wide(s->paint, s->at.sep, col, s->at.cols - col - 1, ROLE_SEP_TEXT, work,
			 wcslen(work));
	draw_text(s->paint, s->at.sep, col, s->at.cols - col, ROLE_SEP_TEXT, " ");
}

static void draw_row(void *arg, int row, enum role role, const wchar_t *text, size_t n)
{
	struct fullscreen *s = arg;

	draw_wide(s->paint, s->at.log + row, 0, s->at.cols, role, text, n);
}

static void draw_log(struct fullscreen *s)
{
	for (int r = 0; r < s->at.log_rows; r++)
		draw_fill(s->paint, s->at.log + r, 0, s->at.cols, ROLE_DEFAULT, L' ');
	s->below = scroll_draw(s->f->log, s->at.log_rows, s->at.cols, draw_row, s);
	draw_sep(s);
}

static void draw_footer(struct fullscreen *s)
{
	static const struct key_help typing[] = {{"Tab", NULL, "complete"},
						 {"?", NULL, "what may stand here"},
						 {"Up Down", NULL, "history"},
						 {"Ctrl-C", NULL, "drop"},
						 {"PgUp PgDn", NULL, "log"},
						 {"Ctrl-Up Ctrl-Down", NULL, "rows"},
						 {NULL, NULL, NULL}};
	static const struct key_help busy[] = {{"Ctrl-C", NULL, "cancel"},
					       {"Enter", NULL, "queue"},
					       {"PgUp PgDn", NULL, "log"},
					       {NULL, NULL, NULL}};
	const LineInfoW *li = edit_line(s->edit);
	bool empty = li->lastchar == li->buffer;
	const struct key_help *k = sess_busy(s->f->sess) ? busy : empty ? keys_help : typing;
	struct footer f;
	int row = s->at.footer;

	if (row < 0)
		return;
	footer_make(&f, k, k == keys_help, s->at.cols);
	draw_fill(s->paint, row, 0, s->at.cols, ROLE_KEY_TEXT, L' ');
	for (unsigned i = 0; i < f.n; i++) {
		const struct footer_item *it = &f.item[i];
		bool now = it->page != NULL && it->page == s->f->view->page;
		int col = f.at[i];
		if (col < 0)
			continue;
		col += draw_text(s->paint, row, col, s->at.cols - col, ROLE_KEY, it->key) +
		       !f.tight;
		draw_text(s->paint, row, col, s->at.cols - col, now ? ROLE_TOP_PAGE : ROLE_KEY_TEXT,
			  it->text);
	}
}

/* Returns the character that is shown for one of the line. libedit puts a question of its own (a
 * search) behind a newline, which is a blank on our row. */
static wchar_t screen_draw_shown(wchar_t wc)
{
	return wc == L'\n' ? L' ' : wc;
}

/* Draws the prompt, the part of the line around its cursor, and the footer. */
static void draw_prompt(struct fullscreen *s)
{
	const LineInfoW *li = edit_line(s->edit);
	const char *word = s->at.cols < 30 ? "> " : sess_busy(s->f->sess) ? PROMPT_BUSY : PROMPT;
	int row = s->at.prompt, width = s->at.cols, cursor = 0, from = 0,
	    n = (int)(li->lastchar - li->buffer), i = 0;
	wchar_t *line = xcalloc((size_t)n + 1, sizeof(*line));

	for (int k = 0; k < n; k++) {
		line[k] = screen_draw_shown(li->buffer[k]);
		cursor += li->buffer + k < li->cursor ? scroll_columns(line[k]) : 0;
	}
	draw_fill(s->paint, row, 0, width, ROLE_INPUT, L' ');
	int begin = draw_text(s->paint, row, 0, width, ROLE_PROMPT, word);
	int room = width - begin > 0 ? width - begin : 1;
	if (cursor < s->left)
		s->left = cursor > room / 3 ? cursor - room / 3 : 0;
	if (cursor - s->left >= room)
		s->left = cursor - 2 * room / 3;
	for (; i < n && from < s->left; i++)
		from += scroll_columns(line[i]);
	int skip = from - s->left; /* of a wide character the right half alone is left out */
	draw_wide(s->paint, row, begin + skip, width - begin - skip, ROLE_INPUT, line + i,
		  (size_t)(n - i));
	free(line);
	draw_footer(s);
	move(row, begin + cursor - s->left < width ? begin + cursor - s->left : width - 1);
}

bool screen_fd_ready(int fd, short what)
{
	struct pollfd p = {.fd = fd, .events = what};

	return poll(&p, 1, 0) > 0 && (p.revents & what) != 0;
}

static void on_interval(void *arg)
{
	struct fullscreen *s = arg;

	if (!s->f->view->frozen)
		s->due_page = true;
}

static void on_output(void *arg, short revents)
{
	struct fullscreen *s = arg;

	(void)revents;
	if (outlet_push(s->out))
		screen_unwatch(s);
}

void screen_unwatch(struct fullscreen *s)
{
	if (s->waits_output)
		loop_fd(s->f->loop, s->fd, 0, NULL, NULL);
	s->waits_output = false;
}

/* Hands the terminal what was drawn. The loop watches a terminal that is slow or stopped by Ctrl-S,
 * so that ports and timers do not wait for it. Nothing is drawn until it has taken all. */
static void screen_draw_push(struct fullscreen *s)
{
	if (s->waits_output || outlet_push(s->out))
		return;
	s->waits_output = true;
	loop_fd(s->f->loop, s->fd, POLLOUT, on_output, s);
}

void screen_take_size(struct fullscreen *s)
{
	int rows, cols;

	s->resized = false;
	screen_size(s, &rows, &cols);
	resizeterm(rows, cols);
	/* The terminal may have moved or dropped what it showed, even if its size is as before. */
	clearok(curscr, TRUE);
	layout_make(&s->at, rows, cols);
	s->page_need = 0;
	s->f->view->rows = rows;
	s->f->view->cols = cols;
	s->due_all = true;
}

/* Takes over what has changed in the view. */
static void follow_view(struct fullscreen *s)
{
	struct view *v = s->f->view;

	if (v->interval_ns != s->interval_ns) {
		loop_timer_del(s->f->loop, s->timer);
		s->interval_ns = v->interval_ns;
		s->timer = loop_timer(s->f->loop, v->interval_ns, v->interval_ns, on_interval, s);
	}
	if (v->repaint != s->repaint) {
		s->repaint = v->repaint;
		s->due_all = true;
		clearok(curscr, TRUE);
	}
	if (v->mouse != s->mouse) {
		s->mouse = v->mouse;
		mousemask(v->mouse ? ALL_MOUSE_EVENTS : 0, NULL);
		screen_tell_leave(s);
	}
	if (v->version != s->version) {
		s->version = v->version;
		s->page_need = 0;
		s->due_page = s->due_log = true;
	}
	if (paint_set(s->paint, &v->theme))
		s->due_all = true;
}

/* Looks how far a command or run has come, if it is time to. The row between page and log shows
 * it. */
static void look_at_work(struct fullscreen *s)
{
	if (progress_over(&s->f->progress, s->f->sess))
		s->due_look = true;
	if (!s->due_look)
		return;
	s->due_look = false;
	if (progress_look(&s->f->progress, s->f->sess, s->at.cols - 4, view_ascii(s->f->view)))
		s->due_sep = true;
}

static void screen_draw_draw(struct fullscreen *s)
{
	if (s->due_all)
		erase();
	if (s->due_page || s->due_all)
		draw_page(s);
	if (s->due_log || s->due_all)
		draw_log(s);
	else if (s->due_sep)
		draw_sep(s);
	draw_prompt(s);
	s->due_page = s->due_log = s->due_sep = s->due_prompt = s->due_all = false;
	s->drawn_ns = loop_now_ns();
	wnoutrefresh(stdscr);
	doupdate();
}

void screen_step(void *arg)
{
	struct fullscreen *s = arg;
	bool busy = sess_busy(s->f->sess);

	if (screen_waits(s))
		return;
	if (busy != s->busy) {
		s->busy = busy;
		s->due_prompt = true;
		s->due_page = s->due_page || (!busy && !s->f->view->frozen);
	}
	if (s->resized)
		screen_take_size(s);
	follow_view(s);
	look_at_work(s);
	screen_draw_push(s); /* a bell or modes may wait to be written */
	if (!s->due_page && !s->due_log && !s->due_sep && !s->due_prompt && !s->due_all)
		return;
	if (s->waits_output ||
	    (loop_now_ns() - s->drawn_ns < TYPED_AHEAD_NS && screen_fd_ready(STDIN_FILENO, POLLIN)))
		return;
	screen_draw_draw(s);
	screen_draw_push(s);
}
