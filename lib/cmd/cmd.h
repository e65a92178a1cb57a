/* SPDX-License-Identifier: BSD-3-Clause */
/* The command language: a table of settings, a table of verbs, and the loops over both tables that
 * split, match, run, complete, explain and dump. This library knows neither ports nor control: a
 * host (struct cmd_host) hands out the objects that have settings. Whatever follows from a row is
 * done by a loop here, for all rows in the same way. Everything here is for the control thread. */
#pragma once
#include <jansson.h>
#include "value.h"

struct setting;

/* What settings belong to: the program, a port, or objects of a port that have numbers, such as
 * streams. A row points to its scope, and there is no list of scopes: those of a language are the
 * scopes that its rows have. So whoever adds rows with a record of his own has added a scope. There
 * is one of the program, one of ports and one that is bare; any number of others are numbered. The
 * record must outlive the rows. */
struct cmd_scope {
	enum scope_level { LEVEL_PROGRAM, LEVEL_PORT, LEVEL_NUMBERED } level;
	/* For documents and messages: one word of lower case letters, digits and underscores. With
	 * it users write an object that has a number: "0/NAME.3" is object 3 of port 0. */
	const char *name;
	/* For numbered objects: they are written without the name, "0/3", and a port alone means
	 * its object 0. */
	bool bare;
	/* The rest is for the host, which looks here when it is asked for an object (cmd_host).
	 * arg is cmd_host.arg. count gives the highest number + 1 of a port's objects, and only
	 * numbered objects need it. object gives NULL for one that does not exist. changed is
	 * called after a value was written; NULL: the host does what it does for the port. */
	unsigned (*count)(void *arg, unsigned port);
	void *(*object)(void *arg, unsigned port, unsigned id);
	void (*changed)(void *arg, const struct setting *, unsigned port, unsigned id);
};

enum setting_flags {
	SET_STOPPED = 1, /* refused while the port sends */
	SET_RESTART = 2, /* the device is restarted (implies SET_STOPPED) */
	SET_LATER = 4,   /* known word, "not in this version" */
	SET_FILE = 16,   /* the value may name a file to read or write; "none" names no file */
	/* For a row of ports: `set` without ports writes it to every port whose store may take
	 * it. It is refused if there is no such port. */
	SET_WHERE_IT_FITS = 8,
};

/* The object that a setting belongs to. The callbacks of a row get it. */
struct set_obj {
	/* cmd_host.program. NULL: cfg belongs to no program, like the defaults that `save` compares
	 * with. */
	void *host;
	const struct cmd_scope *scope;
	unsigned port, id; /* id: number of the object, such as a stream; 0 where it has none */
	void *cfg;         /* the scope's struct, in which a row's offset lies */
};

/* How a row's value is kept if it is not a plain member of the scope's struct, as with header
 * fields. */
struct setting_store {
	void (*put)(const struct setting *, const struct set_obj *obj, const void *val);
	/* Writes the value to *val. false: nothing is set, and *val is the default in force. */
	bool (*get)(const struct setting *, const struct set_obj *obj, void *val);
	void (*unset)(const struct setting *, const struct set_obj *obj);
	/* Says whether the object can take the value: some values are edits that need something of
	 * the object, such as a tunnel, which needs a frame with IP. Returns 0, or -errno with *e,
	 * and then no target of the command is written. If val is NULL the question is whether the
	 * object can take any value (SET_WHERE_IT_FITS). May be NULL: every object can. */
	int (*may)(const struct setting *, const struct set_obj *obj, const void *val,
		   struct err *e);
	/* For a row that has no value of its own and expresses what other rows hold: says whether
	 * it can express what they hold now. Returns 0, or -errno with *e; then get is not called
	 * by cmd_setting_value(). May be NULL: it always can. */
	int (*told)(const struct setting *, const struct set_obj *obj, struct err *e);
};

