/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"
#include "visible.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "edit.h"

#define MARK "\1" /* stands before and after what takes no columns */

struct line {
	struct front *f;
	struct edit *edit;
	char prompt[128];
	mbstate_t mbs;
	bool waiting;  /* in get_key(): the line is on the terminal */
	bool prompted; /* the line has a prompt: no command runs */
	bool changes;  /* the other front is wanted */
	bool paused;   /* this process is in the background: the terminal is left alone */
	bool due_look; /* it is time to look at the progress of commands and runs */
	bool below;    /* progress stands on the row below the line, if there is such a row */
};

/* Returns how many columns the editor uses for a character that stands in column col. */
static unsigned columns_of(wchar_t w, unsigned col)
{
	return w == L'\t' ? 8 - col % 8 : (unsigned)scroll_columns(w);
}

/* Finds out on which row of the edited line the cursor stands, and which row is its last. Rows
 * count from 0. */
static void line_rows(struct line *l, unsigned *cursor, unsigned *last)
{
	const LineInfoW *li = edit_line(l->edit);
	unsigned width = tty_columns(fileno(l->f->tty)), col = l->prompted ? sizeof(PROMPT) - 1 : 0;

	*cursor = 0;
	for (const wchar_t *p = li->buffer; p < li->lastchar; p++) {
		if (p == li->cursor)
			*cursor = col / width;
		/* libedit puts a question of its own (a search) on a row of its own. */
		col = *p == L'\n' ? (col / width + 1) * width : col + columns_of(*p, col);
	}
	*last = col / width;
	if (li->cursor == li->lastchar)
		*cursor = *last;
}

/* Erases the line and everything below it. Afterwards the cursor stands where the line began. */
void line_hide(struct line *l)
{
	const struct tty_caps *caps = &l->f->caps;
	unsigned cursor, last;

	if (!l->waiting || l->paused)
		return;
	line_rows(l, &cursor, &last);
	fputs(caps->cr, l->f->tty);
	for (; cursor > 0; cursor--)
		fputs(caps->up, l->f->tty);
	fputs(caps->clear_down, l->f->tty);
	fflush(l->f->tty);
	l->below = false;
}

/* Writes the progress on the row below the line, if that is a row of the terminal. The cursor
 * stands where the line begins, and is put back there: libedit knows nothing of that row. */
static void draw_below(struct line *l)
{
	const struct tty_caps *caps = &l->f->caps;
	unsigned cursor, last, rows = tty_rows(fileno(l->f->tty));

	const wchar_t *text = l->f->progress.text;

	l->below = text != NULL;
	line_rows(l, &cursor, &last);
	if (text == NULL || last + 2 > rows)
		return;
	for (unsigned i = 0; i <= last; i++)
		fputc('\n', l->f->tty);
	fputs(caps->cr, l->f->tty);
	for (size_t i = 0, n = progress_fit(text, (int)tty_columns(fileno(l->f->tty)) - 1); i < n;
	     i++)
		fprintf(l->f->tty, "%lc", (wint_t)text[i]);
	fputs(caps->cr, l->f->tty);
	for (unsigned i = 0; i <= last; i++)
		fputs(caps->up, l->f->tty);
}

static void line_put_out(struct line *l, bool with_work)
{
	if (!l->waiting || l->paused)
		return;
	l->prompted = !sess_busy(l->f->sess);
	if (with_work)
		draw_below(l);
	el_set(edit_el(l->edit), EL_REFRESH);
}

void line_show(struct line *l)
{
	line_put_out(l, true);
}

/* Takes the progress off the row below the line: libedit does not know of it, and may need the row
 * for what it draws next. */
static void take_below(struct line *l)
{
	if (!l->below)
		return;
	line_hide(l);
	line_put_out(l, false);
}

void line_look(struct line *l)
{
	l->due_look = true;
}

/* Shows progress that has changed, unless somebody is typing. */
static void look_at_work(struct line *l)
{
	struct front *f = l->f;
	bool changed = false,
	     typed = poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, 0) > 0;

	if (l->due_look || progress_over(&f->progress, f->sess)) {
		l->due_look = false;
		changed = progress_look(&f->progress, f->sess, (int)tty_columns(fileno(f->tty)) - 1,
					view_ascii(f->view));
	}
	if (l->paused || (typed && f->progress.text != NULL) ||
	    (!changed && l->below == (f->progress.text != NULL)))
		return;
	line_hide(l);
	line_show(l);
}

/* Leaves the edited line on the terminal and puts the cursor below it. */
static void line_pass(struct line *l)
{
	unsigned cursor, last;

	if (l->paused)
		return;
	line_rows(l, &cursor, &last);
	for (; cursor <= last; cursor++)
		fputc('\n', l->f->tty);
	fputs(l->f->caps.cr, l->f->tty);
}

static const char *line_prompt(void *arg)
{
	struct line *l = arg;

	/* While a verb runs there is no prompt: what is typed is edited, and queued with Enter. */
	return l->prompted ? l->prompt : "";
}

/* Reads one byte and not more, so that what is typed for the shell after `quit` stays in the
 * terminal. Returns 1 when *wc is a character, and 0 when it has not ended or there is none. */
