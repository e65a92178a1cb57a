/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tables of the command language and the loops over them: split, match, complete, help, dump. Knows no port and no
 * control: a host gives objects. Everything that follows from a row is a loop here; no setting has code elsewhere.
 * Control thread. */
#pragma once
#include <jansson.h>
#include "value.h"

enum cmd_scope { SCOPE_GLOBAL, SCOPE_PORT, SCOPE_STREAM };

enum setting_flags {
	SET_STOPPED = 1, /* refused while the port sends */
	SET_RESTART = 2, /* the device is restarted (implies SET_STOPPED) */
	SET_LATER = 4,   /* known word, "not in this version" */
	SET_FILE = 16,   /* its value may name a file that is read or written; none names nothing */
	SET_WHERE_IT_FITS = 8, /* of a port: without ports it is written to all whose store may take it, if there is one */
};

struct setting;

/* Whose setting it is: what the callbacks of a row get. */
struct set_obj {
	void *host;            /* cmd_host.program; NULL: the struct is of no program, as the defaults that `save` compares with */
	enum cmd_scope scope;
	unsigned port, stream; /* ids; 0 where the scope has none */
	void *cfg;             /* the scope's struct, in which a row's offset lies */
};

/* How a row's value is kept when it is not a plain member of the scope's struct (header fields). */
struct setting_store {
	void (*put)(const struct setting *, const struct set_obj *obj, const void *val);
	/* false: not set, *val is what would be used (the default in force) */
	bool (*get)(const struct setting *, const struct set_obj *obj, void *val);
	void (*unset)(const struct setting *, const struct set_obj *obj);
	/* A row whose value is an edit that the object may not be able to take (a tunnel for a frame without IP): 0, or -errno with *e, and nothing
	 * is written, to none of the targets. val NULL: any value (SET_WHERE_IT_FITS). May be NULL. */
	int (*may)(const struct setting *, const struct set_obj *obj, const void *val, struct err *e);
	/* Of a row that says in other words what other rows hold: what they hold now may have no such word. 0, or -errno with *e, and the value
	 * is not read. May be NULL. */
	int (*told)(const struct setting *, const struct set_obj *obj, struct err *e);
};

struct setting { /* one row = one noun, the only statement about it */
	const char *name;    /* "rate", "udp.dst" */
	const char *alias;   /* Pktgen's spellings, comma separated, words by blanks: "dst ip,dip" */
	enum cmd_scope scope;
	struct vspec v;
	const char *dflt;    /* text; must parse. NULL only with a store (the row may be unset) or a resolve */
	const char *unit;    /* for help */
	const char *help;
	uint32_t offset;     /* into the scope's struct */
	uint32_t flags;
	const struct setting_store *store; /* NULL: plain member at offset */
	const void *arg;     /* for the store */
	/* Rules between settings, called after the write, so obj->cfg has the new value. It never refuses, so that settings can be written in
	 * any order; a start refuses what still does not fit. A text left in *warn is a warning for cmd_run.note, an empty text is none. The
	 * result is not looked at. */
	bool (*check)(const struct setting *, const struct set_obj *obj, struct err *warn);
	/* An alias row that stands for another row of the same scope, chosen per object ("dport" is udp.dst or tcp.dst by the stack): never
	 * stored. NULL with *e: the object has nothing that the row could mean. v.type may be NULL; if it is there, it serves help and
	 * completion. */
	const struct setting *(*resolve)(const struct setting *, const struct set_obj *obj, struct err *e);
	/* What the new value comes to, in other words, as lines for cmd_run.note; called after the write where a person typed it. May be NULL. */
	void (*echo)(const struct setting *, const struct set_obj *obj, struct sbuf *note);
	uint32_t why;        /* what changes with it, in bits of the host's; 0: anything may */
};

struct cmd; /* the running language: tables + host */
struct cmd_run;

