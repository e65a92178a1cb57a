/* SPDX-License-Identifier: BSD-3-Clause */
/* An end that is told what to do: lines of JSON in, lines of JSON out. An order begins a role in
 * place of the one before, "totals" asks for its numbers. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "out.h"
#include "stacks.h"
#include "stacks_run.h"

#define SERVE_LINE 4096
#define SERVE_IDLE_MS 60000

struct served {
	struct stacks_role role;
	struct stacks_end iperf; /* a server of iperf3, which is a process of its own */
	bool has_role, remote;
	int in, out;
};

static void serve_say(const struct served *s, json_t *doc)
{
	struct sbuf text = {0};

	out_json(doc, 0, &text);
	sbuf_addc(&text, '\n');
	for (size_t at = 0; at < text.len;) {
		ssize_t n = write(s->out, text.s + at, text.len - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	sbuf_free(&text);
	json_decref(doc);
}

static void serve_error(const struct served *s, const struct err *e)
{
	serve_say(s, json_pack("{s:o}", "error", out_json_text(e->text)));
}

static void serve_stop(struct served *s)
{
	if (s->has_role)
		stacks_role_end(&s->role);
	s->has_role = false;
	stacks_end_close(&s->iperf);
}

static int serve_begin(struct served *s, const struct stacks_order *o, struct err *e)
{
	if (!o->kind->iperf) {
		int rc = stacks_role_begin(&s->role, o, e);
		s->has_role = rc == 0;
		return rc;
	}
	if (o->client)
		return err_set(e, ENOTSUP, "a client of iperf3 is no order");
	return stacks_iperf_serve(&s->iperf, -1, o->cpu, o->port, e);
}

static void serve_order(struct served *s, const json_t *doc)
{
	struct stacks_order o;
	struct err e;

	serve_stop(s);
	if (stacks_order_read(doc, &o, &e) != 0) {
		serve_error(s, &e);
		return;
	}
	/* who can reach this machine must not make it ask others */
	if (s->remote && o.client) {
		err_set(&e, EPERM, "over a network this end only serves");
		serve_error(s, &e);
		return;
	}
	if (serve_begin(s, &o, &e) != 0) {
		serve_error(s, &e);
		return;
	}
	serve_say(s, json_pack("{s:b,s:f}", "ready", 1, "hz", clock_hz()));
}

static void serve_line(struct served *s, const char *line, size_t n)
{
	struct err e;
	json_t *doc;

	if (n == 6 && memcmp(line, "totals", 6) == 0) {
		if (s->has_role)
			serve_say(s, stacks_role_totals(&s->role));
		else
			err_set(&e, EINVAL, "nothing was begun"), serve_error(s, &e);
		return;
	}
	doc = json_loadb(line, n, 0, NULL);
	if (json_is_object(doc)) {
		serve_order(s, doc);
	} else {
		err_set(&e, EINVAL, "neither \"totals\" nor an order");
		serve_error(s, &e);
	}
	json_decref(doc);
}

/* Until the other side ends, or says what is no line. */
static void serve_all(struct served *s)
{
	char data[SERVE_LINE];
	size_t n = 0;

	while (n < sizeof(data)) {
		struct pollfd p = {.fd = s->in, .events = POLLIN};
		bool idle = !s->has_role && s->iperf.pid == 0;
		if (poll(&p, 1, s->remote && idle ? SERVE_IDLE_MS : -1) == 0)
			break;
		ssize_t got = read(s->in, data + n, sizeof(data) - n);
		if (got <= 0)
			break;
		n += (size_t)got;
		for (char *end; (end = memchr(data, '\n', n)) != NULL;) {
			size_t line = (size_t)(end - data);
			serve_line(s, data, line);
			n -= line + 1;
			memmove(data, end + 1, n);
		}
	}
	serve_stop(s);
}

int stacks_serve(int in, int out)
{
	struct served s = {.in = in, .out = out, .iperf = STACKS_NO_END};

	clock_init();
	serve_all(&s);
	return 0;
}

int stacks_listen(const struct stacks_opts *o, void (*note)(const char *text), struct err *e)
{
	const struct sock_tune tune = {.reuse_addr = true};
	struct sock_addr at;
	struct sbuf text = {0};
	int rc = sock_resolve("0.0.0.0", o->port, AF_INET, &at, 1, e), fd;

	clock_init();
	if (rc < 0)
		return rc;
	fd = sock_listen(&at, &tune, e);
	if (fd < 0)
		return fd;
	sbuf_addf(&text,
		  "stacks: serves on port %u, one after the other; workloads come on port %u\n",
		  o->port, o->port + 1);
	note(sbuf_str(&text));
	sbuf_free(&text);
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, -1) < 0)
			continue;
		int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (one < 0)
			continue;
		struct served s = {.in = one, .out = one, .remote = true, .iperf = STACKS_NO_END};
		serve_all(&s);
		close(one);
	}
}
