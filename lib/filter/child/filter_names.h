/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in filters. libpcap asks the C library for them, which asks files, name servers and
 * whatever else the machine is set up for. In this program, the functions that it calls are ours:
 * ports and protocols are known by two files, read before; no other name is. */
#pragma once
#include "filter_wire.h"

void names_read(void); /* reads /etc/services and /etc/protocols, if they exist */
/* The first name since names_forget() that would have to be looked up: of which kind, or
 * FILTER_SYNTAX if there was none. *name stays valid until the next names_forget(). */
enum filter_answer names_refused(const char **name);
void names_forget(void);
