/* SPDX-License-Identifier: BSD-3-Clause */
/* neper without ports, and under the names of its workloads. */
#include "alone.h"
#include "begin.h"
#include "neper_print.h"
#include "ui/tty.h"
#include "visible.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ours; neper's own are 0, 1, and 255 for a run that ran out of time. */
enum { EXIT_FATAL = 1, EXIT_USAGE = 2, EXIT_LACKING = 3, EXIT_INVALID = 4, EXIT_PEER = 5 };
enum { NEPER_EXIT_TIMEOUT = 255 };

struct neper_alone {
	const char *name; /* in front of messages */
	bool link, failed;
	struct loop *loop;
	struct arm *arm;
	struct neper *run;
	int signo;
};

static void alone_text(void *arg, const char *text)
{
	struct neper_alone *a = arg;

	/* once is told; what follows will not be taken either */
	a->failed = a->failed || !alone_print(a->name, text);
}

static void alone_note(void *arg, const char *text)
{
	struct neper_alone *a = arg;

	visible_print(stderr, "%s: %s", a->name, text);
}

static void alone_signal(void *arg, int signo)
{
	struct neper_alone *a = arg;

	if (a->signo != 0) { /* the second one does not wait for the peer */
		loop_stop(a->loop);
		return;
	}
	a->signo = signo;
	neper_interrupt(a->run);
}

static int alone_error(const struct neper_alone *a, const struct err *e, int code)
{
	visible_print(stderr, "%s: %s\n", a->name, e->text);
	return a->link ? EXIT_FATAL : code;
}

static int alone_end(struct neper_alone *a, const struct neper_print *p)
{
	struct err e;

	switch (neper_state(a->run, &e)) {
	case NEPER_GOOD:
		return 0;
	case NEPER_PEER:
		return alone_error(a, &e, EXIT_PEER);
	case NEPER_TIMEOUT:
		alone_error(a, &e, EXIT_INVALID);
		return a->link ? NEPER_EXIT_TIMEOUT : EXIT_INVALID;
	default:
		(void)p;
		return EXIT_PEER;
	}
}

static int alone_go(struct neper_alone *a, const struct neper_opts *o, int mode)
{
	struct neper_print print = {.mode = mode, .text = alone_text, .note = alone_note, .arg = a};
	struct neper_out out;
	struct err e;
	int code;

	a->loop = begin_loop(false, false);
	if (a->loop == NULL)
		return a->link ? EXIT_FATAL : EXIT_LACKING;
	neper_print_init(&print, o->kind, &out);
	a->arm = arm_kernel(a->loop);
	a->run = neper_begin(a->loop, a->arm, o, &out, &e);
	if (a->run == NULL) {
		code = alone_error(a, &e, EXIT_PEER);
	} else {
		loop_signal(a->loop, SIGINT, alone_signal, a);
		loop_signal(a->loop, SIGTERM, alone_signal, a);
		while (neper_state(a->run, &e) == NEPER_RUNNING && !loop_stopped(a->loop))
			loop_turn(a->loop, UINT64_MAX);
		neper_print_end(&print);
		code = alone_end(a, &print);
	}
	neper_free(a->run);
	arm_kernel_free(a->arm);
	json_decref(print.doc);
	loop_free(a->loop);
	if (a->failed && code == 0)
		code = a->link ? EXIT_FATAL : EXIT_LACKING;
	if (a->signo != 0 && code != 0)
		tty_die(a->signo);
	return code;
}

static int alone_tell(const struct neper_alone *a, const char *text)
{
	if (alone_print(a->name, text))
		return 0;
	return a->link ? EXIT_FATAL : EXIT_LACKING;
}

static int alone_help(const struct neper_alone *a, const struct neper_opts *o)
{
	struct sbuf text = {0};

	if (o->help)
		neper_opts_help(o->kind, &text);
	if (o->help && a->link)
		alone_port_help(37, &text);
	if (!o->help)
		sbuf_add(&text, "1.1.0\n");
	int code = alone_tell(a, sbuf_str(&text));
	sbuf_free(&text);
	return code;
}

static int neper_alone_run(const char *link, int argc, char **argv, int mode)
{
	struct neper_alone a = {.name = link != NULL ? link : "wirerate", .link = link != NULL};
	const char *name = link != NULL ? link : argc > 1 ? argv[1] : "";
	const struct neper_kind *kind = neper_kind_find(name);
	struct neper_opts opts;
	struct err e;

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		return alone_tell(
			&a,
			"usage: wirerate neper WORKLOAD [options]\n"
			"workloads: tcp_rr tcp_crr tcp_stream udp_rr udp_stream; WORKLOAD --help lists "
			"the options of one\n");
	}
	if (kind == NULL) {
		neper_kind_unknown(name, &e);
		return alone_error(&a, &e, EXIT_USAGE);
	}
	if (link == NULL) { /* the workload's name is where the options' program is */
		argc--;
		argv++;
	}
	if (neper_opts_parse(kind, argc, argv, &opts, &e) != 0)
		return alone_error(&a, &e, EXIT_USAGE);
	if (opts.help || opts.version)
		return alone_help(&a, &opts);
	if (strcmp(opts.stack, "port") == 0) {
		err_set(&e, EINVAL,
			link != NULL
				? "--stack port: there is no port; it runs on one that --port-spec "
				  "names, with an address of its own by --ip: `%s --port-spec if:eth1 "
				  "--ip ADDRESS/LENGTH`"
				: "--stack port: there is no port; it runs on one that -p names, with "
				  "an address of its own by --ip: `wirerate -p if:eth1 --ip "
				  "ADDRESS/LENGTH neper %s`",
			kind->name);
		return alone_error(&a, &e, EXIT_USAGE);
	}
	return alone_go(&a, &opts, mode);
}

static bool neper_on_port(const char *link, int argc, char **argv)
{
	struct neper_opts o;
	struct err e;

	return neper_opts_parse(neper_kind_find(link), argc, argv, &o, &e) == 0 && !o.help &&
	       !o.version && strcmp(o.stack, "kernel") != 0;
}

static int neper_code(int ours)
{
	return ours == 0 ? 0 : ours == EXIT_INVALID ? NEPER_EXIT_TIMEOUT : EXIT_FATAL;
}

static const char *const links[] = {"tcp_rr", "tcp_crr",    "tcp_stream",
				    "udp_rr", "udp_stream", NULL};
const struct alone alone_neper = {"neper", links, neper_alone_run, .on_port = neper_on_port,
				  .code = neper_code};
