/* SPDX-License-Identifier: BSD-3-Clause */
/* capture: writes what ports send and receive to a file. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture_app.h"
#include "spool.h"

enum { EXIT_TOO_LATE = 1, EXIT_NOT_WRITTEN = 3 };
enum { STOP, WAIT };
/* A filter may read beyond what is kept of frames. */
#define FILTER_SNAP 262144
#define STOP_NS 10000000000ull /* `capture stop` waits so long for the file */

enum {
	A_PORTS,
	A_WHAT,
	A_FILE,
	A_FILTER,
	A_EXPR,
	A_SNAP,
	A_SNAP_N,
	A_FRAMES,
	A_FRAMES_N,
	A_FOR,
	A_FOR_NS,
	A_SIZE,
	A_SIZE_N,
	A_ROTATE,
	A_ROTATE_N,
	A_EVERY,
	A_EVERY_NS,
	A_RX,
	A_TX,
	A_BOTH
};

/* A command that goes on: its filter is being compiled, or it waits for the end of captures. */
struct capturing {
	struct capture_spec spec; /* path and filter are copies */
	struct filter_job *job;   /* NULL: there is no filter, or it is compiled */
	bool front;               /* the program runs this command alone, and waits for its end */
	bool stopping;
	int filter_col;
	uint64_t limit_ns, begin_ns; /* limit 0: none */
};
_Static_assert(sizeof(struct capturing) <= VERB_STATE_BYTES, "state of a verb");

static struct capturing *capture_state(struct cmd_run *r)
{
	return (struct capturing *)r->state;
}

static void capture_forget(struct capturing *x)
{
	filter_job_free(x->job);
	free((char *)x->spec.path);
	free((char *)x->spec.filter);
	x->job = NULL;
	x->spec.path = x->spec.filter = NULL;
}

/* ---- standard output ---- */

/* Takes standard output for frames: what the program prints goes to standard error from now on.
 * *was keeps what it was. Returns the descriptor, or -errno with *e. */