enum arg_kind { ARG_END, ARG_WORD, ARG_TARGETS, ARG_VALUE, ARG_SETTING, ARG_REST, ARG_FILE, ARG_CHOICE };
/* ARG_WORD a literal word; TARGETS a port list, checked against the host's ports; VALUE one word of a type; SETTING a row's name (may be
 * several words) of the scope that the targets before it say; REST all words left, joined by one blank; FILE one word; CHOICE one of
 * v.choices. Words and choices may be given as unique prefixes. */
enum arg_flags {
	ARG_OPT = 1,
	ARG_AFTER = 2, /* beside ARG_OPT: only where the optional argument before it was given ("[<what> [<ports>]]") */
	ARG_NEW = 4,   /* ARG_TARGETS: the streams need not be there, the verb looks at them itself */
	ARG_ALL = 8,   /* ARG_TARGETS: where they are missing, the refusal names `VERB all` */
	ARG_NO_LOAD = 8, /* what VERB_NO_LOAD says of a verb, of a line with this word alone */
	ARG_PATH = 16, /* it may name a file, as an ARG_FILE does */
};
struct arg_spec {
	enum arg_kind kind;
	const char *name;      /* "ports", "DURATION"; ARG_WORD: the literal word */
	/* ARG_OPT: may be left out. An ARG_WORD with ARG_OPT begins a group: it and the arguments after it, up to the next that is an
	 * ARG_WORD or has no ARG_OPT itself, come together or not at all ("[for DURATION]": both have ARG_OPT). */
	uint32_t flags;
	struct vspec v;        /* ARG_VALUE: type; ARG_CHOICE: v.choices */
	const char *const *about; /* ARG_CHOICE: a line for each choice, or NULL; CMD_LATER: a known word of a later version */
};
struct arg_val {
	bool given;
	int col;               /* column in the line */
	const char *text;      /* unquoted; valid until run returns */
	const struct setting *setting; /* ARG_SETTING */
	struct target target;  /* ARG_TARGETS */
	int choice;            /* ARG_CHOICE */
	union { uint64_t u; uint8_t raw[64]; } v; /* ARG_VALUE; a type larger than this (vt_text) is checked and left as text */
};
#define CMD_MAX_ARGS 16

#define CMD_LATER "not in this version"

enum verb_flags {
	VERB_LATER = 1,    /* known word, "not in this version" (exit code 2) */
	VERB_NO_LOAD = 2,  /* not allowed in a file read by `load` */
	VERB_TRUSTED = 8,  /* runs what a file says with the rights of the program */
	VERB_ENDS = 16,    /* ends the program */
	VERB_LOOKS = 32,   /* changes nothing: may be suggested for a word that is not much like it */
	VERB_HIDDEN = 4,   /* left out of the short help list and of prefix matching while a visible verb matches */
};
/* How far work has come, for people who wait for it. */
struct cmd_progress {
	char text[160];        /* what it does, and how much of how much is done: "sent 3M of 10M frames" */
	double share;          /* done of all, 0 to 1; NAN: nobody knows how much it will be */
	uint64_t left_ns;      /* until its end, as far as can be told; CMD_LEFT_UNKNOWN */
};
#define CMD_LEFT_UNKNOWN UINT64_MAX
/* share and left_ns of a time that passes. */
void cmd_progress_time(struct cmd_progress *, uint64_t gone_ns, uint64_t all_ns);
/* A time in as many digits as people want who wait: "3.2 s", "48 s", "5 min 2 s", "2 h 5 min". */
void cmd_progress_span(uint64_t ns, struct sbuf *out);
void cmd_progress_spans(uint64_t gone_ns, uint64_t all_ns, struct sbuf *out); /* "3.2 s of 48 s" */

enum { VERB_DONE = 0, VERB_PENDING = 1 }; /* run/poll results; negative: -errno with err filled */

