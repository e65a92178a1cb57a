/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "screen_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESC L'\33'

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

/* Returns true when Ctrl-C was pressed and the loop has not told us yet. */
static bool interrupt_waits(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, SIGINT) == 1;
}

void screen_input(void *arg, short revents)
{
	struct fullscreen *s = arg;
	unsigned char byte;

	(void)revents;
	if (s->f->interrupted)
		return; /* what is typed after Ctrl-C belongs to the next line */
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
	} while (byte != '\n' && byte != '\r' && screen_fd_ready(STDIN_FILENO, POLLIN) &&
		 !interrupt_waits());
	uint64_t wait = keys_wait_ns(s->keys);
	if (wait > 0)
		s->esc_timer = loop_timer(s->f->loop, wait, 0, on_esc_timeout, s);
}

static void screen_keys_enter(struct fullscreen *s)
{
	struct sbuf echo = {0};
	char *text = edit_text(s->edit);

	unsigned long mark = scroll_mark(s->f->log);

	edit_reset(s->edit);
	s->left = 0;
	screen_close_pane(s);
	scroll_end(s->f->log);
	s->page_need = 0;
	if (*text != '\0') {
		sbuf_addf(&echo, PROMPT "%s", text);
		scroll_add(s->f->log, ROLE_LOG_ECHO, sbuf_str(&echo), false);
	}
	s->due_page = s->due_page || !s->f->view->frozen;
	s->due_log = true;
	front_entered(s->f, text);
	screen_read(s, mark); /* a long answer is shown from its beginning */
	sbuf_free(&echo);
	free(text);
}

/* Runs the command that a key stands for, and shows it like a typed one. While a script asks a
 * question the key is refused: it is no answer, and the command would be queued behind a script
 * that may never end. */
static void screen_keys_command(struct fullscreen *s, const char *verb)
{
	struct sbuf line = {0}, echo = {0};

	if (sess_asks(s->f->sess)) {
		beep();
		scroll_end(s->f->log);
		sbuf_addf(
			&line,
			"no %s: a script asks, and the next line is its answer; Ctrl-C ends the script",
			verb);
		scroll_add(s->f->log, ROLE_LOG_ERROR, sbuf_str(&line), false);
		s->due_log = true;
		sbuf_free(&line);
		return;
	}
	screen_close_pane(s);
	sbuf_addf(&line, "%s %u", verb, s->f->view->port);
	sbuf_addf(&echo, PROMPT "%s", sbuf_str(&line));
	scroll_end(s->f->log);
	scroll_add(s->f->log, ROLE_LOG_ECHO, sbuf_str(&echo), false);
	s->due_page = s->due_page || !s->f->view->frozen;
	s->due_log = true;
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

/* Returns how many ports the page shows at once. The last group of them may be smaller. */
static unsigned group_of(const struct fullscreen *s)
{
	return s->f->view->room > 0 ? s->f->view->room : s->out_of.shown > 0 ? s->out_of.shown : 1;
}

/* Selects the port before or after the selected one, and moves the page to the group of ports in
 * which it is. */
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
	if (s->out_of.shown > 0 && (at < v->first || at >= v->first + s->out_of.shown))
		v->first = at - at % group_of(s);
	v->stream = 0;
	free(ports);
	view_touch(v);
}

static void more_ports(struct fullscreen *s, bool forward)
{
	struct view *v = s->f->view;
	unsigned group = group_of(s);

	if (!forward)
		v->first = v->first > group ? v->first - group : 0;
	else if (v->first + group < s->out_of.of)
		v->first += group;
	/* The selected port stays in sight, because F5 starts it. */
	unsigned n;
	const json_t **ports = page_ports(s->snap, &n);
	for (unsigned i = 0; i < n && s->out_of.of > 0; i++)
		if (json_integer_value(json_object_get(ports[i], "port")) == v->port &&
		    (i < v->first || i >= v->first + group)) {
			v->port = (unsigned)json_integer_value(
				json_object_get(ports[v->first < n ? v->first : 0], "port"));
			v->stream = 0;
			break;
		}
	free(ports);
	view_touch(v);
}

static void more_rows(struct fullscreen *s, bool down)
{
	const struct page_out *o = &s->out_of;
	struct view *v = s->f->view;
	unsigned by = o->rows > 1 ? o->rows - 1 : 1, above = o->top,
		 below = o->all > o->top + o->rows ? o->all - o->top - o->rows : 0;
	bool tail = v->page != NULL && v->page->tail;

	/* top counts rows from the beginning of the list, and with `tail` from its end. */
	if (down)
		v->top = tail ? (below > by ? below - by : 0) : above + (below > by ? by : below);
	else
		v->top = tail ? below + (above > by ? by : above) : (above > by ? above - by : 0);
	view_touch(v);
}