static int stdout_take(struct cmd_run *r, int col, int *was, struct err *e)
{
	const struct app *app = app_of(r);
	struct stat st;

	if (!r->batch || !app->oneshot || app->guest != NULL || app->streams)
		return err_at(
			e, EINVAL, col,
			"frames go to standard output (`-`) only where this is the program's only command: `wirerate ... capture 1 - for 5s | "
			"tshark -i -`; name a file or a pipe here");
	if (isatty(STDOUT_FILENO))
		return err_at(
			e, EINVAL, col,
			"standard output is a terminal, which cannot show frames; pipe it into another program, as in | tshark -i -");
	fflush(stdout);
	bool pipe = fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
	int fd = pipe ? spool_reopen(STDOUT_FILENO) : -1;
	*was = dup(STDOUT_FILENO);
	if (fd < 0)
		fd = dup(STDOUT_FILENO);
	if (fd >= 0 && *was >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	if (*was >= 0)
		close(*was);
	return err_at(e, EINVAL, col, "standard output cannot be written: %s", strerror(errno));
}

/* ---- the beginning ---- */

static void capture_told(struct cmd_run *r, const struct capture_spec *s)
{
	sbuf_add(r->note, "port ");
	ports_print(&s->ports, r->note);
	sbuf_addf(r->note, ": capturing to '%s', until `capture ", s->path);
	ports_short(&s->ports, r->note);
	sbuf_add(r->note, " stop`");
	if (capture_bounded(s))
		sbuf_add(r->note, " or its limit");
	sbuf_addc(r->note, '\n');
}

static int capture_begin(struct cmd_run *r, const struct filter_prog *prog, struct err *e)
{
	struct capturing *x = capture_state(r);
	bool out = strcmp(x->spec.path, "-") == 0;
	int was = -1, rc = 0;

	x->spec.fd = -1;
	if (out && (rc = stdout_take(r, -1, &was, e)) >= 0) {
		x->spec.fd = rc;
		rc = 0;
	}
	if (rc == 0)
		rc = capture_start(app_of(r)->ctl, &x->spec, prog, e);
	if (rc < 0) {
		if (out && x->spec.fd >= 0) {
			close(x->spec.fd);
			dup2(was, STDOUT_FILENO);
		}
	} else if (!r->batch) {
		capture_told(r, &x->spec);
	}
	if (was >= 0)
		close(was);
	if (rc < 0 || !x->front)
		capture_forget(x);
	x->begin_ns = verb_now_ns();
	return rc < 0 ? rc : x->front ? VERB_PENDING : VERB_DONE;
}

/* Rules between the words of the command. */
static int capture_rules(const struct cmd_run *r, const struct arg_val *a,
			 const struct capture_spec *s, struct err *e)
{
	if (a[A_RX].given + a[A_TX].given + a[A_BOTH].given > 1)
		return err_at(e, EINVAL, a[a[A_BOTH].given ? A_BOTH : A_TX].col,
			      "say one of rx, tx and both; without any it is both");
	if (a[A_FOR_NS].given && s->for_ns == 0)
		return err_at(
			e, EINVAL, a[A_FOR_NS].col,
			"a capture of no time has no frames; allowed are durations above 0, like 10s");
	if (s->rotate > 0 && s->size_bytes == 0 && s->every_ns == 0)
		return err_at(
			e, EINVAL, a[A_ROTATE].col,
			"a ring of files needs to know when the next one begins: `size 100MB` or `every 60s`");
	if (s->rotate == 0 && a[A_EVERY].given)
		return err_at(
			e, EINVAL, a[A_EVERY].col,
			"`every` is for a ring of files; say of how many, as in rotate 10 every 60s");
	if (s->rotate > 0 && strcmp(s->path, "-") == 0)
		return err_at(e, EINVAL, a[A_ROTATE].col,
			      "standard output is no ring of files; leave out `rotate`");
	if (r->batch && app_of(r)->oneshot && !capture_bounded(s))
		return err_at(
			e, EINVAL, a[A_FILE].col,
			"this would never end, and the program ends with this command; say when: for 10s, frames 1000 or size 1GB");
	return 0;
}

static void capture_read(const struct arg_val *a, struct capture_spec *s)
{
	s->program = "wirerate " WR_VERSION;
	s->path = xstrdup(a[A_FILE].text);
	s->filter = a[A_EXPR].given ? xstrdup(a[A_EXPR].text) : NULL;
	s->snap = a[A_SNAP_N].given ? (uint32_t)a[A_SNAP_N].v.u : 0;
	s->frames = a[A_FRAMES_N].given ? a[A_FRAMES_N].v.u : 0;
	s->for_ns = a[A_FOR_NS].given ? a[A_FOR_NS].v.u : 0;
	s->size_bytes = a[A_SIZE_N].given ? a[A_SIZE_N].v.u : 0;
	s->rotate = a[A_ROTATE_N].given ? (unsigned)a[A_ROTATE_N].v.u : 0;
	s->every_ns = a[A_EVERY_NS].given ? a[A_EVERY_NS].v.u : 0;
	s->rx = !a[A_TX].given;
	s->tx = !a[A_RX].given;
}

static int capture_file(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	struct capturing *x = capture_state(r);
	int rc;

	if (a[A_FILE].text[0] == '\0')
		return err_at(e, EINVAL, a[A_FILE].col, "the name of a file is wanted");
	rc = arg_ports(r, &a[A_PORTS], &x->spec.ports, e);
	if (rc < 0)
		return rc;
	capture_read(a, &x->spec);
	x->front = r->batch && app_of(r)->oneshot;
	rc = capture_rules(r, a, &x->spec, e);
	if (rc == 0)
		rc = capture_may_start(app_of(r)->ctl, &x->spec.ports, e);
	if (rc == 0 && x->spec.filter == NULL)
		return capture_begin(r, NULL, e);
	if (rc == 0) {
		rc = filter_start(x->spec.filter, FILTER_SNAP, FILTER_ETHERNET, &x->job, e);
		if (rc < 0 && e != NULL)
			e->col = a[A_EXPR].col;
		x->filter_col = a[A_EXPR].col;
	}
	if (rc < 0)
		capture_forget(x);
	return rc < 0 ? rc : VERB_PENDING;
}

/* ---- the end ---- */

/* The captures of these ports are over, or are not waited for any longer. */
static int capture_done(struct cmd_run *r, bool late)
{
	struct capturing *x = capture_state(r);
	struct ctl *ctl = app_of(r)->ctl;

	if (late && x->stopping)
		sbuf_add(
			r->note,
			"capture: the file is not complete after 10 s; its disk or its reader takes nothing\n");
	else if (late)
		sbuf_add(r->note, "capture: still going on\n");
	if (late)
		r->exit_code = EXIT_TOO_LATE;
	else if (capture_failed(ctl, &x->spec.ports))
		r->exit_code = EXIT_NOT_WRITTEN;
	if (x->front) {
		json_t *doc = capture_json(ctl, &x->spec.ports);
		capture_print(r, doc);
		json_decref(doc);
	}
	capture_forget(x);
	return VERB_DONE;
}

/* limit_ns: so long it is waited for; 0: without a limit. */
static int capture_await(struct cmd_run *r, const struct arg_val *ports, bool stop,
			 uint64_t limit_ns, struct err *e)
{
	struct capturing *x = capture_state(r);
	int rc = arg_ports_or_all(r, ports, &x->spec.ports, e);
	unsigned port;

	if (rc < 0)
		return rc;
	if (r->batch && !stop && limit_ns == 0 &&
	    capture_endless(app_of(r)->ctl, &x->spec.ports, &port))
		return err_at(
			e, EINVAL, ports->col,
			"the capture of port %u has no end, so this would never end; `capture %u wait for 10s`, or for, frames or size when it "
			"begins, bound it",
			port, port);
	x->stopping = stop;
	if (stop)
		capture_stop(app_of(r)->ctl, &x->spec.ports);
	x->limit_ns = limit_ns;
	x->begin_ns = verb_now_ns();
	return capture_goes_on(app_of(r)->ctl, &x->spec.ports) ? VERB_PENDING
							       : capture_done(r, false);
}

/* `capture <ports> stop` and `capture <ports> wait`, which other words make no sense with. */
static int capture_what(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	bool stop = a[A_WHAT].choice == STOP;

	for (unsigned i = A_FILE; i <= A_BOTH; i++)
		if (a[i].given && (stop || (i != A_FOR && i != A_FOR_NS)))
			return err_at(
				e, EINVAL, a[i].col,
				stop ? "`capture <ports> stop` stands alone; a file of that name is written ./stop"
				     : "`capture <ports> wait` takes a time alone, as in capture 1 wait for 10s");
	return capture_await(r, &a[A_PORTS], stop,
			     stop                ? STOP_NS
			     : a[A_FOR_NS].given ? a[A_FOR_NS].v.u
						 : 0,
			     e);
}

static int capture_stop_run(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	return capture_await(r, &a[0], true, STOP_NS, e);
}

static int capture_wait_run(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	return capture_await(r, &a[0], false, a[2].given ? a[2].v.u : 0, e);
}
static int capture_poll(struct cmd_run *r, struct err *e)
{
	struct capturing *x = capture_state(r);

	if (x->job != NULL) {
		struct filter_prog prog = {0};
		int rc = filter_poll(x->job, &prog, e);
		if (rc == -EAGAIN)
			return VERB_PENDING;
		filter_job_free(x->job);
		x->job = NULL;
		if (rc == 0) {
			rc = capture_begin(r, &prog, e);
			filter_prog_free(&prog);
			return rc;
		}
		if (e != NULL)
			e->col = x->filter_col;
		capture_forget(x);
		return rc;
	}
	if (!capture_goes_on(app_of(r)->ctl, &x->spec.ports))
		return capture_done(r, false);
	if (x->limit_ns > 0 && verb_now_ns() - x->begin_ns >= x->limit_ns)
		return capture_done(r, true);
	return VERB_PENDING;
}

static void capture_cancel(struct cmd_run *r)
{
	struct capturing *x = capture_state(r);

	if (x->front && x->job == NULL)
		capture_stop(app_of(r)->ctl, &x->spec.ports);
	capture_forget(x);
}

static bool capture_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct capturing *x = (const struct capturing *)r->state;
	const struct app *app = r->host;
	uint64_t frames = 0, since = 0;

	for (unsigned i = 0; i < ctl_nports(app->ctl) && since == 0; i++)
		if (portset_has(&x->spec.ports, i))
			frames = capture_frames(app->ctl, i, &since);
	out->share = (double)NAN;
	out->left_ns = CMD_LEFT_UNKNOWN;
	if (x->front && x->spec.frames > 0)
		out->share = (double)frames / (double)x->spec.frames;
	if (x->front && x->spec.for_ns > 0)
		cmd_progress_time(out, since, x->spec.for_ns);
	snprintf(out->text, sizeof(out->text), "%s, %" PRIu64 " frames written",
		 x->job != NULL ? "compiling the filter"
		 : x->stopping  ? "ending captures"
				: "capturing",
		 frames);
	return true;
}

