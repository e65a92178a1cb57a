/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that options go together: for a program that serves, for its client (`attach`), and for
 * `doctor`. */
#include "args_int.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "alone.h"
#include "cmd.h"

/* The program that serves cannot read the client's files, so the text of each script is sent in
 * place of its name. */
static int send_scripts(struct args *a, struct err *e)
{
	for (unsigned i = 0; i < a->nitems; i++) {
		struct args_item *it = &a->item[i];
		struct sbuf text = {0};
		char *chunk;
		if (it->script == NULL)
			continue;
		int rc = args_read_file(it->script, &chunk, e);
		sbuf_add(&text, "lua ");
		cmd_quote(chunk, &text);
		free(chunk);
		free(it->text);
		it->text = text.s;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A client refuses options that say how the program that serves is started. */
int args_attach(struct args *a, char **rest, int nrest, struct err *e)
{
	const struct {
		bool given;
		const char *name;
	} own[] = {{a->nports > 0, "-p"},
		   {a->nmaps > 0, "-m"},
		   {a->neal > 0, "EAL options"},
		   {a->promiscuous, "-P"},
		   {a->take, "--take"},
		   {a->mbufs > 0, "--mbufs"},
		   {a->txd > 0, "--txd"},
		   {a->rxd > 0, "--rxd"},
		   {a->mtu > 0, "--mtu"},
		   {a->stream, "--json-stream"},
		   {a->report != NULL, "--report"},
		   {a->daemon, "--daemon"},
		   {a->serve, "--serve"},
		   {a->pid_file != NULL, "--pid-file"},
		   {a->rpc.socket != NULL, "--socket"},
		   {a->rpc.listen != NULL, "-g"}};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (own[i].given)
			return err_set(
				e, EINVAL,
				"%s belongs to the program that serves, not to `wirerate attach`",
				own[i].name);
	if (nrest > 0)
		return err_set(
			e, EINVAL,
			"attach takes one name, and '%.100s' stands behind it; commands are given with -e",
			rest[0]);
	return send_scripts(a, e);
}

int args_serve(struct args *a, struct err *e)
{
	const char *name = a->daemon ? "--daemon" : "--serve";

	if (a->pid_file != NULL && !a->daemon && !a->serve)
		return err_set(e, EINVAL,
			       "option --pid-file: there is one with --daemon and --serve alone");
	if (!a->daemon && !a->serve)
		return 0;
	if (a->daemon && a->serve)
		return err_set(
			e, EINVAL,
			"--daemon and --serve exclude each other: one goes to the background");
	if (a->command != NULL)
		return err_set(
			e, EINVAL,
			"option %s: '%.100s' is the only command of a run; give those that are to be run first with -e",
			name, a->command);
	if (a->daemon && a->stream)
		return err_set(e, EINVAL,
			       "--daemon has no standard output for --json-stream; --serve has");
	if (a->rpc.socket == NULL)
		a->rpc.socket = "";
	a->batch = true;
	return 0;
}

/* `doctor` runs nothing and ends, so options that say what to run are refused. */
int args_doctor(const struct args *a, struct err *e)
{
	const struct {
		bool given;
		const char *name;
	} runs[] = {{a->nitems > 0, "-e and -f"},
		    {a->daemon, "--daemon"},
		    {a->serve, "--serve"},
		    {a->pid_file != NULL, "--pid-file"},
		    {a->stream, "--json-stream"},
		    {a->report != NULL, "--report"},
		    {a->rpc.socket != NULL, "--socket"},
		    {a->rpc.listen != NULL, "-g"}};

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		if (runs[i].given)
			return err_set(
				e, EINVAL,
				"`wirerate doctor` opens no port and runs no commands; leave %s out, or give `doctor` at the prompt",
				runs[i].name);
	return 0;
}

bool args_is_alone(const struct args *a, const char *word)
{
	return a->what == ARGS_RUN && !a->attach && !a->daemon && !a->serve && !a->stream &&
	       a->nports == 0 && a->neal == 0 && a->nitems == 0 && a->ndperf == 0 &&
	       a->report == NULL && a->rpc.socket == NULL && a->rpc.listen == NULL &&
	       alone_verb(word) != NULL;
}
