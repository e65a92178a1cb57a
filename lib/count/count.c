/* SPDX-License-Identifier: BSD-3-Clause */
#include "count.h"

#define TX(field, unit, help) {#field, unit, help, offsetof(struct cnt_tx, field)}
#define RX(field, unit, help) {#field, unit, help, offsetof(struct cnt_rx, field)}

const struct counter cnt_tx_table[] = {
	TX(packets, "frames", "frames that the device accepted"),
	TX(bytes, "bytes", "their bytes with FCS"),
	TX(dropped, "frames", "frames built and thrown away: the tail that the device had not taken at stop or close"),
	TX(stalls, "bursts", "bursts that the device did not take whole"),
	TX(unsent, "slots", "slots skipped because the worker was too far behind the asked rate"),
	TX(nombuf, "turns", "turns of a worker that found no free buffer"),
	{NULL},
};

const struct counter cnt_rx_table[] = {
	RX(packets, "frames", "frames that our workers received"),
	RX(bytes, "bytes", "their bytes with FCS"),
	{NULL},
};