struct setting {           /* one row of the table: all that is known of one noun */
	const char *name;  /* "rate", "udp.dst" */
	const char *alias; /* Pktgen's spellings, separated by commas: "dst ip,dip" */
	const struct cmd_scope *scope;
	struct vspec v;
	/* text; must parse. NULL only with a store (the row may be unset) or a resolve */
	const char *dflt;
	const char *unit; /* for help */
	const char *help;
	uint32_t offset; /* into the scope's struct */
	uint32_t flags;
	const struct setting_store *store; /* NULL: plain member at offset */
	const void *arg;                   /* for the store */
	/* A rule between settings. It is called after the write, so obj->cfg has the new value. It
	 * cannot refuse, so that settings can be written in any order; a start refuses what still
	 * does not fit. A text that it leaves in *warn goes to cmd_run.note as a warning, an empty
	 * text is no warning. The result is not looked at. */
	bool (*check)(const struct setting *, const struct set_obj *obj, struct err *warn);
	/* Makes the row one that stands for another row of the same scope and holds no value
	 * itself. Which row that is depends on the object: "dport" is udp.dst or tcp.dst, by the
	 * stack. NULL with *e: the object has nothing that the row could mean. v.type of such a row
	 * may be NULL; if it is there, help and completion use it. */
	const struct setting *(*resolve)(const struct setting *, const struct set_obj *obj,
					 struct err *e);
	/* Adds lines to cmd_run.note that express the new value in other units or words. It is
	 * called after the write, and only if a person typed the command. May be NULL. */
	void (*echo)(const struct setting *, const struct set_obj *obj, struct sbuf *note);
	/* what changes with the value, as bits that the host defines; 0: anything may */
	uint32_t why;
};

struct cmd; /* the running language: both tables and the host */
struct cmd_run;

/* What an argument of a verb is:
 * ARG_WORD     a literal word
 * ARG_TARGETS  a list of ports or streams, checked against those of the host
 * ARG_VALUE    one word, or a number and its unit, that a type parses
 * ARG_SETTING  the name of a row, maybe of several words, which fits the targets before it
 * ARG_REST     all words that are left, joined by one blank
 * ARG_FILE     one word
 * ARG_CHOICE   one of v.choices
 * Words and choices may be shortened to a unique prefix. */
enum arg_kind {
	ARG_END,
	ARG_WORD,
	ARG_TARGETS,
	ARG_VALUE,
	ARG_SETTING,
	ARG_REST,
	ARG_FILE,
	ARG_CHOICE
};
enum arg_flags {
	/* The argument may be left out. An ARG_WORD with this flag begins a group: it and the
	 * arguments after it, up to the next that is an ARG_WORD or lacks ARG_OPT, come together or
	 * not at all. In "[for DURATION]" both have ARG_OPT. */
	ARG_OPT = 1,
	/* With ARG_OPT: may be given only after the optional argument before it, as <ports> in
	 * "[<what> [<ports>]]". In a group it may be left out: "[by dst [<ports>]]". */
	ARG_AFTER = 2,
	/* ARG_TARGETS: the streams need not exist; the verb checks them itself */
	ARG_NEW = 4,
	/* ARG_TARGETS: objects of all scopes may be named, "0/NAME.3", and not only ports and
	 * streams */
	ARG_OBJECTS = 64,
	ARG_ALL = 8, /* ARG_TARGETS: if they are missing, the refusal mentions `VERB all` */
	/* ARG_WORD with ARG_OPT: the group that it begins, and those beside it that have this flag,
	 * may come in any order, each at most once. */
	ARG_MIXED = 128,
	ARG_NO_LOAD = 32, /* ARG_WORD: such lines are not allowed in a file read by `load` */
	ARG_PATH = 16,    /* it may name a file, as an ARG_FILE does */
	ARG_RUNS = 256,   /* a command of the shell, which is run */
};
struct arg_spec {
	enum arg_kind kind;
	const char *name; /* "ports", "DURATION"; ARG_WORD: the literal word */
	uint32_t flags;   /* enum arg_flags */
	struct vspec v;   /* ARG_VALUE: type; ARG_CHOICE: v.choices */
	/* ARG_CHOICE: a line for each choice, or NULL. CMD_LATER marks a known word of a later
	 * version. */
	const char *const *about;
};
/* One argument as it was given. */
struct arg_val {
	bool given;
	int col;                       /* its column in the line */
	const char *text;              /* without quotes; valid until run returns */
	const struct setting *setting; /* ARG_SETTING */
	struct target target;          /* ARG_TARGETS */
	int choice;                    /* ARG_CHOICE */
	/* ARG_VALUE: the parsed value. One of a type that is larger than this union (vt_text) is
	 * checked too, but only its text is here. */
	union {
		uint64_t u;
		uint8_t raw[64];
	} v;
};
#define CMD_MAX_ARGS 32

