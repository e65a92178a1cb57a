/* SPDX-License-Identifier: BSD-3-Clause */
/* What verbs share. Each file of this folder defines one verb, verb_NAME; the build's list makes the registry. */
#pragma once
#include "app.h"
#include "out.h"

struct face;

/* A word that an argument takes, in a record of what it stands for (app/pieces.h). */
struct verb_word {
	int at;
	const char *word, *about;
};
/* Such records put together, as pieces() does: their words are the choices of the argument. */
const void **verb_words(const void *own, const void *(*of)(const struct face *), size_t size, struct arg_spec *arg, unsigned *n);

/* A word of `enable` and `disable`. */
struct feature {
	struct verb_word is;
	const char *row;  /* of the settings; NULL: there is none, and why not */
	const char *why;
	int code;
	bool all_streams; /* a bare port means all its streams, as Pktgen's tags are of the port */
	bool screen;      /* no row: redraws of the page */
	bool single;      /* Pktgen sends the single packet with it: a sequence ends */
};

/* A verb of the list (app/pieces.h). */
struct verb_row {
	int at;
	const struct verb *verb;
};

/* Print a document, which is then one of the command's results. mode: as the session wants it, or what the verb lays out itself. */
void verb_out(struct cmd_run *r, int mode, json_t *doc, const struct out_view *view);

/* Ports of an argument; an error points at it. */
int arg_ports(const struct cmd_run *r, const struct arg_val *a, struct portset *out, struct err *e);
/* The same for an optional argument: left out means all ports. */
int arg_ports_or_all(const struct cmd_run *r, const struct arg_val *a, struct portset *out, struct err *e);

/* "0, 2" */
void ports_short(const struct portset *ports, struct sbuf *out); /* "0-2,5": as a command takes it */
void ports_print(const struct portset *ports, struct sbuf *out);

/* start.c, also for `str`. duration_ns 0: by count, or without bound where that is allowed. */
int start_ports(struct cmd_run *r, const struct portset *ports, uint64_t duration_ns, struct err *e);
/* stop.c, also for `stp`: stop and hold the line until the ports are idle. */
int stop_ports(struct cmd_run *r, const struct portset *ports, struct err *e);
int stop_poll(struct cmd_run *r, struct err *e);
/* For `start` and `stop` with the word of a kind of work: what it turns on and off beside sending. */
int verb_turn(struct cmd_run *r, const char *word, const struct portset *ports, bool on, struct err *e);
/* reset.c, also for `rst`. */
int reset_ports(struct cmd_run *r, const struct portset *ports, bool all, struct err *e);

/* enable.c, also for `disable`. */
int feature_set(struct cmd_run *r, const struct arg_val *args, bool on, struct err *e);
extern struct arg_spec feature_args[];
void features_make(void); /* puts its words together, before anybody looks at the verbs */

/* screen.c, also for `enable` and `disable`: stop or go on with redraws of the page. */
void view_freeze(struct cmd_run *r, bool frozen);

/* trial.c, also for `show trial`: its result as a table. */
void trial_print(struct cmd_run *r, const json_t *trial);

/* sleep.c, also for `delay`: CLOCK_MONOTONIC, and the functions of a verb that only passes time. */
uint64_t verb_now_ns(void);
int pause_start(struct cmd_run *r, uint64_t ns);
int pause_poll(struct cmd_run *r, struct err *e);
bool pause_progress(const struct cmd_run *r, struct cmd_progress *out);

/* show_page.c: the type of an argument that is a page; its value is a const struct page *. */
extern const struct vtype vt_page;
void page_offer(const struct vspec *, const char *prefix, void (*offer)(void *arg, const char *word), void *arg);
const char *page_about(const struct vspec *, const char *word);

/* show.c: puts the words of `show` together, before anybody looks at the verb. */
void show_make(void);

/* Words whose feature comes later (later.c). */
extern const struct verb verbs_later[];
extern const unsigned nverbs_later;
