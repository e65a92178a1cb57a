/* SPDX-License-Identifier: BSD-3-Clause */
#include "console.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "feed.h"
#include "hint.h"
#include "history.h"
#include "tty.h"

#define PROMPT_WORD "wirerate>"
#define PROMPT PROMPT_WORD " "
#define PROMPT_MARK '\1' /* around what libedit must not count as columns */

struct console {
	struct console_opts opts;
	struct sess *sess; /* while running */
	struct tty_caps caps;
	FILE *tty; /* where the line is edited: stdout, or stderr when results go elsewhere */
	bool can_edit, color_out, color_err;
	EditLine *el;
	struct history *history;
	struct feed *feed; /* the plain prompt */
	char prompt[128];
	mbstate_t mbs;
	bool waiting;        /* in get_key: the line is on the screen */
	bool prompted;       /* it is there with its prompt */
	unsigned long lines; /* of the feed when the plain prompt was written */
	bool interrupted, hangup, leaving;
};

static bool wants(enum args_color color, int fd)
{
	return color == COLOR_ALWAYS || (color == COLOR_AUTO && tty_wants_color(fd));
}

struct console *console_new(const struct console_opts *opts)
{
	struct console *c = xcalloc(1, sizeof(*c));

	c->opts = *opts;
	c->tty = isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO) ? stdout : stderr;
	c->can_edit = tty_caps(&c->caps, fileno(c->tty)) && isatty(fileno(c->tty));
	c->color_out = wants(opts->color, STDOUT_FILENO);
	c->color_err = c->color_out && (opts->color == COLOR_ALWAYS || isatty(STDERR_FILENO));
	return c;
}

void console_free(struct console *c)
{
	if (c == NULL)
		return;
	tty_caps_free(&c->caps);
	free(c);
}

/* Columns that the editor uses for a character: control characters are shown as ^X. */
static unsigned columns_of(wchar_t w, unsigned col)
{
	if (w == L'\t')
		return 8 - col % 8;
	int n = wcwidth(w);
	return n >= 0 ? (unsigned)n : iswcntrl((wint_t)w) ? 2 : 1;
}

/* Rows of the edited line: the cursor's and the last one, from 0. */
static void line_rows(struct console *c, unsigned *cursor, unsigned *last)
{
	const LineInfoW *li = el_wline(c->el);
	unsigned width = tty_columns(fileno(c->tty)), col = c->prompted ? sizeof(PROMPT) - 1 : 0;

	*cursor = 0;
	for (const wchar_t *p = li->buffer; p < li->lastchar; p++) {
		if (p == li->cursor)
			*cursor = col / width;
		col += columns_of(*p, col);
	}
	*last = col / width;
	if (li->cursor == li->lastchar)
		*cursor = *last;
}

/* Take the edited line off the screen; the cursor stands where it began. */
static void line_hide(struct console *c)
{
	unsigned cursor, last;

	if (c->feed != NULL) {
		/* What is typed there is the terminal's: it stays, and a new prompt follows. */
		if (c->prompted && feed_lines(c->feed) == c->lines)
			fputc('\n', c->tty);
		fflush(c->tty);
		c->prompted = false;
	}
	if (!c->waiting || c->el == NULL)
		return;
	line_rows(c, &cursor, &last);
	fputs(c->caps.cr, c->tty);
	for (; cursor > 0; cursor--)
		fputs(c->caps.up, c->tty);
	fputs(c->caps.clear_down, c->tty);
	fflush(c->tty);
}

static void line_show(struct console *c)
{
	if (!c->waiting || c->el == NULL)
		return;
	c->prompted = !sess_busy(c->sess);
	el_set(c->el, EL_REFRESH);
}

/* Leave the edited line on the screen and stand below it. */
static void line_pass(struct console *c)
{
	unsigned cursor, last;

	line_rows(c, &cursor, &last);
	for (; cursor <= last; cursor++)
		fputc('\n', c->tty);
	fputs(c->caps.cr, c->tty);
}

static int print(struct console *c, FILE *f, const char *before, const char *text, const char *after)
{
	size_t n = strlen(text);
	bool nl = n > 0 && text[n - 1] == '\n';
	int rc = 0;

	if (n == 0)
		return 0;
	line_hide(c);
	clearerr(f);
	errno = 0;
	/* The colour ends before the newline: a pager or a cut line leaves none behind. */
	fprintf(f, "%s%.*s%s\n", before, (int)(nl ? n - 1 : n), text, after);
	if (fflush(f) != 0 || ferror(f))
		rc = errno != 0 ? -errno : -EIO;
	line_show(c);
	return rc;
}

int console_print(struct console *c, bool result, const char *text)
{
	return print(c, result ? stdout : stderr, "", text, "");
}

void console_error(struct console *c, const char *text)
{
	print(c, stderr, c->color_err ? c->caps.red : "", text, c->color_err ? c->caps.normal : "");
}

static char *prompt(EditLine *el)
{
	static char none[] = "";
	struct console *c;

	el_get(el, EL_CLIENTDATA, &c);
	/* A verb holds the line: what is typed now is edited and queued. */
	return c->prompted ? c->prompt : none;
}