struct verb { /* one file each */
	const char *name, *alias; /* name: one word, or two ("stream add"); alias: comma separated */
	const struct arg_spec *args; /* ends with ARG_END; NULL: none */
	const char *help;            /* first line: one sentence; then more */
	uint32_t flags;
	/* Nothing sleeps: a verb that takes time returns VERB_PENDING and is polled each turn until it is done; cancel ends it early.
	 * args[i] matches args spec i and lives until run returns. state: VERB_STATE_BYTES of zeroed memory of this run. */
	int (*run)(struct cmd_run *r, const struct arg_val *args, struct err *e);
	int (*poll)(struct cmd_run *r, struct err *e);
	void (*cancel)(struct cmd_run *r);
	/* Between two polls: how far it has come. False: there is nothing to say. NULL: it never takes long. */
	bool (*progress)(const struct cmd_run *r, struct cmd_progress *out);
};
#define VERB_STATE_BYTES 4096

/* What a verb keeps for its session from one command to the next; free ends it with the session. */
struct cmd_own {
	void *p; /* NULL: nothing yet */
	void (*free)(void *p);
	/* Somebody can be asked. A verb that holds the line sets asks; the next line that is typed becomes answer, which the verb frees. */
	bool can_ask, asks;
	char *answer;
};

/* One execution of one command. */
struct cmd_run {
	struct cmd *cmd;
	void *host;            /* the host's object: app context */
	const struct verb *verb;
	const char *line;
	int out_mode;          /* enum out_mode of the session */
	struct sbuf *out;      /* results */
	struct sbuf *note;     /* warnings and remarks, for stderr */
	json_t *results;       /* documents that it printed, whatever the mode: an array, NULL: none. Whoever runs it frees it at the end */
	int exit_code;         /* 0, or of a verb that ends done but not passed one of "Exit codes" in README.md; 1: a criterion failed */
	bool batch;            /* no person at the other end */
	struct cmd_own *own;   /* of the session, NULL: of none */
	_Alignas(16) uint8_t state[VERB_STATE_BYTES];
};

/* What the language asks of the program. nports, nstreams and object must be there, the rest may be NULL. port and stream of a
 * SCOPE_GLOBAL row are 0, stream of a SCOPE_PORT row too. nstreams is the highest stream + 1; object gives NULL for a stream below it that is
 * not there. */
struct cmd_host {
	void *arg;
	/* Words that are no commands, comma separated, and what is to be said of each; ends with NULL, may be NULL. */
	const struct cmd_known { const char *words, *text; } *known;
	unsigned (*nports)(void *arg);
	unsigned (*nstreams)(void *arg, unsigned port);
	void *(*object)(void *arg, enum cmd_scope, unsigned port, unsigned stream);
	/* May this row be set now? 0 or -EBUSY with text (SET_STOPPED on a sending port names `stop`). */
	int (*may_set)(void *arg, const struct setting *, unsigned port, struct err *e);
	/* A value was written. */
	void (*changed)(void *arg, const struct setting *, unsigned port, unsigned stream);
	/* A row that the table does not list, for a name that is no row's exactly ("ipv4[3].src"); NULL: there is none. Valid as long as the
	 * table's rows. */
	const struct setting *(*row)(void *arg, const char *name);
	/* What could stand at the end of text, the word at the cursor, in the rest of a line of that verb. offer's word takes its place. */
	void (*complete)(void *arg, const struct verb *v, const char *text, void (*offer)(void *to, const char *word, const char *help), void *to);
	/* What rows find as the host of their objects. NULL: there are objects alone. */
	void *program;
};

/* The rows must outlive the result; the arrays of pointers and the host record are copied. host may be NULL for what looks at the rows alone
 * (help, dump, man, dict, table check). */
struct cmd *cmd_new(const struct setting *const *settings, unsigned nsettings, const struct verb *const *verbs, unsigned nverbs,
		    const struct cmd_host *host);
void cmd_free(struct cmd *);

/* Split into words: blanks, "..." '...' {...} quoting, # comment. A word begins with its quote or has none: inside a word quote
 * characters and # are plain. In "..." a backslash makes " and \ plain; {...} nests; newlines may stand inside. Words keep their column. */