#define CMD_LATER "not in this version"

enum verb_flags {
	VERB_LATER = 1,   /* known word, "not in this version" (exit code 2) */
	VERB_NO_LOAD = 2, /* not allowed in a file read by `load` */
	VERB_TRUSTED = 8, /* runs what a file says with the rights of the program */
	VERB_ENDS = 16,   /* ends the program */
	/* The verb changes nothing, so it may be suggested even for a word that is less like its
	 * name than a plain typo. */
	VERB_LOOKS = 32,
	/* The verb is left out of lists, and a shortened word means it only if no visible verb
	 * matches. */
	VERB_HIDDEN = 4,
};
/* How far a command has come, for people who wait for it. */
struct cmd_progress {
	/* what the command does, and how much of all that is done: "sent 3M of 10M frames" */
	char text[160];
	double share;     /* what is done, as a share from 0 to 1; NAN: unknown */
	uint64_t left_ns; /* time until its end; CMD_LEFT_UNKNOWN */
};
#define CMD_LEFT_UNKNOWN UINT64_MAX
/* Fills share and left_ns for a command that only has to wait for a time to pass. */
void cmd_progress_time(struct cmd_progress *, uint64_t gone_ns, uint64_t all_ns);
/* Appends a time with the digits that matter to people who wait: "3.2 s", "48 s", "5 min 2 s",
 * "2 h 5 min". cmd_progress_spans() appends "3.2 s of 48 s". */
void cmd_progress_span(uint64_t ns, struct sbuf *out);
void cmd_progress_spans(uint64_t gone_ns, uint64_t all_ns, struct sbuf *out);

enum { VERB_DONE = 0, VERB_PENDING = 1 }; /* results of run and poll; negative: -errno with *e */

struct verb { /* one row of the table of verbs */
	/* name: one word, or two ("stream add"); alias: comma separated */
	const char *name, *alias;
	const struct arg_spec *args; /* ends with ARG_END; NULL: none */
	const char *help;            /* its first line is one sentence; more may follow */
	uint32_t flags;
	/* A verb never sleeps. One that takes time returns VERB_PENDING from run and is polled in
	 * each turn of the loop until it is done; cancel ends it early. args[i] belongs to the i-th
	 * arg_spec and lives until run returns. What the verb has to remember goes to r->state. */
	int (*run)(struct cmd_run *r, const struct arg_val *args, struct err *e);
	int (*poll)(struct cmd_run *r, struct err *e);
	void (*cancel)(struct cmd_run *r);
	/* Says how far the command has come; called between two polls. false: there is nothing to
	 * say. NULL: the verb never takes long. */
	bool (*progress)(const struct cmd_run *r, struct cmd_progress *out);
};
#define VERB_STATE_BYTES 4096

/* What verbs keep for a session from one command to the next. */
struct cmd_own {
	void *p;               /* NULL: nothing yet */
	void (*free)(void *p); /* called with p when the session ends */
	/* can_ask: a person at the session can answer questions. While a command runs, its verb may
	 * set asks; then the next line that is typed is put into answer, which the verb frees. */
	bool can_ask, asks;
	char *answer;
};

/* One execution of one command. */
struct cmd_run {
	struct cmd *cmd;
	void *host; /* the host's object: app context */
	const struct verb *verb;
	const char *line;
	int out_mode;      /* enum out_mode of the session */
	struct sbuf *out;  /* results */
	struct sbuf *note; /* warnings and remarks, for stderr */
	/* The documents that the command printed, whatever the mode: an array, NULL: none. Whoever
	 * runs the command releases it at the end. */
	json_t *results;
	/* 0, unless the verb is done and has not passed: then one of "Exit codes" in README.md,
	 * where 1 means that a criterion failed. */
	int exit_code;
	bool batch;          /* no person at the other end */
	struct cmd_own *own; /* of the session; NULL: the command runs outside of one */
	_Alignas(16) uint8_t state[VERB_STATE_BYTES]; /* the verb's memory, zeroed before run */
};

/* What the language asks of the program. nports, count and object must be there, the rest may be
 * NULL. For settings of the program port and id are 0, for those of a port id is 0. count and
 * object are asked only about scopes that rows have; what they give is said at struct cmd_scope. */
