/* SPDX-License-Identifier: BSD-3-Clause */
#include "console.h"
#include "visible.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "feed.h"
#include "front.h"
#include "line.h"
#include "log.h"
#include "screen.h"

#define LOG_LINES 10000
#define LOOK_NS 250000000ull

/* While the prompt runs, one of screen, line and feed is there: the full screen, the line prompt or
 * the plain prompt. */
struct console {
	struct front f;
	enum args_color color;
	bool can_edit;
	struct fullscreen *screen;
	struct line *line;
	struct feed *feed;
	bool prompted;       /* the plain prompt stands on the terminal */
	unsigned long lines; /* feed_lines() when the plain prompt was written */
	int timer;           /* runs while this process is in the background of its terminal */
	int look_timer;      /* for progress; runs while a screen or line prompt can show it */
};

static bool console_wants(enum args_color color, int fd)
{
	return color == COLOR_ALWAYS || (color == COLOR_AUTO && tty_wants_color(fd));
}

struct console *console_new(const struct console_opts *opts)
{
	struct console *c = xcalloc(1, sizeof(*c));
	struct front *f = &c->f;

	c->color = opts->color;
	c->timer = c->look_timer = -1;
	*f = (struct front){.loop = opts->loop,
			    .view = opts->view,
			    .turn = opts->turn,
			    .arg = opts->arg};
	f->tty = isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO) ? stdout : stderr;
	c->can_edit = tty_caps(&f->caps, fileno(f->tty)) && isatty(fileno(f->tty));
	f->can_screen =
		c->can_edit && f->caps.can_screen && f->tty == stdout && isatty(STDIN_FILENO);
	f->shows_out = isatty(STDOUT_FILENO);
	f->color_out = console_wants(opts->color, STDOUT_FILENO);
	f->color_err = f->color_out && (opts->color == COLOR_ALWAYS || isatty(STDERR_FILENO));
	f->color_tty = f->color_out || (f->tty == stderr && opts->color == COLOR_AUTO &&
					tty_wants_color(STDERR_FILENO));
	f->log = scroll_new(LOG_LINES);
	return c;
}

void console_free(struct console *c)
{
	if (c == NULL)
		return;
	loop_timer_del(c->f.loop, c->timer);
	progress_drop(&c->f.progress);
	tty_caps_free(&c->f.caps);
	scroll_free(c->f.log);
	free(c->f.typed);
	free(c);
}

/* Makes way for text that is to be written on the terminal. */
static void console_hide(struct console *c)
{
	/* What is typed at a plain prompt is the terminal's: it stays, and a new prompt follows. */
	if (c->feed != NULL) {
		if (c->prompted && feed_lines(c->feed) == c->lines)
			fputc('\n', c->f.tty);
		fflush(c->f.tty);
		c->prompted = false;
	}
	if (c->line != NULL)
		line_hide(c->line);
}

static int console_say(struct console *c, FILE *f, enum role role, const char *text)
{
	struct front *fr = &c->f;
	bool red = role == ROLE_LOG_ERROR && fr->color_err;
	struct sbuf shown = {0};
	int rc = 0;

	if (text[0] == '\0')
		return 0;
	/* A program that reads the results gets all bytes as they are. */
	if (f == stdout && !fr->shows_out)
		sbuf_add(&shown, text);
	else
		visible_add(&shown, text, strlen(text));
	scroll_add(fr->log, role, shown.s, c->screen == NULL);
	if (c->screen != NULL) {
		screen_printed(c->screen);
		sbuf_free(&shown);
		return 0;
	}
	console_hide(c);
	clearerr(f);
	errno = 0;
	/* The colour ends before the newline, so that neither a pager nor a line that is cut leaves
	 * it switched on. */
	size_t n = shown.len - (shown.s[shown.len - 1] == '\n');
	fprintf(f, "%s%.*s%s\n", red ? fr->caps.red : "", (int)n, shown.s,
		red ? fr->caps.normal : "");
	sbuf_free(&shown);
	if (fflush(f) != 0 || ferror(f))
		rc = errno != 0 ? -errno : -EIO;
	if (c->line != NULL)
		line_show(c->line);
	return rc;
}

int console_print(struct console *c, bool result, const char *text)
{
	return console_say(c, result ? stdout : stderr, ROLE_LOG_TEXT, text);
}

void console_error(struct console *c, const char *text)
{
	console_say(c, stderr, ROLE_LOG_ERROR, text);
}

void front_entered(struct front *f, const char *line)
{
	if (!sess_asks(f->sess)) {
		const char *past = cmd_past_prompt(line);
		if (*past == '\0')
			return;
		if ((size_t)(past - line) != strspn(line, " \t")) /* mere blanks stay as typed */
			line = past;
		if (f->history != NULL)
			history_add(f->history, line);
	}
	sess_exec(f->sess, line, NULL);
	sess_poll(f->sess);
}

void front_leave(struct front *f, void (*each)(void *arg), void *arg)
{
	f->leaving = true;
	if (f->hangup)
		sess_cancel(f->sess);
	while (sess_busy(f->sess) && !loop_stopped(f->loop)) {
		if (each != NULL)
			each(arg);
		f->turn(f->arg);
	}
}

