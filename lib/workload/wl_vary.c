/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that vary, as functions of what both ends of a connection know. */
#include "arrival.h"
#include "workload_run.h"

uint64_t wl_vary_at(const struct wl_vary *v, uint64_t key, uint64_t n)
{
	const struct wl_vary_item *it = v->item;
	uint64_t random = pace_random(key, n), within;

	if (v->n == 0)
		return v->least;
	while (it->upto < random >> 32)
		it++;
	if (it->lo == it->hi)
		return it->lo;
	/* another word: ranges of ns need more bits than are left of that one */
	within = pace_random(~key, n);
	return it->lo + (uint64_t)((unsigned __int128)within * (it->hi - it->lo + 1) >> 64);
}

uint64_t wl_identity(const void *client, const void *server, unsigned bytes, uint16_t client_port,
		     uint16_t server_port)
{
	uint8_t ports[4] = {(uint8_t)(client_port >> 8), (uint8_t)client_port,
			    (uint8_t)(server_port >> 8), (uint8_t)server_port};
	uint64_t h = fnv1a(FNV_BASIS, client, bytes);

	h = fnv1a(h, server, bytes);
	return fnv1a(h, ports, sizeof(ports));
}