/* One byte, not more: what is typed for the shell after `quit` stays in the terminal. */
static int read_key(struct console *c, wchar_t *wc)
{
	unsigned char byte;

	for (;;) {
		ssize_t n = read(STDIN_FILENO, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			c->hangup = true;
			return 0;
		}
		size_t used = mbrtowc(wc, (char *)&byte, 1, &c->mbs);
		if (used == 0 || used == 1)
			return 1;
		if (used == (size_t)-1)
			memset(&c->mbs, 0, sizeof(c->mbs)); /* not a character of this locale: nothing was typed */
		return 0;
	}
}

static void key_ready(void *arg, short revents)
{
	(void)revents;
	*(bool *)arg = true;
}

/* EL_GETCFN. The loop turns here for as long as nobody types; the terminal is watched only here. */
static int get_key(EditLine *el, wchar_t *wc)
{
	struct console *c;
	bool ready = false;
	int got = 0;

	el_get(el, EL_CLIENTDATA, &c);
	c->waiting = true;
	loop_fd(c->opts.loop, STDIN_FILENO, POLLIN, key_ready, &ready);
	while (!c->interrupted && !c->hangup && !loop_stopped(c->opts.loop)) {
		bool busy = sess_busy(c->sess);
		if (busy == c->prompted) {
			line_hide(c);
			line_show(c);
		}
		c->opts.turn(c->opts.arg);
		/* What is typed behind Ctrl-C belongs to the next line. */
		if (ready && !c->interrupted && (got = read_key(c, wc)) != 0)
			break;
		ready = false;
	}
	loop_fd(c->opts.loop, STDIN_FILENO, 0, NULL, NULL);
	if (got == 0 && (c->interrupted || loop_stopped(c->opts.loop))) {
		line_pass(c);
		fflush(c->tty);
		errno = EINTR;
		got = -1;
	}
	c->waiting = false;
	return got;
}

/* What stands before the cursor. */
static char *before_cursor(EditLine *el)
{
	const LineInfo *li = el_line(el);
	struct sbuf b = {0};

	sbuf_addn(&b, li->buffer, (size_t)(li->cursor - li->buffer));
	return b.s;
}

static void show_list(struct console *c, const struct hint_list *l)
{
	struct sbuf out = {0};

	hint_print(l, tty_columns(fileno(c->tty)), &out);
	line_pass(c);
	fputs(sbuf_str(&out), c->tty);
	fflush(c->tty);
	sbuf_free(&out);
	el_set(c->el, EL_REFRESH);
}

/* TAB: as much of the word as is certain; when that is nothing, the list. */
static unsigned char on_tab(EditLine *el, int ch)
{
	struct console *c;
	struct hint_list l;
	struct sbuf more = {0};
	unsigned char rc = CC_REFRESH;

	(void)ch;
	el_get(el, EL_CLIENTDATA, &c);
	char *line = before_cursor(el);
	hint_find(c->sess, line, &l);
	int drop = hint_complete(&l, line, &more);
	if (l.n == 0 && l.forms.len == 0) {
		rc = CC_REFRESH_BEEP;
	} else if (drop > 0 || more.len > 0) {
		if (drop > 0)
			el_deletestr(el, drop);
		if (el_insertstr(el, sbuf_str(&more)) != 0)
			rc = CC_REFRESH_BEEP;
	} else {
		show_list(c, &l);
		rc = CC_NORM;
	}
	hint_free(&l);
	sbuf_free(&more);
	free(line);
	return rc;
}

/* "?" where a word could begin lists what could stand there; elsewhere it is a character. */
static unsigned char on_question(EditLine *el, int ch)
{
	struct console *c;
	struct hint_list l;
	const char text[] = {(char)ch, '\0'};

	el_get(el, EL_CLIENTDATA, &c);
	char *line = before_cursor(el);
	bool ask = hint_word_begins(line);
	if (ask) {
		hint_find(c->sess, line, &l);
		show_list(c, &l);
		hint_free(&l);
	}
	free(line);
	if (ask)
		return CC_NORM;
	return el_insertstr(el, text) == 0 ? CC_REFRESH : CC_ERROR;
}

static bool edit_open(struct console *c)
{
	if (!c->can_edit)
		return false;
	c->el = el_init("wirerate", stdin, c->tty, stderr);
	if (c->el == NULL)
		return false;
	bool bold = c->color_out || (c->tty == stderr && c->opts.color == COLOR_AUTO && tty_wants_color(STDERR_FILENO));
	/* libedit writes a marked part together with the character behind it, so there must be one. */
	if (bold && *c->caps.bold != '\0')
		snprintf(c->prompt, sizeof(c->prompt), "%c%s%c" PROMPT_WORD "%c%s%c ", PROMPT_MARK, c->caps.bold,
			 PROMPT_MARK, PROMPT_MARK, c->caps.normal, PROMPT_MARK);
	else
		snprintf(c->prompt, sizeof(c->prompt), PROMPT);
	el_set(c->el, EL_CLIENTDATA, c);
	el_set(c->el, EL_PROMPT_ESC, prompt, PROMPT_MARK);
	el_set(c->el, EL_GETCFN, get_key);
	el_set(c->el, EL_SIGNAL, 0);
	el_set(c->el, EL_EDITOR, "emacs");
	el_set(c->el, EL_ADDFN, "wr-complete", "Complete the word", on_tab);
	el_set(c->el, EL_ADDFN, "wr-help", "What could stand here", on_question);
	el_set(c->el, EL_BIND, "^I", "wr-complete", NULL);
	el_set(c->el, EL_BIND, "?", "wr-help", NULL);
	c->history = history_open();
	if (c->history != NULL)
		el_set(c->el, EL_HIST, history, history_lines(c->history));
	el_source(c->el, NULL);
	return true;
}

