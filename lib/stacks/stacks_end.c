/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks_end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "out.h"
#include "stacks.h"

#define END_ANSWER_MS 60000
#define END_QUIT_MS 3000

static volatile sig_atomic_t interrupted;

void stacks_interrupt(void)
{
	interrupted = 1;
}

bool stacks_interrupted(void)
{
	return interrupted != 0;
}

static int end_interrupted(struct err *e)
{
	return err_set(e, EINTR, "interrupted");
}

int stacks_wait_ns(uint64_t ns, struct err *e)
{
	uint64_t end = sock_now_ns() + ns, now;

	while ((now = sock_now_ns()) < end) {
		struct timespec t = {(time_t)((end - now) / 1000000000),
				     (long)((end - now) % 1000000000)};
		if (interrupted)
			return end_interrupted(e);
		nanosleep(&t, NULL);
	}
	return 0;
}

/* ---- lines ---- */

/* The last line that a program wrote to standard error. */
static void end_said(const struct stacks_end *x, char *out, size_t size)
{
	char text[1024], *line;
	off_t len = x->said < 0 ? 0 : lseek(x->said, 0, SEEK_END), from;
	ssize_t n;

	from = len > (off_t)sizeof(text) - 1 ? len - ((off_t)sizeof(text) - 1) : 0;
	n = x->said < 0 ? 0 : pread(x->said, text, sizeof(text) - 1, from);
	text[n > 0 ? n : 0] = '\0';
	for (char *end = text + strlen(text); end > text && end[-1] == '\n';)
		*--end = '\0';
	line = strrchr(text, '\n');
	snprintf(out, size, "%s", line != NULL ? line + 1 : text);
}

static int end_gone(const struct stacks_end *x, struct err *e)
{
	char said[512];

	end_said(x, said, sizeof(said));
	if (x->pid == 0)
		return err_set(e, EHOSTUNREACH, "the other machine has closed the connection");
	return err_set(e, EPIPE, "%s has ended%s%s",
		       x->port ? "the program with the port" : "an end on the kernel's sockets",
		       *said != '\0' ? ": " : "", said);
}

char *stacks_end_line(struct stacks_end *x)
{
	char *end = x->in.len > 0 ? memchr(x->in.s, '\n', x->in.len) : NULL, *line;

	if (end == NULL)
		return NULL;
	*end = '\0';
	line = xstrdup(x->in.s);
	size_t n = (size_t)(end - x->in.s) + 1;
	memmove(x->in.s, x->in.s + n, x->in.len - n);
	x->in.len -= n;
	return line;
}