struct cmd_host {
	void *arg;
	/* Words that are no commands, separated by commas, and the text to answer each of them
	 * with. The array ends with words NULL. May be NULL. */
	const struct cmd_known {
		const char *words, *text;
	} * known;
	unsigned (*nports)(void *arg);
	unsigned (*count)(void *arg, const struct cmd_scope *, unsigned port);
	void *(*object)(void *arg, const struct cmd_scope *, unsigned port, unsigned id);
	/* Says whether the row may be set now: 0, or -EBUSY with *e. For a row with SET_STOPPED on
	 * a port that sends, the text names `stop`. */
	int (*may_set)(void *arg, const struct setting *, unsigned port, struct err *e);
	/* Called after a value was written. */
	void (*changed)(void *arg, const struct setting *, unsigned port, unsigned id);
	/* Finds a row that the table does not list, by its exact name ("ipv4[3].src"). NULL: there
	 * is none, and *e (e may be NULL) says what is wrong with the name if it would be one of
	 * these; else *e stays as it is. The row is valid as long as the rows of the table. */
	const struct setting *(*row)(void *arg, const char *name, struct err *e);
	/* Completes an ARG_REST of verb v that does not follow a setting. text is the word at the
	 * cursor; a word that is offered replaces it. */
	void (*complete)(void *arg, const struct verb *v, const char *text,
			 void (*offer)(void *to, const char *word, const char *help), void *to);
	void *program; /* what rows get as set_obj.host; may be NULL */
};

/* Makes a language out of two tables; free it with cmd_free(). The rows must outlive it, the arrays
 * of pointers and the host record are copied. host may be NULL for functions that look at the rows
 * alone: help, dump, man, dict and table check. */
struct cmd *cmd_new(const struct setting *const *settings, unsigned nsettings,
		    const struct verb *const *verbs, unsigned nverbs, const struct cmd_host *host);
void cmd_free(struct cmd *);

/* Splits one command into words and returns their number, or -errno with *e. Blanks separate words,
 * "..." and '...' and {...} quote, and # begins a comment. A word is quoted as a whole or not at
 * all: inside of a word the quote characters and # mean themselves. In "..." a backslash makes the
 * characters " and \ plain, {...} nests, and newlines may stand inside of quotes. The texts lie in
 * buf, which needs strlen(line) + 1 bytes. col is the column of the word in line. */
struct cmd_word {
	const char *text;
	int col;
	bool quoted;
};
int cmd_split(const char *line, struct cmd_word *words, unsigned max, char *buf, size_t bufsz,
	      struct err *e);
/* Cuts the next command off *text and writes it to *one; false at the end of the text. Commands are
 * separated by ; or a newline outside of quotes. *text moves just past the separator. Empty
 * commands are given too, so that a caller can count lines. */
bool cmd_next(const char **text, struct sbuf *one);
/* The word that the prompt shows. People paste it along with a command that they copy from a
 * screen, so it is passed over in front of a command. */
#define CMD_PROMPT_WORD "wirerate>"
/* Returns where text goes on after blanks and prompts at its beginning. */
const char *cmd_past_prompt(const char *text);
/* Cuts the next command off *text that is more than blanks, prompts and comments, and writes it to
 * *one without the blanks and prompts before it; false at the end. The caller sets *line to 0
 * before the first call; the newlines that are passed are added to it. *at gets its value at the
 * first word of the command. */
bool cmd_next_command(const char **text, unsigned long *line, struct sbuf *one, unsigned long *at);
/* Returns the place that lies `more` lines after where, in new memory: "file:12" and 3 are
 * "file:15". A text without a number at its end stays as it is. */
char *cmd_where(const char *where, unsigned long more);

/* Appends text so that cmd_split() gives it back as one word. It is quoted only where it must
 * be. */
void cmd_quote(const char *text, struct sbuf *out);

/* Runs one command. The caller fills host, out_mode, out, note, batch and own of *r; cmd, verb,
 * line, exit_code and state are set here. line must live until the run has ended. Returns
 * VERB_DONE, VERB_PENDING (the caller then calls cmd_poll() until it is done), or -errno with *e,
 * whose column is one of line. An error says what was given, what is allowed, and the nearest known
 * word; -ENOTSUP means that it is not in this version. A refused command changes nothing. An empty
 * line is done at once. */
