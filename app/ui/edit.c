/* SPDX-License-Identifier: BSD-3-Clause */
#include "edit.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define PROMPT_MARK '\1' /* stands before and after what takes no columns */
#define CTRL_D L'\4'

struct edit {
	struct edit_opts opts;
	EditLine *el;
	int master; /* our end of the pseudo-terminal; -1: there is none */
	FILE *in, *out;
	wchar_t key, before; /* the last key, and the one before it */
	bool listed;         /* the last Tab showed the list */
};

static struct edit *edit_of(EditLine *el)
{
	struct edit *ed;

	el_get(el, EL_CLIENTDATA, &ed);
	return ed;
}

static char *on_prompt(EditLine *el)
{
	struct edit *ed = edit_of(el);

	return (char *)(ed->opts.prompt != NULL ? ed->opts.prompt(ed->opts.arg) : "");
}

static int on_key(EditLine *el, wchar_t *wc)
{
	struct edit *ed = edit_of(el);
	int rc = ed->opts.key(ed->opts.arg, wc);

	if (rc == 1) {
		ed->before = ed->key;
		ed->key = *wc;
	}
	return rc;
}

/* Returns the part of the line before the cursor, which the caller frees. */
static char *before_cursor(EditLine *el)
{
	const LineInfo *li = el_line(el);
	struct sbuf b = {0};

	sbuf_addn(&b, li->buffer, (size_t)(li->cursor - li->buffer));
	return b.s;
}

/* TAB inserts as much of the word as is certain. When nothing is certain, it shows the list. */
static unsigned char on_tab(EditLine *el, int ch)
{
	struct edit *ed = edit_of(el);
	struct hint_list l;
	struct sbuf more = {0};
	unsigned char rc = CC_REFRESH;

	(void)ch;
	if (ed->listed && ed->before == L'\t')
		return CC_NORM; /* the list is on the screen already */
	ed->listed = false;
	char *line = before_cursor(el);
	hint_find(ed->opts.front->sess, line, &l);
	int drop = hint_complete(&l, line, &more);
	if (l.n == 0 && l.forms.len == 0) {
		rc = CC_REFRESH_BEEP;
		if (ed->opts.beep != NULL)
			ed->opts.beep(ed->opts.arg);
	} else if (drop > 0 || more.len > 0) {
		if (drop > 0)
			el_deletestr(el, drop);
		if (el_insertstr(el, sbuf_str(&more)) != 0)
			rc = CC_REFRESH_BEEP;
	} else {
		ed->opts.list(ed->opts.arg, &l);
		ed->listed = true;
		rc = CC_NORM;
	}
	hint_free(&l);
	sbuf_free(&more);
	free(line);
	return rc;
}

/* Where a word could begin, "?" lists what could stand there. Elsewhere it is an ordinary
 * character. */
static unsigned char on_question(EditLine *el, int ch)
{
	struct edit *ed = edit_of(el);
	struct hint_list l;
	const char text[] = {(char)ch, '\0'};

	char *line = before_cursor(el);
	bool ask = hint_word_begins(line);
	if (ask) {
		hint_find(ed->opts.front->sess, line, &l);
		ed->opts.list(ed->opts.arg, &l);
		hint_free(&l);
	}
	free(line);
	if (ask)
		return CC_NORM;
	return el_insertstr(el, text) == 0 ? CC_REFRESH : CC_ERROR;
}

/* Function keys are bound to this. libedit would insert the end of a key sequence that it does not
 * know as if it were text. */
static unsigned char on_no_text(EditLine *el, int ch)
{
	(void)el;
	(void)ch;
	return CC_ERROR;
}

static void bind_no_text(EditLine *el, const struct tty_caps *caps)
{
	el_set(el, EL_ADDFN, "wr-no-text", "Nothing: the key is no text", on_no_text);
	for (unsigned i = 0; i < caps->nkeys; i++)
		el_set(el, EL_BIND, caps->keys[i], "wr-no-text", NULL);
}

static void edit_drain(void *arg, short revents)
{
	struct edit *ed = arg;
	char bytes[4096];

	(void)revents;
	if (read(ed->master, bytes, sizeof(bytes)) <= 0)
		loop_fd(ed->opts.front->loop, ed->master, 0, NULL, NULL);
}

/* libedit edits only on a terminal, so it gets a pseudo-terminal. What it writes there is read and
 * thrown away, and neither end blocks: libedit must never wait for somebody to read. */
static bool open_pty(struct edit *ed)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 200};
	int slave;

	if (openpty(&ed->master, &slave, NULL, NULL, &size) != 0) {
		ed->master = -1;
		return false;
	}
	fcntl(ed->master, F_SETFD, FD_CLOEXEC);
	fcntl(ed->master, F_SETFL, O_NONBLOCK);
	fcntl(slave, F_SETFL, fcntl(slave, F_GETFL) | O_NONBLOCK);
	int second = fcntl(slave, F_DUPFD_CLOEXEC, 0);
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	ed->in = fdopen(slave, "r");
	ed->out = second >= 0 ? fdopen(second, "w") : NULL;
	if (ed->in == NULL || ed->out == NULL)
		return false;
	loop_fd(ed->opts.front->loop, ed->master, POLLIN, edit_drain, ed);
	return true;
}

