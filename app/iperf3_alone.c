/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate iperf3 OPTIONS` without a port: on the kernel's sockets, without DPDK. And the program
 * under the name iperf3, with whose messages and exit codes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "alone.h"
#include "begin.h"
#include "daemon.h"
#include "iperf.h"
#include "out.h"
#include "ui/tty.h"
#include "visible.h"

enum { EXIT_USAGE = 2, EXIT_LACKING = 3, EXIT_PEER = 5 };

struct here {
	struct loop *loop;
	struct arm *arm;
	struct iperf *test;
	bool as_name;
	int signo, out_err;
	struct daemon *daemon; /* of -D, in the background */
};

static void say_error(const struct here *h, const char *text)
{
	visible_print(stderr, h->as_name ? "iperf3: error - %s\n" : "wirerate: %s\n", text);
}

/* What is printed comes with its newline, errors as well. */
static void on_print(void *arg, bool error, const char *text)
{
	struct here *h = arg;

	if (error) {
		struct sbuf b = {0};
		sbuf_addn(&b, text, strcspn(text, "\n"));
		say_error(h, sbuf_str(&b));
		sbuf_free(&b);
	} else {
		int rc = out_stdout(text);
		if (rc != 0) {
			h->out_err = -rc;
			loop_stop(h->loop);
		}
	}
}

static void on_signal(void *arg, int signo)
{
	struct here *h = arg;

	h->signo = signo;
	iperf_interrupt(h->test);
}

static void on_turn(void *arg)
{
	struct here *h = arg;
	enum iperf_end end;

	if (h->test != NULL && iperf_over(h->test, &end))
		loop_stop(h->loop);
}

/* iperf3 has one exit code for all that goes wrong. */
static int exit_code(const struct here *h, enum iperf_end end)
{
	if (end == IPERF_FINE)
		return 0;
	if (h->as_name)
		return 1;
	return end == IPERF_LACKS ? EXIT_LACKING : end == IPERF_PEER ? EXIT_PEER : 0;
}

static int run_test(struct here *h, const struct iperf_opts *o)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	enum iperf_end end;
	struct err e;

	h->arm = arm_kernel(h->loop);
	h->test = iperf_start(h->loop, h->arm, o, on_print, h, &end, &e);
	if (h->test == NULL) {
		arm_kernel_free(h->arm);
		say_error(h, e.text);
		return exit_code(h, end);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		loop_signal(h->loop, ends[i], on_signal, h);
	loop_each_turn(h->loop, on_turn, h);
	if (!daemon_ready(h->daemon)) /* who started it has gone */
		loop_stop(h->loop);
	while (!loop_stopped(h->loop))
		loop_turn(h->loop, UINT64_MAX);
	if (!iperf_over(h->test, &end))
		iperf_interrupt(h->test);
	if (end != IPERF_FINE && (h->signo == 0 || h->as_name) && !o->json)
		say_error(h, iperf_why(h->test));
	iperf_free(h->test);
	arm_kernel_free(h->arm);
	/* who reads text may have enough, and with that the test ends */
	if (h->out_err == EPIPE && !o->json && !o->json_stream)
		return 0;
	if (h->out_err != 0) {
		visible_print(stderr, "wirerate: cannot write results to standard output: %s\n",
			      strerror(h->out_err));
		return EXIT_LACKING;
	}
	return exit_code(h, end);
}

/* With -I, and in the background with -D. */
static int run_process(struct here *h, const struct iperf_opts *o)
{
	struct err e;
	int code = EXIT_LACKING, pid_file = -1;

	if (o->daemon) {
		daemon_close_fds();
		int rc = daemon_fork(&h->daemon, &code, &e);
		if (rc > 0)
			return code;
		if (rc < 0) {
			say_error(h, e.text);
			return h->as_name ? 1 : EXIT_LACKING;
		}
	}
	if (o->pid_file != NULL && (pid_file = pid_file_make(o->pid_file, &e)) < 0) {
		say_error(h, e.text);
		return h->as_name ? 1 : EXIT_LACKING;
	}
	h->loop = begin_loop(false, o->daemon);
	code = h->loop == NULL ? EXIT_LACKING : run_test(h, o);
	loop_free(h->loop);
	pid_file_remove(pid_file, o->pid_file);
	daemon_free(h->daemon);
	return code;
}

static int print_text(bool help, bool link)
{
	struct sbuf b = {0};

	if (help)
		iperf_opts_help(&b);
	if (help && link)
		alone_port_help(27, &b);
	if (!help)
		sbuf_add(&b, "iperf 3.21 (wirerate)\n");
	bool taken = alone_print(link ? "iperf3" : "wirerate", sbuf_str(&b));
	sbuf_free(&b);
	return taken ? 0 : link ? 1 : EXIT_LACKING;
}

static int iperf3_run(const char *link, int argc, char **argv, int out_mode)
{
	struct here h = {.as_name = link != NULL};
	struct iperf_opts o;
	struct err e;
	int code = iperf_opts_read(&o, argv + 1, (unsigned)argc - 1, &e) < 0 ? EXIT_USAGE : 0;

	if (code == 0 && o.stack == IPERF_STACK_PORT && !o.help && !o.version)
		code = EXIT_USAGE,
		err_set(&e, EINVAL,
			"--stack port: there is no port: `wirerate -p if:eth1 --ip 10.0.0.1/24 iperf3 -c "
			"HOST` has one");
	if (code == 0 && out_mode == OUT_CSV)
		code = EXIT_USAGE,
		err_set(&e, EINVAL, "iperf3 has no CSV; --json and -J print its document");
	if (code == EXIT_USAGE) {
		say_error(&h, e.text);
		if (h.as_name)
			code = 1;
	} else if (o.help || o.version) {
		code = print_text(o.help, h.as_name);
	} else {
		o.wrapped = out_mode == OUT_JSON;
		o.json |= o.wrapped;
		o.idle_is_fine = h.as_name;
		code = run_process(&h, &o);
	}
	iperf_opts_free(&o);
	if (!h.as_name && h.signo != 0)
		tty_die(h.signo);
	return code;
}

static bool iperf3_on_port(const char *link, int argc, char **argv)
{
	struct iperf_opts o;
	struct err e;
	bool on = iperf_opts_read(&o, argv + 1, (unsigned)argc - 1, &e) >= 0 && !o.help &&
		  !o.version && o.stack != IPERF_STACK_KERNEL;

	(void)link;
	iperf_opts_free(&o);
	return on;
}

static int iperf3_code(int ours)
{
	return ours == 0 ? 0 : 1;
}

static const char *const links[] = {"iperf3", NULL};
const struct alone alone_iperf3 = {"iperf3", links, iperf3_run, .on_port = iperf3_on_port,
				   .code = iperf3_code};