struct cmd_word { const char *text; int col; bool quoted; };
int cmd_split(const char *line, struct cmd_word *words, unsigned max, char *buf, size_t bufsz, struct err *e); /* count or -errno */
/* Cut the next command (separated by ; or newline outside quotes) off *text; false at the end. Also gives empty commands, so that a
 * caller can count lines: *text moves just past the separator. */
bool cmd_next(const char **text, struct sbuf *one);
/* What the prompt shows. Who pastes what was on a screen pastes it too: in front of a command it is passed over. */
#define CMD_PROMPT_WORD "wirerate>"
/* text behind blanks and prompts in front of it. */
const char *cmd_past_prompt(const char *text);
/* The next command that is more than blanks, prompts and comments, without blanks and prompts before it. *line counts the newlines passed,
 * *at is what it was at the command's first word. Both begin at 0. */
bool cmd_next_command(const char **text, unsigned long *line, struct sbuf *one, unsigned long *at);
/* "file:12" and 3 more lines -> "file:15", new; without a number at its end, the same text. */
char *cmd_where(const char *where, unsigned long more);

/* Append text so that cmd_split gives it back as one word (quoted only where it must be). */
void cmd_quote(const char *text, struct sbuf *out);

/* Run one command. The caller fills host, out_mode, out, note and batch of *r; cmd, verb, line, exit_code and state are set here. line must
 * live until the run has ended. VERB_DONE, VERB_PENDING (then cmd_poll until done) or -errno with *e (col in r->line). Errors: what was
 * given, what is allowed, nearest known word. -ENOTSUP: not in this version. State is untouched by a refused command. An empty line is
 * done at once. */
int cmd_exec(struct cmd *, struct cmd_run *r, const char *line, struct err *e);
int cmd_poll(struct cmd_run *r, struct err *e);
void cmd_cancel(struct cmd_run *r);
bool cmd_run_progress(const struct cmd_run *r, struct cmd_progress *out); /* of one that is pending; false: there is nothing to say */
/* A verb prints this document: it is one of the results (a reference of their own). Twice in a row counts once. */
void cmd_result(struct cmd_run *r, json_t *doc);
/* Only look: parse and match, run nothing (for `load`'s check of a whole file; VERB_NO_LOAD verbs are refused). Values are checked too,
 * but not what depends on earlier lines: the row that an alias row stands for, which streams there are, and may_set. */
int cmd_check(struct cmd *, const char *line, struct err *e);

/* What a line names, nothing is run: its verb, the setting and the choice among its arguments (NULL: it has none). Streams need not be there.
 * False: it is empty, or would be refused for its words. */
struct cmd_seen { const struct verb *verb; const struct setting *setting; const char *choice; };
bool cmd_look(const struct cmd *, const char *line, struct cmd_seen *out);

/* "line\n   ^ text" for people. */
void cmd_err_print(const char *line, const struct err *e, struct sbuf *out);
/* "file:12: set 0 rate abc5\n   ^ text", so that editors can jump. where is that of the line's begin: of several lines in quotes the one with the
 * caret is named and shown. */
void cmd_err_print_at(const char *where, const char *line, const struct err *e, struct sbuf *out);

/* Offer words that could stand at the cursor; *start = column where the word begins; a taken word replaces line[*start, cursor). help may
 * be NULL. Words, settings, values, ports, files. line may hold several commands. A NULL word is no word: its help says what else may begin
 * there ("DURATION: a number with ..."). */
void cmd_complete(struct cmd *, const char *line, int cursor, int *start, void (*offer)(void *arg, const char *word, const char *help),
		  void *arg);

/* Iterate and look up. */
const struct setting *cmd_setting_find(const struct cmd *, const char *name, struct err *e); /* name, alias or unique prefix */
unsigned cmd_nsettings(const struct cmd *);
const struct setting *cmd_setting_at(const struct cmd *, unsigned i);
unsigned cmd_nverbs(const struct cmd *);
const struct verb *cmd_verb_at(const struct cmd *, unsigned i);
/* Value of a row as canonical text (not quoted); true when it differs from the default. A resolve row gives the text of the row that it
 * stands for and is never "different". */
