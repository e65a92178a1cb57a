/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate stacks WORDS`: it waits for processes of its own, and has no loop. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alone.h"
#include "file.h"
#include "out.h"
#include "stacks.h"
#include "ui/tty.h"
#include "visible.h"

enum { EXIT_USAGE = 2, EXIT_LACKING = 3 };

static volatile sig_atomic_t signalled;

static void on_signal(int signo)
{
	if (signalled != 0) /* the second one does not wait; nothing outlives this process */
		_exit(128 + signo);
	signalled = signo;
	stacks_interrupt();
}

static void alone_note(const char *text)
{
	visible_print(stderr, "%s", text);
}

static int alone_fail(const struct err *e, int code)
{
	visible_print(stderr, "wirerate: %s\n", e->text);
	return code;
}

static int put_file(const char *path, void (*make)(const json_t *, struct sbuf *),
		    const json_t *doc, struct err *e)
{
	struct sbuf text = {0};
	int rc;

	if (path == NULL)
		return 0;
	make(doc, &text);
	rc = file_create(path, sbuf_str(&text), text.len, e);
	sbuf_free(&text);
	return rc;
}

static int alone_tell(const struct stacks_opts *o, const json_t *doc, int out_mode, int code)
{
	struct sbuf text = {0};
	struct err e;

	stacks_print((enum out_mode)out_mode, doc, &text);
	bool taken = alone_print("wirerate", sbuf_str(&text));
	sbuf_free(&text);
	if (!taken)
		return EXIT_LACKING;
	if (put_file(o->html, stacks_html, doc, &e) < 0 ||
	    put_file(o->svg, stacks_svg, doc, &e) < 0)
		return alone_fail(&e, EXIT_LACKING);
	return code;
}

static int alone_measure(const struct stacks_opts *o, int out_mode)
{
	struct sigaction act = {.sa_handler = on_signal};
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct err e;
	json_t *doc;
	int code;

	if ((o->html != NULL && file_creatable(o->html, &e) < 0) ||
	    (o->svg != NULL && file_creatable(o->svg, &e) < 0))
		return alone_fail(&e, EXIT_USAGE);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &act, NULL);
	doc = stacks_run(o, alone_note, &code, &e);
	if (doc != NULL)
		code = alone_tell(o, doc, out_mode, code);
	else if (signalled == 0)
		code = alone_fail(&e, code);
	json_decref(doc);
	if (signalled != 0)
		tty_die(signalled);
	return code;
}

static int stacks_alone(const char *link, int argc, char **argv, int out_mode)
{
	struct stacks_opts o;
	struct sbuf text = {0};
	struct err e;

	(void)link;
	if (stacks_words(argc - 1, argv + 1, &o, &e) != 0)
		return alone_fail(&e, EXIT_USAGE);
	if (o.help) {
		stacks_usage(&text);
		bool taken = alone_print("wirerate", sbuf_str(&text));
		sbuf_free(&text);
		return taken ? 0 : EXIT_LACKING;
	}
	if (!o.serve)
		return alone_measure(&o, out_mode);
	if (o.listens ? stacks_serve(STDIN_FILENO, STDOUT_FILENO)
		      : stacks_listen(&o, alone_note, &e))
		return alone_fail(&e, EXIT_LACKING);
	return 0;
}

static const char *const links[] = {NULL};
const struct alone alone_stacks = {"stacks", links, stacks_alone};