/* Takes what is there. false: it says no more. */
static bool end_read(struct stacks_end *x)
{
	char data[8192];
	ssize_t got = read(x->from, data, sizeof(data));

	if (got > 0)
		sbuf_addn(&x->in, data, (size_t)got);
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* In pieces, as a signal may come before poll() begins. */
#define WAIT_PIECE_MS 100

int stacks_ends_wait(struct stacks_end *const *list, unsigned n, unsigned ms, struct err *e)
{
	struct pollfd p[2];
	int ready = 0;

	for (unsigned i = 0; i < n; i++)
		p[i] = (struct pollfd){.fd = list[i]->from, .events = POLLIN};
	for (unsigned gone = 0; gone < ms && ready <= 0; gone += WAIT_PIECE_MS) {
		if (interrupted)
			return end_interrupted(e);
		ready = poll(p, n, WAIT_PIECE_MS);
	}
	if (ready <= 0)
		return -ETIMEDOUT;
	for (unsigned i = 0; i < n; i++) {
		if (p[i].revents == 0 || end_read(list[i]))
			continue;
		if (i == 0)
			return end_gone(list[i], e);
		close(list[i]->from);
		list[i]->from = -1;
	}
	return 0;
}

/* The next line as JSON. New reference; NULL with *e. */
static json_t *end_line(struct stacks_end *x, struct err *e)
{
	char *line;
	int rc = 0;

	while ((line = stacks_end_line(x)) == NULL && rc == 0)
		rc = stacks_ends_wait(&x, 1, END_ANSWER_MS, e);
	if (rc == -ETIMEDOUT)
		err_set(e, ETIMEDOUT, "no answer for %d s from %s", END_ANSWER_MS / 1000,
			x->pid == 0 ? "the other machine" : "an end");
	if (line == NULL)
		return NULL;
	json_t *doc = json_loads(line, 0, NULL);
	free(line);
	if (doc == NULL)
		err_set(e, EPROTO, "an end answers with what is no JSON");
	return doc;
}

void stacks_end_say(struct stacks_end *x, const char *commands)
{
	size_t n = strlen(commands);

	/* if nobody reads any more, the answer that is waited for does not come */
	if (write(x->to, commands, n) != (ssize_t)n || write(x->to, "\n", 1) != 1)
		return;
}

/* ---- beginning ---- */

/* argv: behind the program's own path. */
static int end_process(struct stacks_end *x, int ns, int cpu, char **argv, struct err *e)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, rc = 0;
	char self[] = "/proc/self/exe";
	pid_t pid = -1;

	argv[0] = self;
	x->said = memfd_create("said", MFD_CLOEXEC);
	if (x->said < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		rc = err_set(e, errno, "no pipe to an end: %s", strerror(errno));
	if (rc == 0)
		pid = stacks_start(&(struct stacks_start){.ns = ns,
							  .cpu = cpu,
							  .argv = argv,
							  .in = in[0],
							  .out = out[1],
							  .err = x->said},
				   e);
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	x->to = in[1];
	x->from = out[0];
	x->pid = pid > 0 ? pid : 0;
	return rc < 0 ? rc : pid < 0 ? (int)pid : 0;
}

/* Says a line to an end of sockets, and reads its answer: *doc, the caller's, or NULL if none
 * comes. Returns 0, or an error: also the one that the answer tells. */
static int end_ask(struct stacks_end *x, const char *line, json_t **doc, struct err *e)
{
	const char *why;

	stacks_end_say(x, line);
	*doc = end_line(x, e);
	if (*doc == NULL)
		return interrupted ? -EINTR : -EPIPE;
	why = json_string_value(json_object_get(*doc, "error"));
	return why == NULL ? 0 : err_set(e, EHOSTUNREACH, "%s", why);
}

/* Gives an order, and waits until it is carried out. */
static int end_order(struct stacks_end *x, const struct stacks_order *o, struct err *e)
{
	json_t *doc = stacks_order_json(o);
	struct sbuf text = {0};
	int rc;

	out_json(doc, 0, &text);
	json_decref(doc);
	rc = end_ask(x, sbuf_str(&text), &doc, e);
	sbuf_free(&text);
	x->hz = json_number_value(json_object_get(doc, "hz"));
	json_decref(doc);
	return rc;
}

int stacks_end_role(struct stacks_end *x, int ns, const struct stacks_order *o, struct err *e)
{
	char stacks[] = "stacks", serve[] = "serve", from[] = "--stdin";
	char *argv[] = {NULL, stacks, serve, from, NULL};
	int rc = end_process(x, ns, o->cpu, argv, e);

	return rc < 0 ? rc : end_order(x, o, e);
}

int stacks_end_remote(struct stacks_end *x, const char *host, unsigned port,
		      const struct stacks_order *o, struct err *e)
{
	const struct sock_tune tune = {.no_delay = true};
	struct sock_addr to;
	int rc = sock_resolve(host, port, AF_INET, &to, 1, e), fd, code = 0;
	socklen_t n = sizeof(code);

	if (rc < 0)
		return rc;
	fd = sock_connect(&to, NULL, &tune, e);
	if (fd < 0)
		return fd;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	x->to = fd;
	if (poll(&p, 1, 10000) <= 0)
		code = interrupted ? EINTR : ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n);
	if (code != 0)
		return err_set(e, code,
			       "%s does not answer on port %u: %s; run `stacks serve` there", host,
			       port, strerror(code));
	x->from = dup(fd);
	return end_order(x, o, e);
}

int stacks_end_words(struct stacks_end *x, int ns, int cpu, const char *words, struct err *e)
{
	char *copy = xstrdup(words), *argv[64] = {NULL}, *save = NULL;
	unsigned n = 1;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n + 1 < ARRAY_SIZE(argv);
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	x->hz = clock_hz();
	int rc = end_process(x, ns, cpu, argv, e);
	free(copy);
	return rc;
}

int stacks_end_port(struct stacks_end *x, const struct stacks_program *p, struct err *e)
{
	char lcores[48], mtu[16];
	const char *json = p->events ? "--json-stream" : "--json";
	const char *argv[28] = {NULL,       "--lcores",    lcores, "--no-huge", "-m", "512",
				"--no-pci", "--no-shconf", "--",   json,        "-b", "-p",
				p->spec,    "-m",          p->map, "--mtu",     mtu,  NULL};
	char own[28][64], *words[28] = {NULL};
	unsigned n = 17;

	snprintf(lcores, sizeof(lcores), "0@%d,1@%d", p->cpu[0], p->cpu[1]);
	snprintf(mtu, sizeof(mtu), "%u", p->mtu);
	if (p->ip != NULL) {
		argv[n++] = "--ip";
		argv[n++] = p->ip;
	}
	for (unsigned i = 1; i < n; i++) {
		snprintf(own[i], sizeof(own[i]), "%s", argv[i]);
		words[i] = own[i];
	}
	x->port = true;
	x->hz = clock_hz();
	x->nports = p->nports;
	return end_process(x, p->ns, -1, words, e);
}

