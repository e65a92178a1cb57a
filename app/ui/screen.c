/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "draw.h"
#include "edit.h"
#include "keys.h"

#define PROMPT_BUSY "running> "
#define TYPED_AHEAD_NS 30000000ull /* while more is typed already, the screen follows at this pace */

struct fullscreen {
	struct front *f;
	struct edit *edit;
	struct keys *keys;
	struct paint *paint;
	struct capture *capture;
	SCREEN *scr;
	FILE *out; /* the terminal, whatever stdout is meanwhile */
	int fd;
	struct layout at;
	bool resized, paused, ended, ready, busy, mouse, waits_output, in_command;
	bool due_page, due_log, due_prompt, due_all;
	unsigned version, repaint; /* of the view, when it was drawn */
	uint64_t interval_ns, drawn_ns;
	int timer, esc_timer;
	json_t *snap;        /* that the page was drawn from */
	struct page_out out_of;
	unsigned spin;
	int left;            /* columns of the line that are left of the prompt's window */
	unsigned below;      /* rows of the log below what is shown */
	wchar_t feed[16];    /* of one key, for the editor */
	unsigned nfeed;
};

/* A window that has no size yet: what the environment says. */
static void screen_size(const struct fullscreen *s, int *rows, int *cols)
{
	const char *env_rows = getenv("LINES"), *env_cols = getenv("COLUMNS");
	struct winsize w = {0};

	ioctl(s->fd, TIOCGWINSZ, &w);
	long r = w.ws_row > 1 || w.ws_col > 1 ? w.ws_row : 0, c = w.ws_row > 1 || w.ws_col > 1 ? w.ws_col : 0;
	if (r == 0)
		r = env_rows != NULL ? strtol(env_rows, NULL, 10) : 0;
	if (c == 0)
		c = env_cols != NULL ? strtol(env_cols, NULL, 10) : 0;
	*rows = r > 0 && r <= 1000 ? (int)r : 24;
	*cols = c > 0 && c <= 2000 ? (int)c : 80;
}

