/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a file of dperf. One that is refused says why, one line each; one that is taken has
 * what the rest of the program relies on, and is said in commands, or what cannot be is told. */
#include <string.h>

#include "dperf.h"
#include "input.h"

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

static void put_in_commands(const struct dperf_conf *c)
{
	struct dperf_plan plan;
	struct sbuf wrong = {0}, out = {0};

	bool ok = dperf_translate(c->server ? NULL : c, c->server ? c : NULL,
				  c->server ? DPERF_OF_SERVER : DPERF_OF_CLIENT, &plan, &wrong);
	CHECK(ok == (wrong.len == 0) && plan.ports == c->ports);
	dperf_dump(&plan, &out);
	CHECK(strlen(out.s) == out.len && strstr(out.s, "\n# the run\n") != NULL);
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
		put_in_commands(c);
	} else {
		CHECK(strncmp(wrong.s, "f:", 2) == 0 && wrong.s[wrong.len - 1] == '\n');
	}
	sbuf_free(&wrong);
	dperf_free(c);
	return 0;
}
