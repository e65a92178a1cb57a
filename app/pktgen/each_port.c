/* SPDX-License-Identifier: BSD-3-Clause */
/* One command for each port of a list. */
#include "each_port.h"

#include <stdlib.h>

/* The command of a port. */
struct port_cmd {
	struct cmd_run run;
	struct sbuf line, out;
	struct err why; /* rc < 0 */
	int rc;         /* what it returned last */
};

struct each_port {
	struct port_cmd *cmd; /* those before `told` are done, and their output is taken */
	unsigned n, told;
};
_Static_assert(sizeof(struct each_port) <= VERB_STATE_BYTES, "state of a verb");

static struct each_port *each_of(struct cmd_run *r)
{
	return (struct each_port *)r->state;
}

static void each_free(struct each_port *x)
{
	for (unsigned i = 0; i < x->n; i++) {
		json_decref(x->cmd[i].run.results);
		sbuf_free(&x->cmd[i].line);
		sbuf_free(&x->cmd[i].out);
	}
	free(x->cmd);
	*x = (struct each_port){0};
}

/* Takes what was printed, up to the first command that goes on and its output until now. */
static void each_take(struct cmd_run *r)
{
	struct each_port *x = each_of(r);

	for (; x->told < x->n; x->told++) {
		struct port_cmd *c = &x->cmd[x->told];
		sbuf_add(r->out, sbuf_str(&c->out));
		sbuf_reset(&c->out);
		if (c->rc == VERB_PENDING)
			return;
	}
}

/* Ends it: gives results, exit code, and the first error. Further ones become remarks. */
static int each_end(struct cmd_run *r, struct err *e)
{
	struct each_port *x = each_of(r);
	int rc = VERB_DONE;

	each_take(r);
	for (unsigned i = 0; i < x->n; i++) {
		struct port_cmd *c = &x->cmd[i];
		json_t *doc;
		size_t k;
		json_array_foreach(c->run.results, k, doc)
			cmd_result(r, doc);
		if (c->run.exit_code > r->exit_code)
			r->exit_code = c->run.exit_code;
		if (c->rc < 0 && (rc < 0 || e == NULL)) {
			sbuf_addf(r->note, "%s\n", c->why.text);
		} else if (c->rc < 0) {
			rc = c->rc;
			*e = c->why;
		}
	}
	each_free(x);
	return rc;
}

/* Begins the command of a port: false if it is refused. */
static bool each_exec(struct cmd_run *r, struct port_cmd *c)
{
	c->run.host = r->host;
	c->run.out_mode = r->out_mode;
	c->run.out = &c->out;
	c->run.note = r->note;
	c->run.batch = r->batch;
	c->why.col = -1;
	c->rc = cmd_exec(r->cmd, &c->run, sbuf_str(&c->line), &c->why);
	return c->rc >= 0;
}

int each_port_begin(struct cmd_run *r, const struct portset *ports, each_port_fn *fn, struct err *e)
{
	struct each_port *x = each_of(r);
	unsigned nports = ctl_nports(app_of(r)->ctl), i;
	int rc = 0;

	x->cmd = xcalloc(nports, sizeof(*x->cmd));
	for (unsigned p = 0; p < nports && rc == 0; p++)
		if (portset_has(ports, p))
			rc = fn(r, p, &x->cmd[x->n++].line, e);
	for (i = 0; rc == 0 && i < x->n; i++)
		if (!each_exec(r, &x->cmd[i]))
			break;
	if (rc == 0 && i == x->n)
		return each_port_poll(r, e);
	if (rc == 0) {
		rc = x->cmd[i].rc;
		if (e != NULL)
			*e = x->cmd[i].why;
		while (i-- > 0)
			if (x->cmd[i].rc == VERB_PENDING)
				cmd_cancel(&x->cmd[i].run);
	}
	each_free(x);
	return rc;
}

int each_port_poll(struct cmd_run *r, struct err *e)
{
	struct each_port *x = each_of(r);
	bool goes_on = false;

	for (unsigned i = x->told; i < x->n; i++) {
		struct port_cmd *c = &x->cmd[i];
		if (c->rc == VERB_PENDING)
			c->rc = cmd_poll(&c->run, &c->why);
		goes_on = goes_on || c->rc == VERB_PENDING;
	}
	if (!goes_on)
		return each_end(r, e);
	each_take(r);
	return VERB_PENDING;
}

void each_port_cancel(struct cmd_run *r)
{
	struct each_port *x = each_of(r);

	for (unsigned i = x->told; i < x->n; i++)
		if (x->cmd[i].rc == VERB_PENDING) {
			cmd_cancel(&x->cmd[i].run);
			x->cmd[i].rc = VERB_DONE;
		}
	each_end(r, NULL);
}

bool each_port_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct each_port *x = (const struct each_port *)r->state;

	return x->told < x->n && cmd_run_progress(&x->cmd[x->told].run, out);
}