static bool ascii(const struct fullscreen *s)
{
	int glyphs = s->f->view->glyphs;

	return glyphs == 2 || (glyphs == 0 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
}

/* ... drawing ... */

static void draw_page(struct fullscreen *s)
{
	struct view *v = s->f->view;
	struct sbuf parts = {0};
	struct grid g;
	struct err e;

	if (v->page == NULL || s->at.page_rows == 0)
		return;
	page_parts(v->page, v->port, v->stream, &parts);
	json_t *snap = sess_snapshot(s->f->sess, sbuf_str(&parts), &e);
	sbuf_free(&parts);
	grid_init(&g, s->at.page_rows, s->at.cols);
	if (snap != NULL) {
		const struct page_in in = {.snap = snap, .port = v->port, .stream = v->stream, .first = v->first,
					   .max_ports = (unsigned)v->max_ports, .top = v->top, .ascii = ascii(s), .spin = s->spin++};
		page_draw(v->page, &in, &g, &s->out_of);
		json_decref(s->snap);
		s->snap = snap;
	} else {
		grid_putf(&g, 0, 0, -1, ROLE_TOP_PAGE, "<%s>", v->page->name);
		grid_put(&g, 1, 0, -1, ROLE_LOG_ERROR, e.text);
	}
	draw_grid(s->paint, 0, &g);
	grid_free(&g);
}

static void draw_sep(const struct fullscreen *s)
{
	int col = 2;

	if (s->at.sep < 0)
		return;
	draw_fill(s->paint, s->at.sep, 0, s->at.cols, ROLE_SEP_DASH, ascii(s) ? L'-' : L'\x2500');
	if (s->below == 0)
		return;
	char text[64];
	snprintf(text, sizeof(text), " %u more row%s below: PgDn ", s->below, s->below == 1 ? "" : "s");
	draw_text(s->paint, s->at.sep, col, s->at.cols - col, ROLE_SEP_TEXT, text);
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

struct key_help {
	const char *key, *text;
};

static void draw_footer(struct fullscreen *s)
{
	static const struct key_help idle[] = {{"1-9 Tab", "page"}, {"Left Right", "port"}, {"F5", "start"}, {"F6", "stop"},
		{"?", "help"}, {"< >", "ports"}, {"[ ]", "rows"}, {"PgUp", "log"}, {"Up", "history"}, {"Ctrl-L", "repaint"}, {"Ctrl-D", "quit"}, {NULL, NULL}};
	static const struct key_help typing[] = {{"Tab", "complete"}, {"?", "what can stand here"}, {"Up Down", "history"},
		{"Ctrl-C", "drop"}, {"PgUp", "log"}, {"Ctrl-Up Ctrl-Down", "rows of the page"}, {NULL, NULL}};
	static const struct key_help busy[] = {{"Ctrl-C", "cancel"}, {"Enter", "queues"}, {"PgUp", "log"}, {NULL, NULL}};
	const LineInfoW *li = edit_line(s->edit);
	const struct key_help *k = sess_busy(s->f->sess) ? busy : li->lastchar > li->buffer ? typing : idle;
	int row = s->at.footer, col = 0;

	if (row < 0)
		return;
	draw_fill(s->paint, row, 0, s->at.cols, ROLE_KEY_TEXT, L' ');
	for (; k->key != NULL; k++) {
		if (col + (int)(strlen(k->key) + 1 + strlen(k->text)) > s->at.cols)
			continue;
		col += draw_text(s->paint, row, col, s->at.cols - col, ROLE_KEY, k->key) + 1;
		col += draw_text(s->paint, row, col, s->at.cols - col, ROLE_KEY_TEXT, k->text) + 2;
	}
}

/* The window of the line follows its cursor. */
static void draw_prompt(struct fullscreen *s)
{
	const LineInfoW *li = edit_line(s->edit);
	const char *word = s->at.cols < 20 ? "> " : sess_busy(s->f->sess) ? PROMPT_BUSY : PROMPT;
	int row = s->at.prompt, width = s->at.cols, cursor = 0, from = 0, skip = 0;
	const wchar_t *p = li->buffer;

	draw_fill(s->paint, row, 0, width, ROLE_INPUT, L' ');
	int begin = draw_text(s->paint, row, 0, width, ROLE_PROMPT, word);
	int room = width - begin > 0 ? width - begin : 1;
	for (const wchar_t *w = li->buffer; w < li->cursor; w++)
		cursor += scroll_columns(*w);
	if (cursor < s->left)
		s->left = cursor > room / 3 ? cursor - room / 3 : 0;
	if (cursor - s->left >= room)
		s->left = cursor - 2 * room / 3;
	for (; p < li->lastchar && from < s->left; p++)
		from += scroll_columns(*p);
	skip = from - s->left; /* a wide character cut in two */
	draw_wide(s->paint, row, begin + skip, width - begin - skip, ROLE_INPUT, p, (size_t)(li->lastchar - p));
	draw_footer(s);
	move(row, begin + cursor - s->left < width ? begin + cursor - s->left : width - 1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static bool can_now(int fd, short what)
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
	loop_fd(s->f->loop, s->fd, 0, NULL, NULL);
	s->waits_output = false;
}

static void take_size(struct fullscreen *s)
{
	int rows, cols;

	s->resized = false;
	screen_size(s, &rows, &cols);
	resizeterm(rows, cols);
	layout_make(&s->at, rows, cols);
	s->f->view->rows = rows;
	s->f->view->cols = cols;
	s->due_all = true;
}

static void tell_leave(struct fullscreen *s);

/* What the view asks for. */
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
		tell_leave(s);
	}
	if (v->version != s->version) {
		s->version = v->version;
		s->due_page = s->due_log = true;
	}
	if (paint_set(s->paint, &v->theme))
		s->due_all = true;
}

static void draw(struct fullscreen *s)
{
	if (s->due_all)
		erase();
	if (s->due_page || s->due_all)
		draw_page(s);
	if (s->due_log || s->due_all)
		draw_log(s);
	draw_prompt(s);
	s->due_page = s->due_log = s->due_prompt = s->due_all = false;
	s->drawn_ns = now_ns();
	wnoutrefresh(stdscr);
	doupdate();
}

/* Before each turn of the loop: bring the terminal up to date, if it takes something. */
static void step(void *arg)
{
	struct fullscreen *s = arg;
	bool busy = sess_busy(s->f->sess);

	if (s->paused)
		return;
	if (busy != s->busy) {
		s->busy = busy;
		s->due_prompt = true;
		s->due_page = s->due_page || !busy;
	}
	if (s->resized)
		take_size(s);
	follow_view(s);
	if (!s->due_page && !s->due_log && !s->due_prompt && !s->due_all)
		return;
	if (s->waits_output || (now_ns() - s->drawn_ns < TYPED_AHEAD_NS && can_now(STDIN_FILENO, POLLIN)))
		return;
	if (!can_now(s->fd, POLLOUT)) {
		/* Stopped by Ctrl-S, or slow: ports and timers do not wait for it. */
		s->waits_output = true;
		loop_fd(s->f->loop, s->fd, POLLOUT, on_output, s);
		return;
	}
	draw(s);
}

/* ... keys ... */

static bool line_empty(struct fullscreen *s)
{
	const LineInfoW *li = edit_line(s->edit);

	return li->lastchar == li->buffer;
}

static void on_esc_timeout(void *arg)
{
	struct fullscreen *s = arg;

	s->esc_timer = -1;
	keys_timeout(s->keys);
}

/* One byte after the other, and none behind Enter: what is typed for the shell after `quit` stays in the terminal. */
static void on_input(void *arg, short revents)
{
	struct fullscreen *s = arg;
	unsigned char byte;

	(void)revents;
	loop_timer_del(s->f->loop, s->esc_timer);
	s->esc_timer = -1;
	do {
		ssize_t n = read(STDIN_FILENO, &byte, 1);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			break;
		if (n <= 0) {
			s->f->hangup = true;
			return;
		}
		keys_byte(s->keys, byte);
	} while (byte != '\n' && byte != '\r' && can_now(STDIN_FILENO, POLLIN));
	uint64_t wait = keys_wait_ns(s->keys);
	if (wait > 0)
		s->esc_timer = loop_timer(s->f->loop, wait, 0, on_esc_timeout, s);
}

static void enter(struct fullscreen *s)
{
	struct sbuf echo = {0};
	char *text = edit_text(s->edit);

	edit_reset(s->edit);
	s->left = 0;
	scroll_end(s->f->log);
	if (*text != '\0') {
		sbuf_addf(&echo, PROMPT "%s", text);
		scroll_add(s->f->log, ROLE_LOG_ECHO, sbuf_str(&echo), false);
	}
	s->due_page = s->due_log = true;
	front_entered(s->f, text);
	sbuf_free(&echo);
	free(text);
}

/* A key that stands for a command: shown like a typed one. */
static void command(struct fullscreen *s, const char *verb)
{
	struct sbuf line = {0}, echo = {0};

	sbuf_addf(&line, "%s %u", verb, s->f->view->port);
	sbuf_addf(&echo, PROMPT "%s", sbuf_str(&line));
	scroll_end(s->f->log);
	scroll_add(s->f->log, ROLE_LOG_ECHO, sbuf_str(&echo), false);
	s->due_page = s->due_log = true;
	sess_exec(s->f->sess, sbuf_str(&line), NULL);
	sess_poll(s->f->sess);
	sbuf_free(&line);
	sbuf_free(&echo);
}

static void show_page(struct fullscreen *s, const struct page *p)
{
	struct view *v = s->f->view;

	if (p == NULL)
		return;
	v->page = p;
	v->top = 0;
	view_touch(v);
}

static void show_page_at(struct fullscreen *s, int step_by)
{
	int n = 0, now = 0;

	for (; pages[n] != NULL; n++)
		if (pages[n] == s->f->view->page)
			now = n;
	if (n > 0)
		show_page(s, pages[(now + step_by + n) % n]);
}

/* The port before or after the selected one; the page goes where it is shown. */
static void select_port(struct fullscreen *s, int step_by)
{
	struct view *v = s->f->view;
	unsigned n, at = 0;
	const json_t **ports = page_ports(s->snap, &n);

	for (unsigned i = 0; i < n; i++)
		if (json_integer_value(json_object_get(ports[i], "port")) == v->port)
			at = i;
	if (n > 0 && (step_by < 0 ? at > 0 : at + 1 < n))
		at = step_by < 0 ? at - 1 : at + 1;
	if (n > 0)
		v->port = (unsigned)json_integer_value(json_object_get(ports[at], "port"));
	if (at < v->first)
		v->first = at;
	if (s->out_of.shown > 0 && at >= v->first + s->out_of.shown)
		v->first = at + 1 - s->out_of.shown;
	v->stream = 0;
	free(ports);
	view_touch(v);
}

static void more_ports(struct fullscreen *s, bool forward)
{
	struct view *v = s->f->view;
	unsigned shown = s->out_of.shown > 0 ? s->out_of.shown : 1;

	if (!forward)
		v->first = v->first > shown ? v->first - shown : 0;
	else if (v->first + shown < s->out_of.of)
		v->first += shown;
	view_touch(v);
}

static void more_rows(struct fullscreen *s, bool forward)
{
	struct view *v = s->f->view;
	unsigned by = s->out_of.rows > 1 ? s->out_of.rows - 1 : 1;

	if (!forward)
		v->top = v->top > by ? v->top - by : 0;
	else if (v->top + s->out_of.rows < s->out_of.all)
		v->top += by;
	view_touch(v);
}

static void scroll_log(struct fullscreen *s, int rows)
{
	scroll_by(s->f->log, rows);
	s->due_log = true;
}

/* Keys that do the same whatever is typed. */
static bool take_anywhere(struct fullscreen *s, const struct key *k)
{
	int rows = s->at.log_rows > 1 ? s->at.log_rows - 1 : 1;

	switch (k->code) {
	case K_PGUP:
	case K_PGDN:
		scroll_log(s, k->code == K_PGUP ? rows : -rows);
		return true;
	case K_PAGE_UP:
	case K_PAGE_DOWN:
		more_rows(s, k->code == K_PAGE_DOWN);
		return true;
	case K_WHEEL_UP:
	case K_WHEEL_DOWN:
		if (k->row < s->at.page_rows)
			more_rows(s, k->code == K_WHEEL_DOWN);
		else
			scroll_log(s, k->code == K_WHEEL_UP ? 3 : -3);
		return true;
	case K_F5:
	case K_F6:
		command(s, k->code == K_F5 ? "start" : "stop");
		return true;
	case K_F1:
		show_page(s, page_find("help", NULL));
		return true;
	case K_CHAR:
		if (k->ch != L'\f')
			return false;
		clearok(curscr, TRUE);
		s->due_all = true;
		return true;
	default:
		return false;
	}
}

/* Keys of the empty prompt; none of them sends anything. */
static bool take_empty(struct fullscreen *s, const struct key *k)
{
	unsigned n = 0;

	if (k->code == K_LEFT || k->code == K_RIGHT) {
		select_port(s, k->code == K_LEFT ? -1 : 1);
		return true;
	}
	if (k->code == K_BACKTAB) {
		show_page_at(s, -1);
		return true;
	}
	if (k->code != K_CHAR)
		return false;
	while (pages[n] != NULL)
		n++;
	if (k->ch >= L'0' && k->ch <= L'9') {
		unsigned at = k->ch == L'0' ? 9 : (unsigned)(k->ch - L'1');
		show_page(s, at < n ? pages[at] : NULL);
	} else if (k->ch == L'\t') {
		show_page_at(s, 1);
	} else if (k->ch == L'<' || k->ch == L'>') {
		more_ports(s, k->ch == L'>');
	} else if (k->ch == L'[' || k->ch == L']') {
		more_rows(s, k->ch == L']');
	} else if (k->ch == L'?') {
		show_page(s, page_find("help", NULL));
	} else if (k->ch == L'\4') {
		s->ended = true;
	} else {
		return false;
	}
	return true;
}

static void feed(struct fullscreen *s, const struct key *k)
{
	const char *p = k->raw;

	if (k->code == K_WORD_LEFT || k->code == K_WORD_RIGHT)
		p = k->code == K_WORD_LEFT ? "\033b" : "\033f";
	if (k->code == K_CHAR)
		s->feed[s->nfeed++] = k->ch;
	else
		while (*p != '\0' && s->nfeed < ARRAY_SIZE(s->feed))
			s->feed[s->nfeed++] = (unsigned char)*p++;
}

static bool stops(const struct fullscreen *s)
{
	const struct front *f = s->f;

	return f->interrupted || f->hangup || s->ended || loop_stopped(f->loop) || front_changes(f, true);
}

/* The editor's next key. It asks for more than one where a key begins a command (Escape, Ctrl-V, a search): the loop turns meanwhile. */
static int get_key(void *arg, wchar_t *wc)
{
	struct fullscreen *s = arg;
	struct key k;

	while (s->nfeed == 0) {
		if (stops(s)) {
			errno = EINTR;
			return -1;
		}
		if (keys_next(s->keys, &k)) {
			if (k.pasted || !take_anywhere(s, &k))
				feed(s, &k);
			continue;
		}
		s->due_prompt = true;
		step(s);
		s->f->turn(s->f->arg);
	}
	*wc = s->feed[0];
	memmove(s->feed, s->feed + 1, --s->nfeed * sizeof(*s->feed));
	return 1;
}

/* Text, whatever it looks like: lines are run as if they were typed. */
static void take_pasted(struct fullscreen *s, const struct key *k)
{
	if (k->code == K_CHAR && (k->ch == L'\n' || k->ch == L'\r')) {
		enter(s);
	} else if (k->code == K_CHAR) {
		wchar_t ch = k->ch == L'\t' ? L' ' : k->ch;
		if (ch >= L' ' && ch != L'\x7f')
			edit_insert(s->edit, &ch, 1);
	}
}

static void take_key(struct fullscreen *s, const struct key *k)
{
	s->due_prompt = true;
	if (k->pasted) {
		take_pasted(s, k);
		return;
	}
	if (take_anywhere(s, k) || (line_empty(s) && take_empty(s, k)) || k->code == K_BACKTAB)
		return;
	feed(s, k);
	while (s->nfeed > 0) {
		enum edit_did did = edit_key(s->edit);
		if (did == EDIT_ENTER)
			enter(s);
		s->ended = s->ended || did == EDIT_END;
		if (stops(s))
			s->nfeed = 0;
	}
}

static void show_list(void *arg, const struct hint_list *l)
{
	struct fullscreen *s = arg;
	struct sbuf out = {0};
	unsigned long mark = scroll_mark(s->f->log);

	hint_print(l, (unsigned)s->at.cols, &out);
	scroll_add(s->f->log, ROLE_LOG_TEXT, sbuf_str(&out), false);
	scroll_from(s->f->log, mark);
	s->due_log = true;
	sbuf_free(&out);
}

bool screen_run(struct fullscreen *s)
{
	struct front *f = s->f;
	struct key k;

	loop_fd(f->loop, STDIN_FILENO, POLLIN, on_input, s);
	while (!f->hangup && !s->ended && !loop_stopped(f->loop) && !front_changes(f, true)) {
		if (f->interrupted) {
			f->interrupted = false;
			keys_drop(s->keys);
			edit_reset(s->edit);
			s->left = 0;
			s->due_prompt = true;
		} else if (keys_next(s->keys, &k)) {
			take_key(s, &k);
		} else {
			step(s);
			f->turn(f->arg);
		}
	}
	loop_fd(f->loop, STDIN_FILENO, 0, NULL, NULL);
	bool other = !f->hangup && !s->ended && !loop_stopped(f->loop);
	if (other)
		edit_keep(s->edit);
	else
		front_leave(f, step, s);
	return other;
}

void screen_printed(struct fullscreen *s)
{
	s->due_log = true;
}

void screen_resize(struct fullscreen *s)
{
	s->resized = true;
}

/* ... the terminal ... */

static void send(const struct fullscreen *s, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t done = write(s->fd, text, n);
		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

static const char *string(const char *cap)
{
	const char *text = tigetstr((char *)cap);

	return text == NULL || text == (char *)-1 ? "" : text;
}

/* For who dies without a word. */
static void tell_leave(struct fullscreen *s)
{
	struct sbuf b = {0};

	sbuf_add(&b, keys_paste_off(s->keys));
	if (s->mouse && *string("XM") != '\0')
		sbuf_add(&b, tparm((char *)string("XM"), 0, 0, 0, 0, 0, 0, 0, 0, 0));
	static const char *const caps[] = {"rmkx", "op", "sgr0", "cnorm"};
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		sbuf_add(&b, string(caps[i]));
	/* the cursor below everything, for a terminal with one screen alone */
	sbuf_add(&b, tparm((char *)string("cup"), s->at.rows - 1, 0, 0, 0, 0, 0, 0, 0, 0));
	sbuf_add(&b, *string("rmcup") != '\0' ? string("rmcup") : "\n");
	tty_screen(s->fd, sbuf_str(&b), capture_fd(s->capture));
	sbuf_free(&b);
}

static void on_captured(void *arg, const char *text)
{
	struct fullscreen *s = arg;

	scroll_add(s->f->log, ROLE_LOG_TEXT, text, false);
	s->due_log = true;
}

static void take_terminal(struct fullscreen *s)
{
	tty_touch();
	s->capture = capture_open(s->f->loop, on_captured, s);
	tell_leave(s);
	send(s, keys_paste_on(s->keys));
	s->due_all = true;
}

static void give_terminal(struct fullscreen *s)
{
	send(s, keys_paste_off(s->keys));
	endwin();
	tty_screen(-1, NULL, -1);
	capture_close(s->capture);
	s->capture = NULL;
	if (!s->f->hangup)
		scroll_replay(s->f->log, stdout, s->f->color_err ? s->f->caps.red : "", s->f->color_err ? s->f->caps.normal : "");
	tty_restore();
}

static bool open_curses(struct fullscreen *s, enum args_color color)
{
	s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	s->out = s->fd >= 0 ? fdopen(s->fd, "w") : NULL;
	if (s->out == NULL)
		return false;
	tty_touch();
	s->scr = newterm(NULL, s->out, stdin);
	if (s->scr == NULL)
		return false;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	typeahead(-1);
	mousemask(0, NULL);
	s->paint = paint_open(color);
	s->keys = keys_new();
	return true;
}

struct fullscreen *screen_open(struct front *f, enum args_color color, struct err *e)
{
	struct fullscreen *s = xcalloc(1, sizeof(*s));
	const struct edit_opts opts = {.front = f, .key = get_key, .list = show_list, .arg = s};

	*s = (struct fullscreen){.f = f, .fd = -1, .timer = -1, .esc_timer = -1, .version = f->view->version, .repaint = f->view->repaint};
	s->edit = edit_new(&opts);
	if (s->edit == NULL || !open_curses(s, color)) {
		err_set(e, EIO, "the full screen cannot be opened: %s", s->edit == NULL ? "no pseudo-terminal" : strerror(errno));
		screen_close(s);
		return NULL;
	}
	edit_give(s->edit);
	take_size(s);
	take_terminal(s);
	return s;
}

void screen_close(struct fullscreen *s)
{
	struct loop *loop = s->f->loop;

	loop_timer_del(loop, s->timer);
	loop_timer_del(loop, s->esc_timer);
	if (s->waits_output)
		loop_fd(loop, s->fd, 0, NULL, NULL);
	if (s->keys != NULL && keys_pasting(s->keys))
		tcflush(STDIN_FILENO, TCIFLUSH); /* the rest of a pasted text is not for the shell */
	if (s->scr != NULL) {
		give_terminal(s);
		delscreen(s->scr);
	}
	if (s->out != NULL)
		fclose(s->out);
	edit_free(s->edit);
	keys_free(s->keys);
	paint_free(s->paint);
	json_decref(s->snap);
	s->f->view->rows = s->f->view->cols = 0;
	free(s);
}

void screen_suspend(struct fullscreen *s)
{
	give_terminal(s);
	s->paused = true;
}

void screen_again(struct fullscreen *s)
{
	if (!s->paused) {
		endwin();
		capture_close(s->capture);
	}
	s->paused = false;
	take_terminal(s);
	take_size(s);
	clearok(curscr, TRUE);
}