/* Selects the stream before or after the selected one, among those in the page's snapshot. */
static void select_stream(struct fullscreen *s, int step_by)
{
	const json_t *list = json_object_get(s->snap, "streams"), *item;
	struct view *v = s->f->view;
	long best = -1;
	size_t i;

	json_array_foreach(list, i, item) {
		long id = (long)json_integer_value(json_object_get(item, "stream"));
		if (step_by < 0 ? id < v->stream && id > best
				: id > v->stream && (best < 0 || id < best))
			best = id;
	}
	if (best >= 0)
		v->stream = (unsigned)best;
	view_touch(v);
}

static void scroll_log(struct fullscreen *s, int rows)
{
	scroll_by(s->f->log, rows);
	s->due_log = true;
}

/* Acts on keys that do the same whatever is typed. Returns false when it is not such a key. */
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
		screen_keys_command(s, k->code == K_F5 ? "start" : "stop");
		return true;
	case K_F1:
		show_page(s, page_find("help", NULL));
		return true;
	case K_CHAR:
		if (k->ch == ESC && s->pane && !keys_waiting(s->keys)) {
			screen_close_pane(s);
			return true;
		}
		if (k->ch != L'\f')
			return false;
		clearok(curscr, TRUE); /* Ctrl-L draws the same again, without newer numbers */
		return true;
	default:
		return false;
	}
}

/* Acts on keys that mean something while nothing is typed. None of them starts a port. Returns
 * false when it is not such a key. */
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
	/* The answer to a question may begin with any character. */
	if (k->ch > L' ' && sess_asks(s->f->sess))
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
	} else if (k->ch == L'-' || k->ch == L'+') {
		select_stream(s, k->ch == L'-' ? -1 : 1);
	} else if (k->ch == L'?') {
		show_page(s, page_find("help", NULL));
	} else if (k->ch == L'\4') {
		s->ended = true;
	} else {
		/* Escape alone means nothing here. The editor would keep it, and take digits that
		 * follow for the number of a command. */
		return k->ch == ESC && !keys_waiting(s->keys) && !edit_is_vi(s->edit);
	}
	return true;
}

/* Puts the characters of a key where screen_get_key() finds them. */
static void screen_keys_feed(struct fullscreen *s, const struct key *k)
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

/* Returns true when no more keys are wanted: the screen ends, or Ctrl-C was pressed. */
static bool screen_stops(const struct fullscreen *s)
{
	const struct front *f = s->f;

	return f->interrupted || f->hangup || s->ended || loop_stopped(f->loop) ||
	       front_changes(f, true);
}

int screen_get_key(void *arg, wchar_t *wc)
{
	struct fullscreen *s = arg;
	struct key k;

	if (s->nfeed == 0 && s->macro == MACRO_ASK) {
		s->macro = MACRO_DONE;
		errno = EINTR;
		return -1;
	}
	while (s->nfeed == 0) {
		if (screen_stops(s)) {
			errno = EINTR;
			return -1;
		}
		if (keys_next(s->keys, &k)) {
			if (k.pasted || !take_anywhere(s, &k))
				screen_keys_feed(s, &k);
			continue;
		}
		s->due_prompt = true;
		screen_step(s);
		s->f->turn(s->f->arg);
	}
	*wc = s->feed[0];
	memmove(s->feed, s->feed + 1, --s->nfeed * sizeof(*s->feed));
	return 1;
}

/* Takes a character of a pasted text. No character of it acts as a key, and its lines run like
 * typed ones. */
static void take_pasted(struct fullscreen *s, const struct key *k)
{
	if (k->code == K_CHAR && (k->ch == L'\n' || k->ch == L'\r')) {
		screen_keys_enter(s);
	} else if (k->code == K_CHAR) {
		wchar_t ch = k->ch == L'\t' ? L' ' : k->ch;
		if (ch >= L' ' && ch != L'\x7f')
			edit_insert(s->edit, &ch, 1);
	}
}

void screen_take_key(struct fullscreen *s, const struct key *k)
{
	s->due_prompt = true;
	if (k->pasted) {
		take_pasted(s, k);
		return;
	}
	if (take_anywhere(s, k))
		return;
	if (line_empty(s) && take_empty(s, k)) {
		screen_close_pane(s);
		return;
	}
	if (k->code == K_BACKTAB)
		return;
	screen_keys_feed(s, k);
	/* In ~/.editrc a key may stand for many (bind -s). libedit keeps these itself, so it is
	 * called until it asks us for a key. */
	for (s->macro = MACRO_MAY; s->macro != MACRO_DONE;) {
		enum edit_did did = edit_key(s->edit);
		if (did == EDIT_ENTER)
			screen_keys_enter(s);
		s->ended = s->ended || did == EDIT_END;
		if (screen_stops(s))
			break;
		s->macro = s->nfeed > 0 ? MACRO_MAY : s->macro == MACRO_MAY ? MACRO_ASK : s->macro;
	}
	s->macro = MACRO_MAY;
	s->nfeed = 0;
}
