/* SPDX-License-Identifier: BSD-3-Clause */
/* What the numbers of datagrams tell: which were lost, overtaken, or came twice. */
#include "workload.h"

#define NUMBER(field, help) \
	{ \
#field, "datagrams", help, offsetof(struct wl_numbers, field) \
	}
const struct counter wl_numbers_table[] = {
	NUMBER(lost, "datagrams that have not come, though later ones have"),
	NUMBER(reordered, "datagrams that came behind one that was sent after them"),
	NUMBER(duplicated, "datagrams that came again"),
	NUMBER(late,
	       "responses to what had failed before, or to a connection that had the tuple before"),
	{NULL},
};

/* Numbers go round at 2^31: so much is left of them where a bit says something else. */
#define NUMBER_MASK 0x7fffffffu
/* So much further than a datagram another one of its connection may have come before it. */
#define NUMBER_EARLY 4096

/* seen[0] is the highest number, counted from when its connection began; bit i of seen[1] says
 * whether that minus i has come. What lies further back was counted as lost, and comes late: it
 * cannot be told from a copy. */
void wl_number_seen(uint32_t seen[2], uint64_t stamp, struct wl_numbers *k)
{
	uint32_t began = (uint32_t)(stamp >> 32), nr = (uint32_t)stamp, number = began + nr;
	uint32_t ahead, back;

	/* Numbers grow more slowly than time does: one that the connection which began then can not
	 * have had by now is that of another one, which had this tuple before. */
	if (began != 0 && (seen[1] == 0 || seen[0] - began > (uint64_t)nr + NUMBER_EARLY)) {
		seen[0] = began - (nr == 0);
		seen[1] = 0;
	}
	ahead = (number - seen[0]) & NUMBER_MASK;
	back = (seen[0] - number) & NUMBER_MASK;
	if (ahead != 0 && ahead <= NUMBER_MASK / 2) {
		seen[1] = ahead < 32 ? seen[1] << ahead | 1 : 1;
		seen[0] = number;
		cell_add(&k->lost, ahead - 1);
	} else if (back >= 32 || (seen[1] >> back & 1) == 0) {
		seen[1] |= back < 32 ? 1u << back : 0;
		cell_add(&k->reordered, 1);
		if (k->lost > 0)
			cell_set(&k->lost, k->lost - 1);
	} else {
		cell_add(&k->duplicated, 1);
	}
}
