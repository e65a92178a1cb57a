/* SPDX-License-Identifier: BSD-3-Clause */
/* What verbs share. The files of this folder define verbs as verb_NAME, and the build puts all
 * names of its list into the table of verbs (verbs.c). */
#pragma once
#include "app.h"
#include "out.h"

struct face;

/* A word that may be given as an argument. It is the first member of a record that says what the
 * word stands for; such records are pieces of a list (app/pieces.h). */
struct verb_word {
	int at;
	const char *word, *about;
};
/* Puts such records together, as pieces() does, and makes their words the choices of the argument.
 * The caller frees the array that is returned; arg keeps what it points to until the program
 * ends. */
const void **verb_words(const void *own, const void *(*of)(const struct face *), size_t size,
			struct arg_spec *arg, unsigned *n);

/* A word of `enable` and `disable`. */
struct feature {
	struct verb_word is;
	const char *row; /* the setting that is turned on or off; NULL: there is none */
	/* row NULL: what the refusal says, with its error code (ENOTSUP, EINVAL) */
	const char *why;
	int code;
	/* a port without streams means all its streams, because Pktgen has tags per port */
	bool all_streams;
	bool screen; /* turns redraws of the page on or off; row is NULL */
	/* Pktgen sends its single packet with this feature, so `enable` ends a sequence */
	bool single;
};

/* A verb of the list (app/pieces.h). */
struct verb_row {
	int at;
	const struct verb *verb;
};

/* Prints a document and makes it one of the command's results. mode (enum out_mode) is the
 * session's, or another one for a verb that always prints the same form. view says how the document
 * becomes a table; it may be NULL. */
void verb_out(struct cmd_run *r, int mode, json_t *doc, const struct out_view *view);

/* The ports that an argument names. Returns 0, or -EINVAL with *e, whose column is that of the
 * argument. */
int arg_ports(const struct cmd_run *r, const struct arg_val *a, struct portset *out, struct err *e);
/* The same for an argument that may be left out, which means all ports. */
int arg_ports_or_all(const struct cmd_run *r, const struct arg_val *a, struct portset *out,
		     struct err *e);

/* Append a list of ports: as commands take it, and for people. */
void ports_short(const struct portset *ports, struct sbuf *out); /* "0-2,5" */
void ports_print(const struct portset *ports, struct sbuf *out); /* "0, 1, 2, 5" */

/* start.c, also for `str`. duration_ns 0: each port's setting count bounds its run; where that is 0
 * the run has no end, which a program that runs only one command refuses. */
int start_ports(struct cmd_run *r, const struct portset *ports, uint64_t duration_ns,
		struct err *e);
/* stop.c, also for `stp`: stops the ports. The command goes on until they are idle; stop_poll() is
 * the verb's poll(). */
int stop_ports(struct cmd_run *r, const struct portset *ports, struct err *e);
int stop_poll(struct cmd_run *r, struct err *e);
/* `start` and `stop` with the word of a work: turns on or off what the work does beside sending
 * (face.turn). */
int verb_turn(struct cmd_run *r, const char *word, const struct portset *ports, bool on,
	      struct err *e);
/* reset.c, also for `rst`. all: the settings of the program are reset as well. */
int reset_ports(struct cmd_run *r, const struct portset *ports, bool all, struct err *e);

/* enable.c, also for `disable`. */
int feature_set(struct cmd_run *r, const struct arg_val *args, bool on, struct err *e);
extern struct arg_spec feature_args[];
void features_make(void); /* puts the features together; call it before anything uses the verbs */

/* screen.c, also for `enable` and `disable`: stops redraws of the page, or lets them go on. */
void view_freeze(struct cmd_run *r, bool frozen);

/* trial.c, also for `show trial`: prints the result of a trial as a table. */
void trial_print(struct cmd_run *r, const json_t *trial);

/* sleep.c, also for `delay`: CLOCK_MONOTONIC, and the functions of a verb that only waits. */
uint64_t verb_now_ns(void);
int pause_start(struct cmd_run *r, uint64_t ns);
int pause_poll(struct cmd_run *r, struct err *e);
bool pause_progress(const struct cmd_run *r, struct cmd_progress *out);

/* show_page.c: the type of an argument that is a page; its value is a const struct page *. The two
 * functions are its complete() and about(), which `page` uses as well. */
extern const struct vtype vt_page;
void page_offer(const struct vspec *, const char *prefix,
		void (*offer)(void *arg, const char *word), void *arg);
const char *page_about(const struct vspec *, const char *word);

/* show.c: puts the words of `show` together. Call it before anything uses the verbs. */
void show_make(void);

/* Words of features that this version does not have, and of commands that it does not need
 * (later.c). */
extern const struct verb verbs_later[];
extern const unsigned nverbs_later;