struct edit *edit_new(const struct edit_opts *opts)
{
	struct edit *ed = xcalloc(1, sizeof(*ed));

	*ed = (struct edit){.opts = *opts, .master = -1};
	if (opts->tty != NULL)
		ed->el = el_init("wirerate", stdin, opts->tty, stderr);
	else if (open_pty(ed))
		ed->el = el_init("wirerate", ed->in, ed->out, ed->out);
	EditLine *el = ed->el;
	if (el == NULL) {
		edit_free(ed);
		return NULL;
	}
	el_set(el, EL_CLIENTDATA, ed);
	el_set(el, EL_PROMPT_ESC, on_prompt, PROMPT_MARK);
	el_set(el, EL_GETCFN, on_key);
	el_set(el, EL_SIGNAL, 0);
	el_set(el, EL_EDITOR, "emacs");
	el_set(el, EL_ADDFN, "wr-complete", "Complete the word", on_tab);
	el_set(el, EL_ADDFN, "wr-help", "What could stand here", on_question);
	el_set(el, EL_BIND, "^I", "wr-complete", NULL);
	el_set(el, EL_BIND, "?", "wr-help", NULL);
	bind_no_text(el, &opts->front->caps);
	if (opts->front->history != NULL)
		el_set(el, EL_HIST, history, history_lines(opts->front->history));
	el_source(el, NULL);
	if (ed->master >= 0)
		el_set(el, EL_UNBUFFERED, 1);
	return ed;
}

void edit_free(struct edit *ed)
{
	if (ed == NULL)
		return;
	if (ed->master >= 0)
		loop_fd(ed->opts.front->loop, ed->master, 0, NULL, NULL);
	if (ed->el != NULL) {
		/* With the edit mode on, el_end() would throw away what is typed already. Whoever
		 * changed the modes of the terminal puts them back. */
		el_set(ed->el, EL_EDITMODE, 0);
		el_end(ed->el);
	}
	if (ed->in != NULL)
		fclose(ed->in);
	if (ed->out != NULL)
		fclose(ed->out);
	if (ed->master >= 0)
		close(ed->master);
	free(ed);
}

EditLine *edit_el(struct edit *ed)
{
	return ed->el;
}

char *edit_text(struct edit *ed)
{
	const LineInfo *li = el_line(ed->el);
	struct sbuf b = {0};

	sbuf_addn(&b, li->buffer, (size_t)(li->lastchar - li->buffer));
	while (b.len > 0 && strchr("\r\n", b.s[b.len - 1]) != NULL)
		b.s[--b.len] = '\0';
	return b.s;
}

const LineInfoW *edit_line(struct edit *ed)
{
	return el_wline(ed->el);
}

void edit_keep(struct edit *ed)
{
	const LineInfoW *li = el_wline(ed->el);
	struct front *f = ed->opts.front;

	free(f->typed);
	f->typed = NULL;
	if (li->lastchar == li->buffer)
		return;
	f->cursor = (int)(li->cursor - li->buffer);
	f->typed = edit_text(ed);
}

void edit_give(struct edit *ed)
{
	struct front *f = ed->opts.front;

	if (f->typed == NULL)
		return;
	el_insertstr(ed->el, f->typed);
	const LineInfoW *li = el_wline(ed->el);
	el_cursor(ed->el, f->cursor - (int)(li->cursor - li->buffer));
	free(f->typed);
	f->typed = NULL;
}

enum edit_did edit_key(struct edit *ed)
{
	int n = 0;

	errno = 0;
	const wchar_t *line = el_wgets(ed->el, &n);
	if (line == NULL || n <= 0)
		return EDIT_MORE; /* the line became empty, or libedit was interrupted */
	if (line[n - 1] == L'\n' || line[n - 1] == L'\r')
		return EDIT_ENTER;
	return n == 1 && line[0] == CTRL_D ? EDIT_END : EDIT_MORE;
}

void edit_insert(struct edit *ed, const wchar_t *text, size_t n)
{
	wchar_t *copy = xcalloc(n + 1, sizeof(*copy));

	wmemcpy(copy, text, n);
	el_winsertstr(ed->el, copy);
	free(copy);
}

bool edit_is_vi(struct edit *ed)
{
	const char *name = NULL;

	return el_get(ed->el, EL_EDITOR, &name) == 0 && name != NULL && strcmp(name, "vi") == 0;
}

/* Unbuffered mode is left and entered, because only on entering it does libedit begin a new
 * line. */
void edit_reset(struct edit *ed)
{
	el_set(ed->el, EL_UNBUFFERED, 0);
	el_set(ed->el, EL_UNBUFFERED, 1);
}