static void run_plain(struct console *c)
{
	struct front *f = &c->f;

	c->feed = feed_new(f->loop, f->sess, STDIN_FILENO, NULL);
	while (!loop_stopped(f->loop) && !feed_ended(c->feed)) {
		bool away = !tty_foreground(STDIN_FILENO);
		feed_hold(c->feed, away);
		if (away)
			c->prompted = false; /* written again when the terminal is ours again */
		if (f->interrupted) {
			feed_drop(c->feed);
			fputc('\n', f->tty);
			c->prompted = f->interrupted = false;
		}
		if (feed_lines(c->feed) != c->lines)
			c->prompted = false;
		if (!c->prompted && !sess_busy(f->sess) && !away) {
			fputs(PROMPT, f->tty);
			fflush(f->tty);
			c->prompted = true;
			c->lines = feed_lines(c->feed);
		}
		feed_turn(c->feed);
		f->turn(f->arg);
	}
	if (c->prompted)
		fputc('\n', f->tty);
	fflush(f->tty);
	feed_free(c->feed);
	c->feed = NULL;
	front_leave(f, NULL, NULL);
}

/* Runs the full screen. Returns true when the line prompt is wanted next. */
static bool run_screen(struct console *c)
{
	struct err e;

	c->screen = screen_open(&c->f, c->color, &e);
	if (c->screen == NULL) {
		c->f.can_screen = false;
		console_error(c, e.text);
		return true;
	}
	bool other = screen_run(c->screen);
	screen_close(c->screen);
	c->screen = NULL;
	return other;
}

/* Runs the line prompt, or the plain one if lines cannot be edited. Returns true when the screen is
 * wanted next. */
static bool run_line(struct console *c)
{
	c->line = line_open(&c->f);
	if (c->line == NULL) {
		run_plain(c);
		return false;
	}
	bool other = line_run(c->line);
	if (!other)
		front_leave(&c->f, NULL, NULL);
	line_close(c->line);
	c->line = NULL;
	return other;
}

/* Is called by the timer, and ends it when the terminal is ours again. The timer is there to wake
 * the loop: then the prompt that runs looks at the terminal itself. */
static void look_again(void *arg)
{
	struct console *c = arg;

	if (!tty_foreground(STDIN_FILENO))
		return;
	loop_timer_del(c->f.loop, c->timer);
	c->timer = -1;
}

/* Starts the timer if the terminal is not ours. A shell that gives the terminal to a job which runs
 * already does not tell the job. */
static void look_for_terminal(struct console *c)
{
	if (c->timer < 0 && !tty_foreground(STDIN_FILENO))
		c->timer = loop_timer(c->f.loop, LOOK_NS, LOOK_NS, look_again, c);
}

/* Waits until the shell gives us the terminal, if it has begun this program with `&`. Meanwhile
 * commands run and clients are served. */
static void wait_for_terminal(struct console *c)
{
	if (tty_foreground(STDIN_FILENO))
		return;
	console_print(
		c, false,
		"in the background: without a prompt, until the shell's `fg` gives it the terminal");
	look_for_terminal(c);
	while (!tty_foreground(STDIN_FILENO) && !loop_stopped(c->f.loop))
		c->f.turn(c->f.arg);
}

static void look_at_work(void *arg)
{
	struct console *c = arg;

	if (c->screen != NULL)
		screen_look(c->screen);
	else if (c->line != NULL)
		line_look(c->line);
}

void console_run(struct console *c, struct sess *sess)
{
	c->f.sess = sess;
	wait_for_terminal(c);
	if (loop_stopped(c->f.loop))
		return;
	if (!c->can_edit) {
		run_plain(c);
		return;
	}
	c->f.history = history_open();
	c->look_timer = loop_timer(c->f.loop, PROGRESS_LOOK_NS, PROGRESS_LOOK_NS, look_at_work, c);
	while (front_changes(&c->f, false) ? run_screen(c) : run_line(c))
		;
	loop_timer_del(c->f.loop, c->look_timer);
	history_close(c->f.history);
	c->f.history = NULL;
}

void console_interrupt(struct console *c)
{
	struct front *f = &c->f;

	if (f->sess != NULL && sess_busy(f->sess))
		sess_cancel(f->sess);
	else if (f->leaving)
		loop_stop(f->loop);
	else
		f->interrupted = true;
}

void console_resize(struct console *c)
{
	if (c->screen != NULL)
		screen_resize(c->screen);
	else if (c->line != NULL)
		line_resize(c->line);
}

/* Ctrl-Z: the terminal gets its own modes back before the shell gets the terminal, and ours when we
 * are continued. */
void console_suspend(struct console *c)
{
	sigset_t set;

	if (c->screen != NULL)
		screen_suspend(c->screen);
	else if (c->line != NULL)
		line_suspend(c->line);
	else
		tty_restore();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* the process stops here */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* The process goes on here. The SIGCONT that is pending is taken, else the loop would
	 * report it too. */
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	sigtimedwait(&set, NULL, &(struct timespec){0});
	look_for_terminal(c);
	if (c->screen != NULL)
		screen_again(c->screen);
	if (c->line != NULL) {
		line_again(c->line);
		line_show(c->line);
	}
}

/* SIGCONT also comes after a SIGSTOP, which nobody can be told of before. Meanwhile the shell has
 * changed the modes of the terminal, and libedit and curses do not know it. */
void console_continue(struct console *c)
{
	look_for_terminal(c);
	if (c->screen != NULL) {
		screen_again(c->screen);
	} else if (c->line != NULL) {
		line_again(c->line);
		line_hide(c->line);
		line_show(c->line);
	}
}
