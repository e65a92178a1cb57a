/* SPDX-License-Identifier: BSD-3-Clause */
/* neper: its workloads, from within a session. */
#include "arm_port.h"
#include "neper_print.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOT_VALID = 4, EXIT_PEER = 5, WORDS_MOST = 256 };

struct nepering {
	char *text;   /* the words of the command, which opts point into */
	char **words; /* text cut into words */
	struct neper_opts *opts;
	struct arm_use use;
	struct neper *run;
	struct neper_print print;
	bool ending; /* and its port ends */
};
_Static_assert(sizeof(struct nepering) <= VERB_STATE_BYTES, "state of a verb");

static struct nepering *nepering_of(struct cmd_run *r)
{
	return (struct nepering *)r->state;
}

/* What ran is no more; the port of its arm may still end. */
static void neper_gone(struct nepering *m)
{
	neper_free(m->run);
	m->run = NULL;
	json_decref(m->print.doc);
	m->print.doc = NULL;
	free(m->opts);
	free(m->words);
	free(m->text);
	m->opts = NULL;
	m->words = NULL;
	m->text = NULL;
}

static void neper_end(struct cmd_run *r)
{
	struct nepering *m = nepering_of(r);

	neper_gone(m);
	arm_use_drop(&m->use);
	*m = (struct nepering){0};
}

static void neper_text(void *arg, const char *text)
{
	struct cmd_run *r = arg;

	sbuf_add(r->out, text);
}

static void neper_note(void *arg, const char *text)
{
	struct cmd_run *r = arg;

	sbuf_add(r->note, text);
}

static int neper_poll(struct cmd_run *r, struct err *e)
{
	struct nepering *m = nepering_of(r);
	struct err why;
	enum neper_end end;

	(void)e;
	if (m->ending) {
		if (!arm_port()->over(m->use.arm))
			return VERB_PENDING;
		*m = (struct nepering){0};
		return VERB_DONE;
	}
	end = neper_state(m->run, &why);
	if (end == NEPER_RUNNING)
		return VERB_PENDING;
	neper_print_end(&m->print);
	cmd_result(r, m->print.doc);
	if (end != NEPER_GOOD) {
		sbuf_addf(r->note, "%s\n", why.text);
		r->exit_code = end == NEPER_PEER ? EXIT_PEER : EXIT_NOT_VALID;
	}
	if (m->use.port) {
		neper_gone(m);
		arm_port()->end(m->use.arm);
		m->ending = true;
		return VERB_PENDING;
	}
	neper_end(r);
	return VERB_DONE;
}

/* The words of the command, quoted ones whole, without the verb. */
static int neper_split(struct cmd_run *r, struct err *e)
{
	struct nepering *m = nepering_of(r);
	size_t most = strlen(r->line) + 1;
	struct cmd_word *word = xcalloc(WORDS_MOST, sizeof(*word));
	int n;

	m->text = xcalloc(1, most);
	m->words = xcalloc(WORDS_MOST + 1, sizeof(*m->words));
	n = cmd_split(r->line, word, WORDS_MOST, m->text, most, e);
	for (int i = 1; i < n; i++)
		m->words[i - 1] = (char *)(uintptr_t)word[i].text;
	free(word);
	return n < 0 ? n : n - 1;
}

static int neper_arm(struct cmd_run *r, struct nepering *m, struct err *e)
{
	const char *stack = m->opts->stack;
	enum arm_stack which = *stack == '\0'               ? ARM_ANY
			       : strcmp(stack, "port") == 0 ? ARM_PORT
							    : ARM_KERNEL;
	int rc = arm_use_choose(r, which, &m->use, e);

	if (rc == 0 && m->use.port && neper_opts_port(m->opts, e) != 0)
		rc = -ENOTSUP;
	if (rc == 0)
		arm_use_make(r, (unsigned)m->opts->control_port, &m->use);
	return rc;
}

static int neper_parse(struct cmd_run *r, struct err *e)
{
	struct nepering *m = nepering_of(r);
	int n = neper_split(r, e), rc;

	if (n < 0)
		return n;
	const struct neper_kind *kind = neper_kind_find(m->words[0]);

	if (kind == NULL)
		return neper_kind_unknown(m->words[0], e);
	m->opts = xcalloc(1, sizeof(*m->opts));
	rc = neper_opts_parse(kind, n, m->words, m->opts, e);
	if (rc != 0)
		return rc;
	if (m->opts->help || m->opts->version)
		return 0;
	return neper_arm(r, m, e);
}

static int neper_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct nepering *m = nepering_of(r);
	struct neper_out out;
	(void)args;
	int rc = neper_parse(r, e);

	if (rc == 0 && (m->opts->help || m->opts->version)) {
		if (m->opts->help)
			neper_opts_help(m->opts->kind, r->out);
		else
			sbuf_add(r->out, "1.1.0\n");
		neper_end(r);
		return VERB_DONE;
	}
	if (rc == 0) {
		m->print = (struct neper_print){.mode = r->out_mode,
						.text = neper_text,
						.note = neper_note,
						.arg = r};
		neper_print_init(&m->print, m->opts->kind, &out);
		m->run = neper_begin(app_of(r)->loop, m->use.arm, m->opts, &out, e);
		if (m->run != NULL)
			return VERB_PENDING;
		/* the words were right: what fails is the network */
		sbuf_reset(r->out);
		sbuf_addf(r->note, "%s\n", e->text);
		r->exit_code = EXIT_PEER;
	}
	neper_end(r);
	return rc != 0 ? rc : VERB_DONE;
}

/* What a client has measured until then is told. */
static void neper_cancel(struct cmd_run *r)
{
	struct nepering *m = nepering_of(r);

	if (m->run != NULL && neper_cut(m->run)) {
		neper_print_end(&m->print);
		cmd_result(r, m->print.doc);
	}
	neper_end(r);
}

static const struct arg_spec args_neper[] = {{ARG_REST, "WORKLOAD OPTIONS", ARG_PATH}, {ARG_END}};

const struct verb verb_neper = {
	.name = "neper",
	.args = args_neper,
	.run = neper_run,
	.poll = neper_poll,
	.cancel = neper_cancel,
	.flags = VERB_NO_LOAD,
	.help = "Run a workload of neper: tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream.\n"
		"Options are neper's: `neper tcp_rr` is a server, `neper tcp_rr -c -H HOST` a client\n"
		"of it, and `neper tcp_rr --help` lists them. Without a port it needs neither DPDK nor\n"
		"rights: `wirerate neper tcp_rr`. Exit code 5: the peer failed. See docs/neper.md.",
};
