/* SPDX-License-Identifier: BSD-3-Clause */
/* neper's control connection: bytes of a peer, cut into pieces, to both ends. What is taken can be
 * written again, and what is refused says why. */
#include <stdlib.h>
#include <string.h>

#include "neper_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_taken(const uint8_t *in, const struct neper_message *m)
{
	uint8_t out[NEPER_BYTES];
	struct neper_message again;

	neper_message_put(m, out);
	neper_message_get(out, &again);
	/* behind the end of a secret anything may have come */
	if (memcmp(out + NEPER_SECRET, in + NEPER_SECRET, NEPER_BYTES - NEPER_SECRET) != 0 ||
	    strcmp(again.secret, m->secret) != 0)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct neper_talk t;
	struct neper_message m;
	struct err e = {.text = ""};
	size_t at = 0, have = 0, step;
	int rc = 0;

	if (size < 2)
		return 0;
	step = data[1] == 0 ? size : data[1];
	neper_talk_init(&t, data[0] & 1, "neper tcp_rr 201703241250", 42);
	data += 2;
	size -= 2;
	while (rc >= 0 && have < size) {
		have = have + step < size ? have + step : size;
		while (at < have && (rc = neper_talk_in(&t, data + at, have - at, &m, &e)) > 0) {
			fuzz_taken(data + at, &m);
			at += (size_t)rc;
			if (t.client && m.type == NEPER_ACK)
				neper_talk_done(&t);
		}
	}
	if (rc >= 0 && neper_talk_end(&t, have - at, &e) < 0)
		rc = -1;
	if (rc < 0 && e.text[0] == '\0')
		__builtin_trap();
	return 0;
}
