/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "screen_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static void show_list(void *arg, const struct hint_list *l)
{
	struct fullscreen *s = arg;
	struct sbuf out = {0};
	unsigned long mark = scroll_mark(s->f->log);

	hint_print(l, (unsigned)s->at.cols, &out);
	scroll_add(s->f->log, ROLE_LOG_TEXT, sbuf_str(&out), false);
	screen_read(s, mark);
	sbuf_free(&out);
}

static void screen_ring(void *arg)
{
	(void)arg;
	beep();
}

void screen_printed(struct fullscreen *s)
{
	s->due_log = true;
}

void screen_look(struct fullscreen *s)
{
	s->due_look = true;
}

void screen_resize(struct fullscreen *s)
{
	s->resized = true;
}

static const char *screen_string(const char *cap)
{
	const char *text = tigetstr((char *)cap);

	return text == NULL || text == (char *)-1 ? "" : text;
}

void screen_tell_leave(struct fullscreen *s)
{
	struct sbuf b = {0};

	sbuf_add(&b, keys_paste_off(s->keys));
	if (s->mouse && *screen_string("XM") != '\0')
		sbuf_add(&b, tparm((char *)screen_string("XM"), 0, 0, 0, 0, 0, 0, 0, 0, 0));
	static const char *const caps[] = {"rmkx", "op", "sgr0", "cnorm"};
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		sbuf_add(&b, screen_string(caps[i]));
	/* On a terminal without an alternate screen the cursor goes below everything. */
	sbuf_add(&b, tparm((char *)screen_string("cup"), s->at.rows - 1, 0, 0, 0, 0, 0, 0, 0, 0));
	sbuf_add(&b, *screen_string("rmcup") != '\0' ? screen_string("rmcup") : "\n");
	tty_screen(s->fd, sbuf_str(&b), stdout_pipe_fd(s->pipe));
	sbuf_free(&b);
}

static void on_printed(void *arg, const char *text)
{
	struct fullscreen *s = arg;

	tty_last_words(text);
	scroll_add(s->f->log, ROLE_LOG_TEXT, text, false);
	s->due_log = true;
}

static void take_terminal(struct fullscreen *s)
{
	tty_raw();
	s->pipe = stdout_pipe_open(s->f->loop, on_printed, s);
	screen_tell_leave(s);
	outlet_add(s->out, keys_paste_on(s->keys));
	s->due_all = true;
}

static void give_terminal(struct fullscreen *s)
{
	screen_unwatch(s);
	tty_go_on(s->fd);
	outlet_add(s->out, keys_paste_off(s->keys));
	endwin();
	bool taken = outlet_drain(s->out);
	if (taken)
		tty_screen(-1, NULL, -1);
	tty_restore(); /* if the terminal has not taken all: drops the rest and leaves the screen */
	stdout_pipe_close(s->pipe);
	s->pipe = NULL;
	if (taken && !s->f->hangup)
		scroll_replay(s->f->log, stdout, s->f->color_err ? s->f->caps.red : "",
			      s->f->color_err ? s->f->caps.normal : "");
}

static void set_env(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void on_tstp(int signo)
{
	(void)signo;
}

/* Where curses finds the default action of SIGTSTP it takes the signal over, and ignores it while
 * it draws. A Ctrl-Z that is pending then is lost. It leaves a program's own handler alone, and
 * looks for one only when it opens its first terminal. */
static SCREEN *open_without_tstp(struct fullscreen *s)
{
	struct sigaction sa = {.sa_handler = on_tstp}, old;

	sigemptyset(&sa.sa_mask);
	sigaction(SIGTSTP, &sa, &old);
	SCREEN *scr = newterm(NULL, outlet_file(s->out), stdin);
	sigaction(SIGTSTP, &old, NULL);
	return scr;
}

/* Lets curses open the terminal. It begins with a scrolling region of all rows, and cannot ask the
 * outlet's file how many there are. So the environment tells it, and is put back afterwards. */
static SCREEN *new_term(struct fullscreen *s)
{
	static const char *const names[] = {"LINES", "COLUMNS"};
	char *had[ARRAY_SIZE(names)], text[16];
	int size[ARRAY_SIZE(names)];

	screen_size(s, &size[0], &size[1]);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		had[i] = getenv(names[i]) != NULL ? xstrdup(getenv(names[i])) : NULL;
		snprintf(text, sizeof(text), "%d", size[i]);
		set_env(names[i], text);
	}
	SCREEN *scr = open_without_tstp(s);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		set_env(names[i], had[i]);
		free(had[i]);
	}
	return scr;
}

