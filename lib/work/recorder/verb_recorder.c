/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb recorder: recorder 0,1 on, recorder 0,1 dump, recorder 0,1 off. */
#include <errno.h>
#include <string.h>

#include "recorder_app.h"

#define END_NS 10000000000ull /* a file is not waited for any longer */
#define EXIT_TOO_LATE 1

enum {
	A_PORTS,
	A_DO,
	A_WHAT,
	A_ABOVE,
	A_ABOVE_NS,
	A_FRAMES,
	A_FRAMES_N,
	A_SNAP,
	A_SNAP_N,
	A_TO,
	A_DIR
};
enum { ON, DUMP, OFF };

static const char *const doing[] = {[ON] = "on", [DUMP] = "dump", [OFF] = "off", NULL};

struct recording {
	struct portset ports;
	bool dumps;
	uint64_t files; /* begun before */
	uint64_t begin_ns;
};
_Static_assert(sizeof(struct recording) <= VERB_STATE_BYTES, "state of a verb");

/* What is asked for by the words behind `on`. */
static int recorder_read(const struct arg_val *a, struct recorder_spec *s, struct err *e)
{
	s->program = "wirerate " WR_VERSION;
	s->what = (struct recorder_what){.kinds = RECORDER_ALL};
	if (a[A_WHAT].given)
		memcpy(&s->what, a[A_WHAT].v.raw, sizeof(s->what));
	bool latency = (s->what.kinds >> RECORDER_LATENCY & 1) != 0;
	if (a[A_ABOVE].given && (!latency || s->what.latency_ns != 0))
		return err_at(
			e, EINVAL, a[A_ABOVE].col,
			"a time belongs to latency, once: recorder 0,1 on loss,latency > 1ms");
	if (a[A_ABOVE].given)
		s->what.latency_ns = a[A_ABOVE_NS].v.u;
	if (latency && s->what.latency_ns == 0)
		return err_at(
			e, EINVAL, a[A_WHAT].col,
			"latency wants the time from which on it is a fault, and above 0: latency > 1ms");
	s->frames = a[A_FRAMES_N].given ? (uint32_t)a[A_FRAMES_N].v.u : RECORDER_DFLT_FRAMES;
	s->snap = a[A_SNAP_N].given ? (uint32_t)a[A_SNAP_N].v.u : RECORDER_DFLT_SNAP;
	s->dir = a[A_DIR].given ? a[A_DIR].text : "";
	if (a[A_DIR].given && s->dir[0] == '\0')
		return err_at(e, EINVAL, a[A_DIR].col, "the name of a folder is wanted");
	return 0;
}

static int recorder_begin_verb(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	struct recorder_spec s = {0};
	int rc = arg_ports(r, &a[A_PORTS], &s.ports, e);

	if (rc == 0)
		rc = recorder_read(a, &s, e);
	if (rc == 0)
		rc = recorder_on(app_of(r)->ctl, &s, r->note, e);
	if (rc < 0 || r->batch)
		return rc;
	sbuf_add(r->note, "port ");
	ports_print(&s.ports, r->note);
	sbuf_addf(r->note,
		  ": recording the last %u frames of each queue and direction; faults: ", s.frames);
	recorder_vt_what.print(NULL, &s.what, r->note);
	sbuf_addc(r->note, '\n');
	return VERB_DONE;
}

static int recorder_end_verb(struct cmd_run *r, struct err *e)
{
	const struct recording *x = (const struct recording *)r->state;

	if (recorder_off(app_of(r)->ctl, &x->ports) == 0)
		return err_set(e, EINVAL, "none of these ports is recorded; `show recorder` tells");
	return VERB_PENDING;
}

