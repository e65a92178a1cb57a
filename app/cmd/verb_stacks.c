/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks at the prompt: the program once more, as a process that measures, with the words of the
 * command. It makes namespaces and waits, which control must not. */
#include "stacks.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

enum { WORDS_MOST = 64 };

struct stacking {
	pid_t pid;
	int from, said; /* its standard output and error */
	struct sbuf text;
	bool over;
};
_Static_assert(sizeof(struct stacking) <= VERB_STATE_BYTES, "state of a verb");

static struct stacking *stacking_of(struct cmd_run *r)
{
	return (struct stacking *)r->state;
}

static void stacks_end(struct cmd_run *r)
{
	struct stacking *s = stacking_of(r);

	if (s->from > 0) {
		loop_fd(app_of(r)->loop, s->from, 0, NULL, NULL);
		close(s->from);
	}
	if (s->said > 0)
		close(s->said);
	sbuf_free(&s->text);
	*s = (struct stacking){0};
}

static void on_output(void *arg, short revents)
{
	struct stacking *s = stacking_of(arg);
	char data[8192];
	ssize_t n = read(s->from, data, sizeof(data));

	(void)revents;
	if (n > 0) {
		sbuf_addn(&s->text, data, (size_t)n);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		s->over = true;
		loop_fd(app_of((struct cmd_run *)arg)->loop, s->from, 0, NULL, NULL);
	}
}

/* The last line that it said: why it failed. */
static int stacks_why(const struct stacking *s, struct err *e)
{
	char text[900];
	ssize_t n = pread(s->said, text, sizeof(text) - 1, 0);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	for (char *end = text + strlen(text); end > text && end[-1] == '\n';)
		*--end = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	return err_set(e, EIO, "stacks: %s",
		       strncmp(line, "wirerate: ", 10) == 0 ? line + 10 : line);
}

/* Prints what it has found. */
static bool stacks_tell(struct cmd_run *r)
{
	json_t *doc = json_loads(sbuf_str(&stacking_of(r)->text), 0, NULL);

	if (doc != NULL) {
		stacks_print((enum out_mode)r->out_mode, doc, r->out);
		cmd_result(r, doc);
	}
	json_decref(doc);
	return doc != NULL;
}

static int stacks_poll(struct cmd_run *r, struct err *e)
{
	struct stacking *s = stacking_of(r);
	int status, rc = 0;

	if (!s->over)
		return VERB_PENDING;
	status = child_wait(s->pid);
	r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	if (!stacks_tell(r) || r->exit_code != 0)
		rc = stacks_why(s, e);
	stacks_end(r);
	return rc;
}

/* It tells what it has by then. */
static void stacks_cancel(struct cmd_run *r)
{
	struct stacking *s = stacking_of(r);
	char data[8192];
	ssize_t n;

	kill(s->pid, SIGINT);
	fcntl(s->from, F_SETFL, 0);
	while ((n = read(s->from, data, sizeof(data))) > 0)
		sbuf_addn(&s->text, data, (size_t)n);
	child_wait(s->pid);
	stacks_tell(r);
	stacks_end(r);
}

static int stacks_start_child(struct cmd_run *r, char **argv, struct err *e)
{
	struct stacking *s = stacking_of(r);
	int out[2] = {-1, -1}, rc;

	*s = (struct stacking){.said = memfd_create("said", MFD_CLOEXEC)};
	if (s->said < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) != 0) {
		rc = err_set(e, errno, "no pipe to a process: %s", strerror(errno));
		stacks_end(r);
		return rc;
	}
	/* the other end waits like any program */
	fcntl(out[1], F_SETFL, 0);
	s->from = out[0];
	rc = child_start(&(struct child_ask){.path = "/proc/self/exe",
					     .argv = argv,
					     .out = out[1],
					     .err = s->said,
					     .no_input = true,
					     .group = true},
			 &s->pid);
	close(out[1]);
	if (rc != 0) {
		stacks_end(r);
		return err_set(e, rc, "no process can be made: %s", strerror(rc));
	}
	loop_fd(app_of(r)->loop, s->from, POLLIN, on_output, r);
	return VERB_PENDING;
}

static int stacks_verb(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct cmd_word word[WORDS_MOST];
	char *list[WORDS_MOST + 3], *buf = xcalloc(1, strlen(r->line) + 1);
	char self[] = "wirerate", json[] = "--json";
	struct stacks_opts o;
	int n = cmd_split(r->line, word, WORDS_MOST, buf, strlen(r->line) + 1, e), rc = n;

	(void)args;
	list[0] = self;
	list[1] = json;
	for (int i = 0; i < n; i++)
		list[2 + i] = (char *)(uintptr_t)word[i].text;
	if (n > 0) {
		list[2 + n] = NULL;
		rc = stacks_words(n - 1, list + 3, &o, e);
	}
	if (rc == 0 && o.serve)
		rc = err_set(e, EINVAL,
			     "stacks serve serves until it is ended; run it from a "
			     "shell: wirerate stacks serve");
	else if (rc == 0 && o.help)
		stacks_usage(r->out);
	else if (rc == 0)
		rc = stacks_start_child(r, list, e);
	free(buf);
	return rc;
}

static const struct arg_spec args_stacks[] = {{ARG_REST, "WORKLOAD ...", ARG_PATH}, {ARG_END}};

const struct verb verb_stacks = {
	.name = "stacks",
	.args = args_stacks,
	.run = stacks_verb,
	.flags = VERB_NO_LOAD,
	.poll = stacks_poll,
	.cancel = stacks_cancel,
	.help = "Run the same workload on the kernel's TCP and on a port's, in turn, and compare.\n"
		"Workloads: tcp_rr, tcp_crr, tcp_stream, udp_rr, udp_stream, and iperf3 with its "
		"options behind it;\n"
		"`stacks --help` lists the options.\n"
		"It makes network namespaces, which needs root and which are gone afterwards, or "
		"with --peer HOST uses\n"
		"another machine. Without a port: `wirerate stacks tcp_rr`. See docs/stacks.md.",
};
