/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3: a test or a server beside what the ports do, on the kernel's sockets; or on a port, by
 * our own TCP and UDP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm_port.h"
#include "iperf.h"
#include "verbs.h"

enum { EXIT_LACKING = 3, EXIT_PEER = 5, WORDS_MOST = 128 };

struct running {
	struct iperf *test;
	struct arm_use use;
	bool ending; /* and its port ends */
	int rc;      /* what the verb says then */
	struct err why;
	struct cmd_run *run;
	bool documents; /* of a session of JSON: what is printed is a result of the command */
};
_Static_assert(sizeof(struct running) <= VERB_STATE_BYTES, "state of a verb");

static struct running *running_of(const struct cmd_run *r)
{
	return (struct running *)r->state;
}

static void on_print(void *arg, bool error, const char *text)
{
	struct running *i = arg;

	sbuf_add(error ? i->run->note : i->run->out, text);
	json_t *doc = i->documents && !error ? json_loads(text, 0, NULL) : NULL;
	if (doc != NULL)
		cmd_result(i->run, doc);
	json_decref(doc);
}

static void iperf3_end(struct cmd_run *r)
{
	struct running *i = running_of(r);

	iperf_free(i->test);
	i->test = NULL;
	arm_use_drop(&i->use);
}

static void iperf3_cancel(struct cmd_run *r)
{
	if (running_of(r)->test != NULL)
		iperf_interrupt(running_of(r)->test);
	iperf3_end(r);
}

/* The test is no more, and the port of its arm still ends. */
static int iperf3_port_ends(struct running *i, int rc, const struct err *e)
{
	i->rc = rc;
	i->why = *e;
	iperf_free(i->test);
	i->test = NULL;
	arm_port()->end(i->use.arm);
	i->ending = true;
	return VERB_PENDING;
}

static int iperf3_poll(struct cmd_run *r, struct err *e)
{
	struct running *i = running_of(r);
	enum iperf_end end;
	int rc = 0;

	if (i->ending) {
		if (!arm_port()->over(i->use.arm))
			return VERB_PENDING;
		i->use.arm = NULL;
		*e = i->why;
		return i->rc;
	}
	if (!iperf_over(i->test, &end))
		return VERB_PENDING;
	if (end != IPERF_FINE) {
		r->exit_code = end == IPERF_LACKS ? EXIT_LACKING : EXIT_PEER;
		rc = err_set(e, EIO, "iperf3: %s", iperf_why(i->test));
	}
	if (i->use.port)
		return iperf3_port_ends(i, rc, e);
	iperf3_end(r);
	return rc;
}

static bool iperf3_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	double gone, all;

	if (running_of(r)->test == NULL || !iperf_gone(running_of(r)->test, &gone, &all))
		return false;
	cmd_progress_time(out, (uint64_t)(gone * 1e9), (uint64_t)(all * 1e9));
	snprintf(out->text, sizeof(out->text), "iperf3");
	return true;
}

static int iperf3_arm(struct cmd_run *r, const struct iperf_opts *o, struct err *e)
{
	static const enum arm_stack stacks[] = {[IPERF_STACK_ANY] = ARM_ANY,
						[IPERF_STACK_KERNEL] = ARM_KERNEL,
						[IPERF_STACK_PORT] = ARM_PORT};
	struct running *i = running_of(r);

	*i = (struct running){0};
	int rc = arm_use_choose(r, stacks[o->stack], &i->use, e);
	if (rc == 0 && i->use.port && iperf_opts_port(o, e) != 0)
		rc = -ENOTSUP;
	if (rc == 0)
		arm_use_make(r, o->port, &i->use);
	return rc;
}

static int iperf3_begin(struct cmd_run *r, struct iperf_opts *o, struct err *e)
{
	struct running *i = running_of(r);
	enum iperf_end end;

	if (o->daemon || o->pid_file != NULL)
		return err_set(
			e, EINVAL,
			"-D and -I are about a process of its own, and this is one of a session: "
			"`wirerate iperf3 -s -D` is such a process");
	if (r->out_mode == OUT_CSV)
		return err_set(e, EINVAL, "iperf3 has no CSV; --json and -J print its document");
	int rc = iperf3_arm(r, o, e);
	if (rc < 0)
		return rc;
	o->wrapped = i->documents = r->out_mode == OUT_JSON;
	o->json |= o->wrapped;
	o->idle_is_fine = app_of(r)->as_link;
	i->run = r;
	i->test = iperf_start(app_of(r)->loop, i->use.arm, o, on_print, i, &end, e);
	if (i->test != NULL)
		return VERB_PENDING;
	iperf3_end(r);
	r->exit_code = end == IPERF_PEER ? EXIT_PEER : EXIT_LACKING;
	return -EIO;
}

static int iperf3_verb(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct cmd_word word[WORDS_MOST];
	char *list[WORDS_MOST], *buf = xcalloc(1, strlen(r->line) + 1);
	struct iperf_opts o = {0};
	int n = cmd_split(r->line, word, WORDS_MOST, buf, strlen(r->line) + 1, e), rc = n;

	(void)args;
	/* the first word is the verb */
	for (int i = 1; i < n; i++)
		list[i - 1] = (char *)(uintptr_t)word[i].text;
	if (n > 0)
		rc = iperf_opts_read(&o, list, (unsigned)n - 1, e);
	if (rc == 0 && (o.help || o.version))
		o.help ? iperf_opts_help(r->out) : sbuf_add(r->out, "iperf 3.21 (wirerate)\n");
	else if (rc == 0)
		rc = iperf3_begin(r, &o, e);
	iperf_opts_free(&o);
	free(buf);
	return rc;
}

static const struct arg_spec args_iperf3[] = {
	{ARG_REST, "OPTIONS", ARG_PATH},
	{ARG_END},
};

const struct verb verb_iperf3 = {
	.name = "iperf3",
	.args = args_iperf3,
	.run = iperf3_verb,
	.flags = VERB_NO_LOAD,
	.poll = iperf3_poll,
	.cancel = iperf3_cancel,
	.progress = iperf3_tells,
	.help = "Be iperf3, a client (-c HOST) or a server (-s), with its options and its output.\n"
		"Without a port it runs on the kernel's sockets: `wirerate iperf3 -c HOST` needs no rights, and neither does a link to the\n"
		"program that is named iperf3. On a port that has an address (`set <port> ip`, --ip) both ends run on our own TCP and UDP, which\n"
		"--stack kernel is not. `iperf3 --help` lists the options. Exit code 5: the other end failed.",
};
