/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a file of dperf. One that is refused says why, one line each; one that is taken has
 * what the rest of the program relies on, and is said in commands, or what cannot be is told. Each
 * line of these is one command of the program's own language, and none but those that files come
 * to. */
#include <string.h>

#include "app.h"
#include "dperf.h"
#include "input.h"
#include "set/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_lines(const struct dperf_conf *c)
{
	for (unsigned i = 0; i < c->ports; i++) {
		static const enum dperf_id ids[] = {DPERF_SERVER, DPERF_CLIENT};
		char pci[16];

		CHECK(dperf_pci(dperf_find(c, DPERF_PORT, i)->v[0].text, 0, pci));
		for (unsigned r = 0; r < (c->server ? 1u : 2u); r++) {
			const struct dperf_line *l = dperf_find(c, ids[r], i);
			unsigned n = dperf_addresses(l);
			CHECK(n > 0 && n <= 254 + DPERF_WORDS_MOST);
			for (unsigned k = 0; k < n; k++) {
				struct dperf_addr a;
				dperf_address(l, k, &a);
				CHECK(a.six == c->six);
			}
		}
	}
}

static unsigned nports(void *arg)
{
	(void)arg;
	return DPERF_PORTS_MOST;
}

static unsigned count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)arg;
	(void)scope;
	(void)port;
	return 1;
}

/* The rows and verbs of the program, with ports that have nothing in them: lines are only looked
 * at. */
static const struct cmd *lang(void)
{
	static struct cmd *c;

	if (c == NULL) {
		struct cmd_host host, real;
		struct app app = {0};
		unsigned ns, nv;
		const struct setting *const *settings = set_rows(&ns);
		const struct verb *const *verbs = cmd_verbs(&nv);
		app_host(&app, &real);
		host = (struct cmd_host){.nports = nports, .count = count, .row = real.row};
		c = cmd_new(settings, ns, verbs, nv, &host);
	}
	return c;
}

/* Each line is a comment, or one command, whose verb is one of these; of `set` the setting is the
 * one that is written there. */
static void look_at_commands(const char *text, const char *const *verb)
{
	unsigned long line = 0, at, last = (unsigned long)-1;
	struct sbuf one = {0};
	struct cmd_seen seen;

	while (cmd_next_command(&text, &line, &one, &at)) {
		unsigned i = 0;
		CHECK(at != last && cmd_look(lang(), one.s, &seen) && seen.verb != NULL);
		last = at;
		while (verb[i] != NULL && strcmp(verb[i], seen.verb->name) != 0)
			i++;
		CHECK(verb[i] != NULL && strncmp(one.s, verb[i], strlen(verb[i])) == 0);
		CHECK((strcmp(verb[i], "set") == 0) == (seen.setting != NULL));
	}
	sbuf_free(&one);
}

/* A file that it names is never opened: its bytes are messages of HTTP, or those of the input. */
static void lend_payload(struct dperf_conf *c, const uint8_t *data, size_t size)
{
	static const char *const http[] = {"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
					   "GET / HTTP/1.0\r\n\r\n", "POST ",
					   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
					   "HTTP/1.1 200 OK\r\n\r\n"};
	unsigned which = (unsigned)size % (ARRAY_SIZE(http) + 1);

	c->payload = which < ARRAY_SIZE(http) ? (const uint8_t *)http[which] : data;
	c->payload_bytes =
		which < ARRAY_SIZE(http) ? (uint32_t)strlen(http[which]) : (uint32_t)size;
}

static void put_in_commands(const struct dperf_conf *c, unsigned workers)
{
	struct dperf_plan plan;
	struct sbuf wrong = {0}, out = {0};

	bool ok = dperf_translate(c->server ? NULL : c, c->server ? c : NULL,
				  c->server ? DPERF_OF_SERVER : DPERF_OF_CLIENT, workers, &plan,
				  &wrong);
	CHECK(ok == (wrong.len == 0) && plan.ports == c->ports);
	dperf_dump(&plan, &out);
	CHECK(strlen(out.s) == out.len && strstr(out.s, "\n# the run\n") != NULL);
	look_at_commands(sbuf_str(&plan.settings),
			 (const char *const[]){"set", "stream add", NULL});
	look_at_commands(sbuf_str(&plan.run),
			 (const char *const[]){"start", "stop", "sleep", "wait", NULL});
	look_at_commands(sbuf_str(&plan.stop), (const char *const[]){"stop", "wait", NULL});
	dperf_plan_free(&plan);
	sbuf_free(&wrong);
	sbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sbuf wrong = {0};
	struct dperf_conf *c = dperf_read("f", (const char *)data, size, &wrong);

	CHECK((c == NULL) == (wrong.len > 0));
	if (c != NULL) {
		CHECK(c->ports > 0 && c->ports <= DPERF_PORTS_MOST);
		CHECK(c->cpus % c->ports == 0 && c->cpus <= DPERF_CPUS_MOST);
		look_at_lines(c);
		lend_payload(c, data, size);
		put_in_commands(c, (unsigned)size % 4);
	} else {
		CHECK(strncmp(wrong.s, "f:", 2) == 0 && wrong.s[wrong.len - 1] == '\n');
	}
	sbuf_free(&wrong);
	dperf_free(c);
	return 0;
}