static void edit_close(struct console *c)
{
	el_set(c->el, EL_PREP_TERM, 0);
	el_end(c->el);
	c->el = NULL;
	history_close(c->history);
	c->history = NULL;
}

/* Enter. Commands that are done at once print before the next prompt appears. */
static void entered(struct console *c, const char *text, int len)
{
	struct sbuf line = {0};

	sbuf_addn(&line, text, (size_t)len);
	while (line.len > 0 && strchr("\r\n", line.s[line.len - 1]) != NULL)
		line.s[--line.len] = '\0';
	if (line.len > 0 && line.s[strspn(line.s, " \t")] != '\0') {
		if (c->history != NULL)
			history_add(c->history, line.s);
		sess_exec(c->sess, line.s, NULL);
		sess_poll(c->sess);
	}
	sbuf_free(&line);
}

/* What was asked for before Ctrl-D is done first; after a hangup nobody waits for it. */
static void leave(struct console *c)
{
	c->leaving = true;
	if (c->hangup)
		sess_cancel(c->sess);
	while (sess_busy(c->sess) && !loop_stopped(c->opts.loop))
		c->opts.turn(c->opts.arg);
}

static void run_editing(struct console *c)
{
	tty_touch();
	while (!loop_stopped(c->opts.loop)) {
		int len = 0;
		c->prompted = !sess_busy(c->sess);
		/* el_gets() shows the prompt in the shell's modes and goes back to them at Enter: keys typed meanwhile
		 * would be echoed, and a Ctrl-D lost. */
		el_set(c->el, EL_PREP_TERM, 1);
		const char *line = el_gets(c->el, &len);
		el_set(c->el, EL_PREP_TERM, 1);
		if (c->interrupted) {
			c->interrupted = false;
			continue;
		}
		if (line == NULL || len <= 0) {
			if (!loop_stopped(c->opts.loop) && !c->hangup)
				fputc('\n', c->tty);
			fflush(c->tty);
			break;
		}
		entered(c, line, len);
	}
	leave(c);
	edit_close(c);
	tty_restore();
}

static void run_plain(struct console *c)
{
	c->feed = feed_new(c->opts.loop, c->sess, STDIN_FILENO, NULL);
	while (!loop_stopped(c->opts.loop) && !feed_ended(c->feed)) {
		if (c->interrupted) {
			feed_drop(c->feed);
			fputc('\n', c->tty);
			c->prompted = c->interrupted = false;
		}
		if (feed_lines(c->feed) != c->lines)
			c->prompted = false;
		if (!c->prompted && !sess_busy(c->sess)) {
			fputs(PROMPT, c->tty);
			fflush(c->tty);
			c->prompted = true;
			c->lines = feed_lines(c->feed);
		}
		feed_turn(c->feed);
		c->opts.turn(c->opts.arg);
	}
	if (c->prompted)
		fputc('\n', c->tty);
	fflush(c->tty);
	feed_free(c->feed);
	c->feed = NULL;
	leave(c);
}

void console_run(struct console *c, struct sess *sess)
{
	c->sess = sess;
	if (edit_open(c))
		run_editing(c);
	else
		run_plain(c);
}

void console_interrupt(struct console *c)
{
	if (c->sess != NULL && sess_busy(c->sess))
		sess_cancel(c->sess);
	else if (c->leaving)
		loop_stop(c->opts.loop);
	else
		c->interrupted = true;
}

void console_resize(struct console *c)
{
	if (c->el == NULL)
		return;
	el_resize(c->el);
	line_hide(c);
	line_show(c);
}

static void edit_again(struct console *c)
{
	if (c->el == NULL)
		return;
	el_set(c->el, EL_PREP_TERM, 0);
	tty_touch();
	el_set(c->el, EL_PREP_TERM, 1);
}

/* libedit's modes are taken off before the shell gets the terminal, and put on again when it is given back. */
void console_suspend(struct console *c)
{
	sigset_t set;

	if (c->el != NULL)
		el_set(c->el, EL_PREP_TERM, 0);
	tty_restore();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* stops here */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	edit_again(c);
	line_show(c);
}

/* Also after a SIGSTOP, which nobody sees coming. The shell has changed the modes meanwhile; libedit does not know. */
void console_continue(struct console *c)
{
	edit_again(c);
	line_hide(c);
	line_show(c);
}
