/* SPDX-License-Identifier: BSD-3-Clause */
/* What the work count tells the program. */
#pragma once
#include "ctl.h"

/* The document `show unclaimed`: {"show":"unclaimed","ports":[{"port","name","before": frames of
 * any sort that came before the port counted them,"tcp","udp","icmp","arp","fragments","bad",
 * "other"}]}, since the last `clear`, of those of these ports that count them. A new reference. */
json_t *count_json(struct ctl *c, const struct portset *ports);