static int recorder_run(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	struct recording *x = (struct recording *)r->state;

	if (a[A_DO].given && a[A_DO].choice == ON) {
		if (!a[A_PORTS].given)
			return err_at(e, EINVAL, a[A_DO].col,
				      "say of which ports: recorder all on, or recorder 0,1 on");
		return recorder_begin_verb(r, a, e);
	}
	if (!a[A_DO].given)
		return err_at(e, EINVAL, a[A_DO].col,
			      "on, dump or off is wanted; `show recorder` tells what goes on");
	int rc = arg_ports_or_all(r, &a[A_PORTS], &x->ports, e);
	for (unsigned i = A_WHAT; rc == 0 && i <= A_DIR; i++)
		if (a[i].given)
			rc = err_at(e, EINVAL, a[i].col,
				    "this belongs behind `on`; `%s` stands alone",
				    doing[a[A_DO].choice]);
	if (rc < 0)
		return rc;
	x->begin_ns = verb_now_ns();
	x->dumps = a[A_DO].choice == DUMP;
	if (!x->dumps)
		return recorder_end_verb(r, e);
	rc = recorder_dump(app_of(r)->ctl, &x->ports, e);
	return rc < 0 ? rc : VERB_PENDING;
}

static int recorder_verb_poll(struct cmd_run *r, struct err *e)
{
	const struct recording *x = (const struct recording *)r->state;
	const struct ctl *c = app_of(r)->ctl;
	bool waits = x->dumps ? recorder_dumping(c, &x->ports) : !recorder_written(c, &x->ports);

	(void)e;
	if (waits && verb_now_ns() - x->begin_ns < END_NS)
		return VERB_PENDING;
	if (waits) {
		sbuf_add(r->note,
			 "recorder: the file is not complete after 10 s; its disk is slow\n");
		r->exit_code = EXIT_TOO_LATE;
	}
	return VERB_DONE;
}

static void recorder_cancel(struct cmd_run *r)
{
	(void)r; /* what was begun is done all the same */
}

static const char *const about_doing[] = {
	[ON] = "keep the last frames, and write those around faults",
	[DUMP] = "write what is in memory now",
	[OFF] = "end recorders, and write what they have noted",
};

static const struct arg_spec args_recorder[] = {
	[A_PORTS] = {ARG_TARGETS, "ports", ARG_OPT},
	/* A recorder makes files, which clients need a right for. */
	[A_DO] = {ARG_CHOICE, "what", ARG_OPT | ARG_PATH, {.choices = doing}, about_doing},
	[A_WHAT] = {ARG_VALUE, "FAULTS", ARG_OPT, {&recorder_vt_what}},
	[A_ABOVE] = {ARG_WORD, ">", ARG_OPT},
	[A_ABOVE_NS] = {ARG_VALUE, "DURATION", ARG_OPT, {&vt_duration}},
	[A_FRAMES] = {ARG_WORD, "frames", ARG_OPT},
	[A_FRAMES_N] = {ARG_VALUE,
			"N",
			ARG_OPT,
			{&vt_uint, RECORDER_FRAMES_LEAST, RECORDER_FRAMES_MOST}},
	[A_SNAP] = {ARG_WORD, "snap", ARG_OPT},
	[A_SNAP_N] = {ARG_VALUE,
		      "BYTES",
		      ARG_OPT,
		      {&vt_uint, RECORDER_SNAP_LEAST, RECORDER_SNAP_MOST}},
	[A_TO] = {ARG_WORD, "to", ARG_OPT},
	[A_DIR] = {ARG_FILE, "FOLDER", ARG_OPT},
	[A_DIR + 1] = {ARG_END},
};

const struct verb verb_recorder = {
	.name = "recorder",
	.args = args_recorder,
	.run = recorder_run,
	.flags = VERB_NO_LOAD,
	.poll = recorder_verb_poll,
	.cancel = recorder_cancel,
	.help = "Keep the last frames of ports in memory, and write those around a fault to a file: recorder 0,1 on, recorder 0,1 off.\n"
		"Faults are told by probes: loss, duplicate, reorder, corrupt, and latency > 1ms; `on` alone means all but latency. N is\n"
		"frames of each queue and direction, BYTES is what is kept of each. Files are named by time and port, hold the frames\n"
		"of all ports of the recorder, with comments on those that faults are about, and are at most one a second and 100 in\n"
		"all. `recorder <ports> dump` writes what is in memory now. `show recorder` tells which faults are in files.",
};