int cmd_exec(struct cmd *, struct cmd_run *r, const char *line, struct err *e);
int cmd_poll(struct cmd_run *r, struct err *e);
void cmd_cancel(struct cmd_run *r);
/* Says how far a pending command has come; false: there is nothing to say. */
bool cmd_run_progress(const struct cmd_run *r, struct cmd_progress *out);
/* Called by a verb that prints doc: adds it to r->results, which take a reference of their own. The
 * same document twice in a row is added once. */
void cmd_result(struct cmd_run *r, json_t *doc);
/* Checks a line without running it, for a file that `load` checks as a whole first. Returns 0 or
 * -errno with *e. Verbs with VERB_NO_LOAD are refused. Values are checked too, but nothing that may
 * depend on earlier lines: which row an alias row stands for, which streams exist, and may_set. */
int cmd_check(struct cmd *, const char *line, struct err *e);

/* What a line names: its verb, and the setting and the choice among its arguments (NULL: none).
 * cmd_look() finds it out without running the line, whose streams need not exist. It returns false
 * if the line is empty or would be refused for its words. */
struct cmd_seen {
	const struct verb *verb;
	const struct setting *setting;
	const char *choice;
};
bool cmd_look(const struct cmd *, const char *line, struct cmd_seen *out);

/* Appends an error for people: "line\n   ^ text". */
void cmd_err_print(const char *line, const struct err *e, struct sbuf *out);
/* Does the same with the place of the error, so that editors can jump there:
 * "file:12: set 0 rate abc5\n   ^ text". `where` is the place at which line begins. If line has
 * several lines (in quotes), the one with the caret is named and shown. */
void cmd_err_print_at(const char *where, const char *line, const struct err *e, struct sbuf *out);

/* Offers all words that could stand at the cursor: verbs, words, settings, values, ports and files.
 * line may hold several commands. *start becomes the column at which the word begins; a word that
 * is taken replaces line[*start, cursor). help may be NULL. If word is NULL, help says what else
 * may be written there ("DURATION: a number with ..."). */
void cmd_complete(struct cmd *, const char *line, int cursor, int *start,
		  void (*offer)(void *arg, const char *word, const char *help), void *arg);

/* Finds a row by its name, an alias or a unique prefix; NULL with *e. */
const struct setting *cmd_setting_find(const struct cmd *, const char *name, struct err *e);
unsigned cmd_nsettings(const struct cmd *);
const struct setting *cmd_setting_at(const struct cmd *, unsigned i);
/* The scopes of the rows: that of the program first, then that of ports, then the others in the
 * order of the table. */
unsigned cmd_nscopes(const struct cmd *);
const struct cmd_scope *cmd_scope_at(const struct cmd *, unsigned i);
/* Appends what is written before the number of an object: "NAME.", or nothing if it is bare. */
void cmd_scope_word(const struct cmd_scope *, struct sbuf *out);
unsigned cmd_nverbs(const struct cmd *);
const struct verb *cmd_verb_at(const struct cmd *, unsigned i);
/* Appends the value of a row as canonical text (not quoted) and returns whether it differs from the
 * default or, for a row with a store, whether it is set. For a row with resolve it appends the text
 * of the row that it stands for, and returns false. Without an object, or if the row means nothing
 * there, nothing is appended. */
bool cmd_setting_text(const struct cmd *, const struct setting *, unsigned port, unsigned id,
		      struct sbuf *out);
/* Finds the row that `set` would write after this list of ports or streams (NULL: no list), by its
 * whole name or an alias and not by a prefix. NULL with *e. */
const struct setting *cmd_setting_for(const struct cmd *, const struct target *t, const char *name,
				      struct err *e);
/* Calls fn with the value in force and with the row that holds it: for a row with resolve, the row
 * that it stands for. The value is valid until fn returns. Returns 0 or -errno with *e: there is no
 * such port or stream, the row means nothing there or has no value to read, or it is not in this
 * version. */
typedef void cmd_value_fn(void *arg, const struct setting *row, const void *val);
int cmd_setting_value(const struct cmd *, const struct setting *, unsigned port, unsigned id,
		      cmd_value_fn *fn, void *arg, struct err *e);