static bool open_curses(struct fullscreen *s, enum args_color color)
{
	s->out = outlet_open(STDOUT_FILENO);
	if (s->out == NULL)
		return false;
	s->fd = outlet_fd(s->out);
	s->scr = new_term(s);
	if (s->scr == NULL)
		return false;
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
	const struct edit_opts opts = {.front = f,
				       .key = screen_get_key,
				       .list = show_list,
				       .beep = screen_ring,
				       .arg = s};

	*s = (struct fullscreen){.f = f,
				 .fd = -1,
				 .timer = -1,
				 .esc_timer = -1,
				 .version = f->view->version,
				 .repaint = f->view->repaint};
	s->edit = edit_new(&opts);
	if (s->edit == NULL || !open_curses(s, color)) {
		err_set(e, EIO, "the full screen cannot be opened: %s",
			s->edit == NULL ? "no pseudo-terminal" : strerror(errno));
		screen_close(s);
		return NULL;
	}
	edit_give(s->edit);
	screen_take_size(s);
	take_terminal(s);
	return s;
}

void screen_close(struct fullscreen *s)
{
	struct loop *loop = s->f->loop;

	loop_timer_del(loop, s->timer);
	loop_timer_del(loop, s->esc_timer);
	if (s->keys != NULL && keys_pasting(s->keys))
		tcflush(STDIN_FILENO, TCIFLUSH); /* the shell must not get the rest of a paste */
	if (s->scr != NULL) {
		if (!s->paused)
			give_terminal(s);
		delscreen(s->scr);
	}
	outlet_close(s->out);
	edit_free(s->edit);
	keys_free(s->keys);
	paint_free(s->paint);
	json_decref(s->snap);
	s->f->view->rows = s->f->view->cols = 0;
	free(s);
}

static void watch_keys(struct fullscreen *s)
{
	bool want = s->running && !s->paused;

	loop_fd(s->f->loop, STDIN_FILENO, want ? POLLIN : 0, want ? screen_input : NULL, s);
}

void screen_suspend(struct fullscreen *s)
{
	if (!s->paused)
		give_terminal(s);
	s->paused = true;
	watch_keys(s);
}

void screen_again(struct fullscreen *s)
{
	bool ours = tty_foreground(s->fd);

	tty_screen(-1, NULL, -1);
	stdout_pipe_close(s->pipe);
	s->pipe = NULL;
	if (ours && !isendwin())
		endwin(); /* SIGSTOP has left no time for it */
	s->paused = !ours;
	watch_keys(s);
	if (!ours)
		return;
	take_terminal(s);
	screen_take_size(s);
}

bool screen_waits(struct fullscreen *s)
{
	if (s->paused && tty_foreground(s->fd))
		screen_again(s); /* a shell does not tell a job that runs already */
	return s->paused;
}

bool screen_run(struct fullscreen *s)
{
	struct front *f = s->f;
	struct key k;

	s->running = true;
	watch_keys(s);
	while (!f->hangup && !s->ended && !loop_stopped(f->loop) && !front_changes(f, true)) {
		if (f->interrupted) {
			f->interrupted = false;
			keys_drop(s->keys);
			edit_reset(s->edit);
			s->left = 0;
			s->due_prompt = true;
		} else if (keys_next(s->keys, &k)) {
			screen_take_key(s, &k);
		} else {
			screen_step(s);
			f->turn(f->arg);
		}
	}
	s->running = false;
	watch_keys(s);
	bool other = !f->hangup && !s->ended && !loop_stopped(f->loop);
	if (other)
		edit_keep(s->edit);
	else
		front_leave(f, screen_step, s);
	return other;
}
