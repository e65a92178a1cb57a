/* SPDX-License-Identifier: BSD-3-Clause */
/* What verbs share. The files of this folder define verbs as verb_NAME, and the build puts all
 * names of its list into the table of verbs (verbs.c). */
#pragma once
#include "app.h"
#include "out.h"

/* Flags of verbs (verb.flags). Those from 0x100 on belong to the program; lib/cmd ignores them. */

/* The verb is about the screen or the client itself: a program that is attached to another one runs
 * it, and does not send it there. */
#define VERB_HERE 0x100
/* The same, but only of a line that has the choice "screen". */
#define VERB_SCREEN_HERE 0x200

/* A verb of the list (app/pieces.h), or verbs that stand together. */
struct verb_row {
	int at;
	const struct verb *verb; /* NULL: none */
	const struct verb *list; /* an array that ends with a verb without a name; NULL: none */
};

/* Prints a document and makes it one of the command's results. mode (enum out_mode) is the
 * session's, or another one for a verb that always prints the same form. view says how the document
 * becomes a table; it may be NULL. */
void verb_out(struct cmd_run *r, int mode, json_t *doc, const struct out_view *view);

/* Writes the ports that an argument names to *out. Returns 0, or -EINVAL with *e, whose column is
 * that of the argument. */
int arg_ports(const struct cmd_run *r, const struct arg_val *a, struct portset *out, struct err *e);
/* Does the same for an argument that may be left out, which means all ports. */
int arg_ports_or_all(const struct cmd_run *r, const struct arg_val *a, struct portset *out,
		     struct err *e);

/* Append a list of ports: as commands take it, and for people. */
void ports_short(const struct portset *ports, struct sbuf *out); /* "0-2,5" */
void ports_print(const struct portset *ports, struct sbuf *out); /* "0, 1, 2, 5" */

/* verb_start.c, also for other verbs: starts the ports. If duration_ns is 0, the setting count of
 * each port bounds its run; where that is 0 too, the run has no end, which is refused in a program
 * that runs only one command. It may have to wait, so its verb has these as its poll(),
 * cancel() and progress(). */
int start_ports(struct cmd_run *r, const struct portset *ports, uint64_t duration_ns,
		struct err *e);
int start_poll(struct cmd_run *r, struct err *e);
void start_cancel(struct cmd_run *r);
bool start_progress(const struct cmd_run *r, struct cmd_progress *out);
/* verb_stop.c: stops the ports, also for other verbs. The command goes on until they are idle;
 * stop_poll() is the verb's poll(). */
int stop_ports(struct cmd_run *r, const struct portset *ports, struct err *e);
int stop_poll(struct cmd_run *r, struct err *e);
/* `start` and `stop` with the word of a work: turns on or off what the work does beside sending
 * (face.turn). */
int verb_turn(struct cmd_run *r, const char *word, const struct portset *ports, bool on,
	      struct err *e);
/* `start` with a word that makes it another verb (face.starts). args are those of that verb. */
int verb_start_other(struct cmd_run *r, const char *word, const struct arg_val *args,
		     struct err *e);
/* `show frame <ports> rx`: the verb of the work that keeps received frames (face.received). args
 * are those of that verb. */
int verb_show_received(struct cmd_run *r, const struct arg_val *args, struct err *e);
/* What stands behind `start <ports> arp`; the order is that of the enum. */
extern const char *const start_arp_words[];
enum { START_ARP_REQUEST, START_ARP_GRATUITOUS };
/* verb_reset.c, also for other verbs: resets the settings of the ports and their streams. all:
 * those of the program are reset as well. */
int reset_ports(struct cmd_run *r, const struct portset *ports, bool all, struct err *e);

/* verb_screen.c, also for other verbs: stops redraws of the page, or lets them go on. */
void view_freeze(struct cmd_run *r, bool frozen);

/* verb_trial.c, also for `show trial`: prints the result of a trial as a table. */
void trial_print(struct cmd_run *r, const json_t *trial);

/* verb_sleep.c: the time of CLOCK_MONOTONIC, and the functions of a verb that only waits. */
uint64_t verb_now_ns(void);
int pause_start(struct cmd_run *r, uint64_t ns);
int pause_poll(struct cmd_run *r, struct err *e);
bool pause_progress(const struct cmd_run *r, struct cmd_progress *out);

/* verb_show_page.c: complete() and about() of the type of an argument that is a page, which `page`
 * uses as well. */
void page_offer(const struct vspec *, const char *prefix,
		void (*offer)(void *arg, const char *word), void *arg);
const char *page_about(const struct vspec *, const char *word);

/* verb_show.c: puts the words of `show` together. Call it before anything uses the verbs. */
void show_make(void);