static int read_key(struct line *l, wchar_t *wc)
{
	unsigned char byte;

	for (;;) {
		ssize_t n = read(STDIN_FILENO, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			l->f->hangup = true;
			return 0;
		}
		size_t used = mbrtowc(wc, (char *)&byte, 1, &l->mbs);
		if (used == 0 || used == 1)
			return 1;
		if (used == (size_t)-1)
			/* This is no character of the locale: it is as if nothing had been
			 * typed. */
			memset(&l->mbs, 0, sizeof(l->mbs));
		return 0;
	}
}

static void key_ready(void *arg, short revents)
{
	(void)revents;
	*(bool *)arg = true;
}

/* Gets the next key for libedit, as edit_opts.key does. The loop turns here for as long as nobody
 * types, and only here is the terminal watched. */
static int get_key(void *arg, wchar_t *wc)
{
	struct line *l = arg;
	struct front *f = l->f;
	bool ready = false, watched = false;
	int got = 0;

	l->waiting = true;
	if (f->typed != NULL) {
		edit_give(l->edit);
		line_show(l);
	}
	while (!f->interrupted && !f->hangup && !l->changes && !loop_stopped(f->loop)) {
		bool busy = sess_busy(f->sess);
		look_at_work(l);
		if (busy == l->prompted) {
			line_hide(l);
			line_show(l);
		}
		if (l->paused && tty_foreground(STDIN_FILENO)) {
			line_again(l); /* a shell does not tell a job that runs already */
			line_show(l);
		}
		if (watched == l->paused) {
			watched = !l->paused;
			loop_fd(f->loop, STDIN_FILENO, watched ? POLLIN : 0,
				watched ? key_ready : NULL, &ready);
		}
		f->turn(f->arg);
		l->changes = front_changes(f, false);
		/* What is typed after Ctrl-C belongs to the next line. */
		if (ready && !f->interrupted && !l->paused && (got = read_key(l, wc)) != 0)
			break;
		ready = false;
	}
	take_below(l);
	loop_fd(f->loop, STDIN_FILENO, 0, NULL, NULL);
	if (got == 0 && (f->interrupted || l->changes || loop_stopped(f->loop))) {
		if (l->changes) {
			line_hide(l);
			edit_keep(l->edit);
		} else {
			line_pass(l);
			fflush(f->tty);
		}
		errno = EINTR;
		got = -1;
	}
	l->waiting = false;
	return got;
}

static void show_list(void *arg, const struct hint_list *list)
{
	struct line *l = arg;
	struct sbuf out = {0};

	hint_print(list, tty_columns(fileno(l->f->tty)), &out);
	line_pass(l);
	visible_print(l->f->tty, "%s", sbuf_str(&out));
	sbuf_free(&out);
	el_set(edit_el(l->edit), EL_REFRESH);
}

struct line *line_open(struct front *f)
{
	struct line *l = xcalloc(1, sizeof(*l));
	const struct edit_opts opts = {.front = f,
				       .tty = f->tty,
				       .key = get_key,
				       .list = show_list,
				       .prompt = line_prompt,
				       .arg = l};

	l->f = f;
	/* libedit writes a marked part together with the character behind it, so a character must
	 * follow the last mark. */
	if (f->color_tty && *f->caps.bold != '\0')
		snprintf(l->prompt, sizeof(l->prompt),
			 MARK "%s" MARK PROMPT_WORD MARK "%s" MARK " ", f->caps.bold,
			 f->caps.normal);
	else
		snprintf(l->prompt, sizeof(l->prompt), PROMPT);
	tty_touch();
	l->edit = edit_new(&opts);
	if (l->edit == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

void line_close(struct line *l)
{
	if (!l->paused)
		el_set(edit_el(l->edit), EL_PREP_TERM, 0);
	edit_free(l->edit);
	free(l);
	tty_restore();
}

bool line_run(struct line *l)
{
	EditLine *el = edit_el(l->edit);
	struct front *f = l->f;

	while (!loop_stopped(f->loop)) {
		int len = 0;
		if (front_changes(f, false))
			return true;
		l->prompted = !sess_busy(f->sess);
		/* el_gets() shows the prompt in the shell's modes and goes back to them at Enter:
		 * keys typed meanwhile would be echoed, and a Ctrl-D would be lost. So our modes
		 * are set before and after it. */
		el_set(el, EL_PREP_TERM, 1);
		const char *text = el_gets(el, &len);
		if (!l->paused)
			el_set(el, EL_PREP_TERM, 1);
		if (l->changes)
			return true;
		if (f->interrupted) {
			f->interrupted = false;
			continue;
		}
		if (text == NULL || len <= 0) {
			if (!loop_stopped(f->loop) && !f->hangup && !l->paused)
				fputc('\n', f->tty);
			fflush(f->tty);
			break;
		}
		char *line = edit_text(l->edit);
		front_entered(f, line);
		free(line);
	}
	return false;
}

void line_resize(struct line *l)
{
	if (l->paused)
		return;
	el_resize(edit_el(l->edit));
	line_hide(l);
	line_show(l);
}

void line_suspend(struct line *l)
{
	take_below(l);
	el_set(edit_el(l->edit), EL_PREP_TERM, 0);
	tty_restore();
}

void line_again(struct line *l)
{
	EditLine *el = edit_el(l->edit);

	l->paused = !tty_foreground(STDIN_FILENO);
	/* Without the edit mode libedit leaves the terminal's modes alone. */
	el_set(el, EL_EDITMODE, !l->paused);
	if (l->paused)
		return;
	el_set(el, EL_PREP_TERM, 0);
	tty_touch();
	el_set(el, EL_PREP_TERM, 1);
}