/* Fills *out with the object that the host has there; false: there is none. */
bool cmd_object(const struct cmd *, const struct cmd_scope *, unsigned port, unsigned id,
		struct set_obj *out);
/* Does the same as cmd_setting_text() for a row without resolve, and reads an object that the
 * caller has. */
bool cmd_value_text(const struct setting *, const struct set_obj *obj, struct sbuf *out);
/* Switches off the checks of rows (setting.check) while `on` is set. It is for callers that run
 * many lines and check the result once. */
void cmd_hold_checks(struct cmd *, bool on);
/* Parses a value and writes it to all targets, or to none, as the verb `set` does. Lua and other
 * verbs that write settings call it. note gets warnings and may be NULL. t is NULL for settings
 * of the program, and for a row with SET_WHERE_IT_FITS that no ports were named for. The value
 * "default" unsets a row whose store can unset, and writes dflt to any other; a type that has a
 * value of that name keeps it. Returns 0 or -errno with *e; e->col counts from the first byte of
 * value, and is -1 if the error is not about the value. */
int cmd_set(struct cmd *, const struct target *t, const struct setting *, const char *value,
	    struct sbuf *note, struct err *e);

/* Appends the streams of a port as text: "0-3, 7". A long list is cut short. */
void cmd_streams_text(const struct cmd *, unsigned port, struct sbuf *out);
/* Fills *e with "no stream 0/4; port 0 has streams 0-3" and returns -EINVAL. */
int cmd_no_stream(const struct cmd *, unsigned port, unsigned stream, struct err *e);
/* Reads a list in which objects of all scopes may be named: 0, or -EINVAL or -ERANGE with *e. */
int cmd_target_parse(const struct cmd *, const char *text, struct target *out, struct err *e);
/* Checks that the ports of a list and the objects that it names exist: 0 or -EINVAL with *e. */
int cmd_target_check(const struct cmd *, const struct target *t, struct err *e);
/* Writes the ports of a list to *out, after the same check. An item that names objects of a port
 * counts as the port. */
int cmd_target_ports(const struct cmd *, const struct target *, struct portset *out, struct err *e);

/* A list of names to print in columns, each name once. The names are not copied. cmd_names_put()
 * prints the list and empties it. All columns are as wide as the widest name, but names that are
 * wider than half of `columns` are not counted for that. */
struct cmd_names {
	const char **name;
	size_t *len;
	unsigned n;
};
void cmd_names_add(struct cmd_names *, const char *name, size_t len);
void cmd_names_put(struct cmd_names *, unsigned columns, struct sbuf *out);
/* Appends the first sentence of a help text, on one line. */
void cmd_help_first(const char *help, struct sbuf *out);
/* Appends "start <ports> [for DURATION]". */
void cmd_verb_syntax(const struct verb *, struct sbuf *out);
/* The number of arguments that a verb may have. */
unsigned verb_nargs(const struct verb *);
/* Returns the index after the optional group that begins at argument i (ARG_OPT). */
unsigned verb_group_end(const struct arg_spec *a, unsigned i);
/* Does argument i begin a group that may come before or behind its neighbours (ARG_MIXED)? */
bool verb_mixed(const struct arg_spec *a, unsigned i);
/* Appends the help of a word. For NULL this is a list of all names, for "all" a list with a line
 * about each. */
void cmd_help(struct cmd *, const char *word, struct sbuf *out);
/* Returns both tables as JSON, a new reference. */
json_t *cmd_dump(struct cmd *);
/* Appends the manual page, as roff for section 1. */
void cmd_man(struct cmd *, const char *name, const char *version, struct sbuf *out);
/* Appends the words of the language as a dictionary for libFuzzer. */
void cmd_dict(struct cmd *, struct sbuf *out);
/* For tests: checks both tables and returns the number of problems, one line each in *problems. No
 * name or alias is there twice in a scope, no help is empty, each default parses and its printed
 * form parses to a value that prints the same, each choice completes, the arguments of each verb
 * can be matched, and the names of scopes differ from each other and from those of verbs and of
 * settings of ports. */
int cmd_table_check(const struct cmd *, struct sbuf *problems);
/* The two verbs that every program needs and that follow from the tables. */
extern const struct verb verb_set, verb_help;