/* ---- looking ---- */

json_t *stacks_end_show(struct stacks_end *x, const char *what, struct err *e)
{
	char command[64];

	snprintf(command, sizeof(command), "show %s", what);
	stacks_end_say(x, command);
	for (;;) {
		json_t *doc = end_line(x, e);
		const char *show = json_string_value(json_object_get(doc, "show"));
		if (doc == NULL || (show != NULL && strcmp(show, what) == 0))
			return doc;
		json_decref(doc);
	}
}

/* What all threads of a process have had of CPUs. */
static double end_cpu_ns(pid_t pid)
{
	char path[320];
	double sum = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	for (struct dirent *t; d != NULL && (t = readdir(d)) != NULL;) {
		unsigned long long ns = 0;
		if (t->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, t->d_name);
		FILE *f = fopen(path, "re");
		if (f == NULL)
			continue;
		if (fscanf(f, "%llu", &ns) == 1)
			sum += (double)ns;
		fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return sum;
}

static double number_at(const json_t *o, const char *path)
{
	return json_number_value(out_get(o, path));
}

static void sample_of_flow(const json_t *flow, struct stacks_sample *out)
{
	const json_t *f = flow;

	*out = (struct stacks_sample){.known = f != NULL,
				      .at_ns = (double)sock_now_ns(),
				      .tx = number_at(f, "payload.tx_bytes"),
				      .rx = number_at(f, "payload.rx_bytes"),
				      .done = number_at(f, "transactions.done"),
				      .bad = number_at(f, "errors.mismatched"),
				      .resent = number_at(f, "segments.retransmitted")};
}

static int sample_port(struct stacks_end *x, struct stacks_sample *first,
		       struct stacks_sample *second, struct err *e)
{
	json_t *doc = stacks_end_show(x, "flows", e), *flows = json_object_get(doc, "flows");

	if (doc == NULL)
		return interrupted ? -EINTR : -EPIPE;
	sample_of_flow(json_array_get(flows, 0), first);
	first->cpu_ns = end_cpu_ns(x->pid);
	first->cycles = x->cycles;
	if (second != NULL)
		sample_of_flow(json_array_get(flows, 1), second);
	json_decref(doc);
	return 0;
}

int stacks_end_sample(struct stacks_end *x, struct stacks_sample *first,
		      struct stacks_sample *second, struct err *e)
{
	json_t *doc;
	int rc;

	if (x->port)
		return sample_port(x, first, second, e);
	rc = end_ask(x, "totals", &doc, e);
	if (doc == NULL)
		return rc;
	*first = (struct stacks_sample){.known = true,
					.at_ns = (double)sock_now_ns(),
					.tx = number_at(doc, "tx_bytes"),
					.rx = number_at(doc, "rx_bytes"),
					.done = number_at(doc, "done"),
					.bad = number_at(doc, "mismatched"),
					.resent = number_at(doc, "retransmits"),
					.cpu_ns = number_at(doc, "cpu_ns"),
					.cycles = number_at(doc, "cycles")};
	json_decref(doc);
	return rc;
}

int stacks_end_tick(struct stacks_end *x, double seconds, struct err *e)
{
	json_t *doc, *w;
	size_t i;

	if (!x->port)
		return 0;
	if (seconds < 1) { /* workers tell of whole seconds */
		x->cycles = (double)NAN;
		return 0;
	}
	doc = stacks_end_show(x, "stats", e);
	if (doc == NULL)
		return interrupted ? -EINTR : -EPIPE;
	json_array_foreach(json_object_get(doc, "workers"), i, w)
		x->cycles += number_at(w, "busy") * seconds * clock_hz();
	json_decref(doc);
	return 0;
}

void stacks_end_close(struct stacks_end *x)
{
	if (x->to >= 0 && x->port)
		stacks_end_say(x, "quit");
	if (x->to >= 0)
		close(x->to);
	if (x->pid > 0 && x->term)
		kill(x->pid, SIGTERM);
	/* with its input it ends: a program of AF_XDP's must not stay on the interface */
	for (int i = 0; x->pid > 0 && i < END_QUIT_MS / 10; i++) {
		if (waitpid(x->pid, NULL, WNOHANG) != 0)
			x->pid = 0;
		else
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	if (x->pid > 0) {
		kill(x->pid, SIGKILL);
		while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (x->from >= 0)
		close(x->from);
	if (x->said >= 0)
		close(x->said);
	sbuf_free(&x->in);
	*x = STACKS_NO_END;
}
