/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doctor (lib/doctor) is asked by the program: the facts of this process, and its report
 * as a document. */
#pragma once
#include "app.h"
#include "doctor.h"
#include "out.h"

/* What the command line says about cores. */
struct examine_line {
	const char *const *maps; /* of -m */
	unsigned nmaps;
	char *const *eal; /* EAL's own options */
	unsigned neal;
};

/* Fills *self before EAL has started. The core map is known if -m gives one, and EAL's options
 * about cores are none or -l. -EINVAL with *e: the map is wrong, and nothing is filled. Else the
 * caller frees *self with doctor_self_free(). */
int examine_before(const struct examine_line *, struct doctor_self *self, struct err *e);
/* Does the same for the running program, whose cores and map are known. */
void examine_now(const struct app *app, struct doctor_self *self);
/* The folder that stands for the machine: "", or $WIRERATE_SYSROOT, which is for tests. */
const char *examine_root(void);

/* A report as a document (app/schema.json, show_doctor), a new reference, and its view. */
json_t *examine_json(const struct doctor_report *);
extern const struct out_view examine_view;