static int capture_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	if (args[A_WHAT].given)
		return capture_what(r, args, e);
	if (args[A_FILE].given)
		return capture_file(r, args, e);
	return err_at(
		e, EINVAL, args[A_FILE].col,
		"the name of a file is wanted, or stop, or wait; `show capture` tells what goes on");
}

static const char *const whats[] = {[STOP] = "stop", [WAIT] = "wait", NULL};
static const char *const about_whats[] = {"end captures, and complete their files",
					  "wait until captures have ended by themselves"};

#define MIXED (ARG_OPT | ARG_MIXED)
static const struct arg_spec args_capture[] = {
	[A_PORTS] = {ARG_TARGETS, "ports", ARG_ALL},
	[A_WHAT] = {ARG_CHOICE, "what", ARG_OPT, {.choices = whats}, about_whats},
	[A_FILE] = {ARG_FILE, "FILE", ARG_OPT},
	[A_FILTER] = {ARG_WORD, "filter", MIXED},
	[A_EXPR] = {ARG_VALUE, "EXPR", ARG_OPT, {&capture_vt_filter}},
	[A_SNAP] = {ARG_WORD, "snap", MIXED},
	[A_SNAP_N] = {ARG_VALUE, "BYTES", ARG_OPT, {&vt_uint, 1, 262144}},
	[A_FRAMES] = {ARG_WORD, "frames", MIXED},
	[A_FRAMES_N] = {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, 1000000000000000}},
	[A_FOR] = {ARG_WORD, "for", MIXED},
	[A_FOR_NS] = {ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	[A_SIZE] = {ARG_WORD, "size", MIXED},
	[A_SIZE_N] = {ARG_VALUE, "BYTES", ARG_OPT, {&capture_vt_bytes}},
	[A_ROTATE] = {ARG_WORD, "rotate", MIXED},
	[A_ROTATE_N] = {ARG_VALUE, "FILES", ARG_OPT, {&vt_uint, 2, CAPTURE_ROTATE_MOST}},
	[A_EVERY] = {ARG_WORD, "every", MIXED},
	[A_EVERY_NS] = {ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	[A_RX] = {ARG_WORD, "rx", MIXED},
	[A_TX] = {ARG_WORD, "tx", MIXED},
	[A_BOTH] = {ARG_WORD, "both", MIXED},
	[A_BOTH + 1] = {ARG_END},
};

const struct verb verb_capture = {
	.name = "capture",
	.args = args_capture,
	.run = capture_run,
	.flags = VERB_NO_LOAD,
	.poll = capture_poll,
	.cancel = capture_cancel,
	.progress = capture_progress,
	.help = "Write what ports send and receive to a file (pcapng), or end that: capture 1 x.pcapng, capture 1 stop.\n"
		"filter takes what tcpdump takes. snap keeps the first bytes of each frame. The capture ends after N frames, after\n"
		"DURATION, when the file would be larger than size, or at `capture <ports> stop`, which waits until the file is\n"
		"complete. rotate writes a ring of FILES files, x_00001.pcapng and so on: the next one begins at size, or every\n"
		"DURATION. rx and tx are one direction alone. Several ports go into one file. FILE may be a pipe that is being read;\n"
		"`-` is standard output, in `wirerate ... capture 1 - for 5s | tshark -i -`. `capture <ports> wait [for DURATION]`\n"
		"waits until captures have ended by themselves; exit code 1: they have not. `show capture` tells about frames.",
};

static const struct arg_spec args_stop[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_capture_stop = {
	.name = "capture stop",
	.args = args_stop,
	.run = capture_stop_run,
	.flags = VERB_NO_LOAD,
	.poll = capture_poll,
	.cancel = capture_cancel,
	.progress = capture_progress,
	.help = "End captures, of all ports or of these, and wait until their files are complete.\n"
		"Where the disk or the reader of a pipe takes nothing for 10 s, that is told, and the exit code is 1. It is 3 if the\n"
		"newest capture of one of them could not be written whole.",
};

static const struct arg_spec args_wait[] = {
	{ARG_TARGETS, "ports", ARG_OPT},
	{ARG_WORD, "for", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_END},
};

const struct verb verb_capture_wait = {
	.name = "capture wait",
	.args = args_wait,
	.run = capture_wait_run,
	.flags = VERB_NO_LOAD,
	.poll = capture_poll,
	.cancel = capture_cancel,
	.progress = capture_progress,
	.help = "Wait until captures have ended by themselves, of all ports or of these.\n"
		"If DURATION passes first, the exit code is 1; if the newest capture of one of them could not be written whole, it is 3.\n"
		"Ctrl-C ends the waiting, not the captures.",
};