bool cmd_setting_text(const struct cmd *, const struct setting *, unsigned port, unsigned stream, struct sbuf *out);
/* The row that `set` finds behind that list of ports or streams (NULL: none) by its whole name or an alias, not by a prefix. NULL with *e. */
const struct setting *cmd_setting_for(const struct cmd *, const struct target *t, const char *name, struct err *e);
/* The value in force: fn gets the row that holds it (of a resolve row the one that it stands for) and the value, which it may look at until
 * it returns. 0 or -errno with *e: no such port or stream, nothing that the row could mean, not in this version. */
typedef void cmd_value_fn(void *arg, const struct setting *row, const void *val);
int cmd_setting_value(const struct cmd *, const struct setting *, unsigned port, unsigned stream, cmd_value_fn *fn, void *arg,
		      struct err *e);
/* The object that the host has there; false: there is none. */
bool cmd_object(const struct cmd *, enum cmd_scope, unsigned port, unsigned stream, struct set_obj *out);
/* cmd_setting_text() of a row that is no resolve row, read from an object at hand. */
bool cmd_value_text(const struct setting *, const struct set_obj *obj, struct sbuf *out);
/* From now on until it is taken back the rows' checks are not called: whoever runs many lines looks at the result once. */
void cmd_hold_checks(struct cmd *, bool on);
/* Parse and write one value to all targets, or to none. The `set` verb, Lua and JSON end here. note (may be NULL) gets warnings. t is NULL
 * for SCOPE_GLOBAL. The value "default" unsets a stored row, else writes dflt (a type that knows the word itself keeps it). e->col is
 * relative to value, -1 for what concerns the targets. */
int cmd_set(struct cmd *, const struct target *t, const struct setting *, const char *value, struct sbuf *note, struct err *e);

/* The streams of a port as text: "0-3, 7". */
void cmd_streams_text(const struct cmd *, unsigned port, struct sbuf *out);
/* "no stream 0/4; port 0 has streams 0-3"; gives -EINVAL. */
int cmd_no_stream(const struct cmd *, unsigned port, unsigned stream, struct err *e);
/* The ports of a list are there, and the streams that it names: 0 or -EINVAL. */
int cmd_target_check(const struct cmd *, const struct target *t, struct err *e);
/* The ports of a list, each checked to be there (-EINVAL names those that are); items with streams count as their port. */
int cmd_target_ports(const struct cmd *, const struct target *, struct portset *out, struct err *e);

/* Names side by side, each once. They stay where they are; the list is empty when it was put. */
struct cmd_names {
	const char **name;
	size_t *len;
	unsigned n;
};
void cmd_names_add(struct cmd_names *, const char *name, size_t len);
void cmd_names_put(struct cmd_names *, unsigned columns, struct sbuf *out); /* what is wider than half of them has no room of its own */
/* The first sentence of a help text, on one line. */
void cmd_help_first(const char *help, struct sbuf *out);
/* "start <ports> [for DURATION]" */
void cmd_verb_syntax(const struct verb *, struct sbuf *out);
void cmd_help(struct cmd *, const char *word, struct sbuf *out);      /* NULL: the list */
json_t *cmd_dump(struct cmd *);                                       /* both tables as JSON */
void cmd_man(struct cmd *, const char *name, const char *version, struct sbuf *out); /* roff, section 1 */
/* Words of the language as a libFuzzer dictionary. */
void cmd_dict(struct cmd *, struct sbuf *out);
/* For tests: walk both tables. No duplicate name or alias within a scope, no empty help, defaults parse, print(parse(default)) parses to the
 * same text, every choice completes, argument templates are sound. Number of problems, one line each. */
int cmd_table_check(const struct cmd *, struct sbuf *problems);
/* The verbs every program needs, made from the tables: set, help. */
extern const struct verb verb_set, verb_help;
