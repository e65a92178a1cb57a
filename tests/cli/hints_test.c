/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is said of words that are no commands, and the sentences about commands that lists
 * show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app.h"
#include "set/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cmd *cmd;

static int open_tables(void **state)
{
	static const struct cmd_host host = {.known = cmd_known_words};
	unsigned ns, nv;
	const struct setting *const *settings = set_rows(&ns);
	const struct verb *const *verbs = cmd_verbs(&nv);

	(void)state;
	cmd = cmd_new(settings, ns, verbs, nv, &host);
	return 0;
}

static int close_tables(void **state)
{
	(void)state;
	cmd_free(cmd);
	return 0;
}

/* Runs a line that must be refused. It could run, so a word that is a command is never given. */
static int try(const char *line, struct err *e)
{
	struct sbuf out = {0}, note = {0};
	struct cmd_run *r = xcalloc(1, sizeof(*r));

	r->out = &out;
	r->note = &note;
	int rc = cmd_exec(cmd, r, line, e);
	sbuf_free(&out);
	sbuf_free(&note);
	free(r);
	return rc;
}

/* Whether the word is a command or the beginning of one. */
static bool begins_verb(const char *word)
{
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		const char *lists[] = {cmd_verb_at(cmd, i)->name, cmd_verb_at(cmd, i)->alias};
		for (unsigned k = 0; k < 2; k++)
			for (const char *p = lists[k]; p != NULL && *p != '\0';
			     p += strcspn(p, ","), p += strspn(p, ", "))
				if (strncmp(p, word, strlen(word)) == 0)
					return true;
	}
	return false;
}

/* Returns the command that is suggested for a word that is no command. NULL: none is suggested, or
 * the word is a command or the beginning of one. Such a word is not tried, because it would run. */
static const struct verb *suggested(const char *word, struct err *e)
{
	const char *mean;

	*e = (struct err){.text = ""};
	if (begins_verb(word) || try(word, e) == 0 ||
	    (mean = strstr(e->text, "did you mean \"")) == NULL)
		return NULL;
	mean += strlen("did you mean \"");
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		const struct verb *v = cmd_verb_at(cmd, i);
		size_t n = strcspn(v->name, " ");
		if (strcspn(mean, "\"") == n && strncmp(mean, v->name, n) == 0)
			return v;
	}
	fail_msg("%s: %s", word, e->text);
	return NULL;
}

/* Checks that a command which does something is suggested only for a word with one slip, behind the
 * first letter, that is long enough to have one. */
static void no_harm(const char *word)
{
	struct err e;
	const struct verb *v = suggested(word, &e);
	char first[64];

	if (v == NULL || (v->flags & (VERB_LOOKS | VERB_LATER)))
		return;
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(v->name, " "), v->name);
	if (word[0] != first[0] || strlen(word) < 4 || str_distance(word, first) != 1)
		fail_msg("%s: %s", word, e.text);
}

/* Words of English, of Pktgen, TRex, iperf and others lead to no command that changes something,
 * unless they mean that command. */
static void test_words_of_others(void **state)
{
	static const char *const words[] = {
		"stats",
		"stat",
		"statistics",
		"status",
		"state",
		"states",
		"counters",
		"counts",
		"totals",
		"results",
		"rates",
		"bandwidth",
		"throughput",
		"bw",
		"ports",
		"devices",
		"device",
		"interfaces",
		"ifconfig",
		"nics",
		"portlist",
		"links",
		"linkstate",
		"streams",
		"latencies",
		"rtt",
		"histogram",
		"percentiles",
		"delays",
		"logs",
		"dmesg",
		"messages",
		"history",
		"events",
		"packet",
		"packets",
		"frames",
		"pkt",
		"dissect",
		"queues",
		"xstats",
		"cores",
		"lcores",
		"cpus",
		"workers",
		"affinity",
		"plans",
		"clock",
		"time",
		"date",
		"settings",
		"config",
		"configuration",
		"options",
		"params",
		"get",
		"print",
		"variables",
		"verdict",
		"pages",
		"tui",
		"gui",
		"top",
		"watch",
		"dashboard",
		"man",
		"usage",
		"commands",
		"manual",
		"info",
		"about",
		"replay",
		"tcpreplay",
		"playback",
		"record",
		"sniff",
		"tcpdump",
		"tshark",
		"ping",
		"arping",
		"traceroute",
		"arp",
		"neighbours",
		"neper",
		"netperf",
		"wrk",
		"flows",
		"sessions",
		"server",
		"client",
		"acquire",
		"release",
		"portattr",
		"service",
		"prom",
		"profile",
		"validate",
		"clearly",
		"stash",
		"stars",
		"stark",
		"state",
		"restart",
		"rest",
		"resets",
		"late",
		"later",
		"lately",
		"play",
		"player",
		"relay",
		"repeat",
		"reply",
		"replace",
		"display",
		"display_stats",
		"loader",
		"lead",
		"lad",
		"line",
		"list",
		"look",
		"trail",
		"trials",
		"tail",
		"train",
		"try",
		"range_show",
		"ranges",
		"change",
		"arrange",
		"sequences",
		"queue",
		"quiet",
		"quota",
		"quick",
		"escape",
		"page_stats",
		"pause_all",
		"enabled",
		"unable",
		"table",
		"cable",
		"stable",
		"label",
		"theory",
		"them",
		"there",
		"then",
		"screenshot",
		"scream",
		"steam",
		"seq_show",
		"savings",
		"shave",
		"serve",
		"wave",
		"have",
		"share",
		"shop",
		"step",
		"steps",
		"stomp",
		"top10",
		"atop",
		"htop",
		"htop2",
		"set_show",
		"sets",
		"seat",
		"sent",
		"send_rate",
		"shut",
		"shutters",
		"shout",
		"geometric",
		"geo",
		"support",
		"import_stats",
		"export_stats",
		"script_list",
		"description",
		"subscript",
		"calibrated",
		"calibre",
		"calculate",
		"celebrate",
		"collaborate",
		"class",
		"clsx",
		"color",
		"echo",
		"export",
		"alias",
		"bind",
		"cat",
		"cd",
		"pwd",
		"whoami",
		"uname",
		"uptime",
		"ps",
		"kill",
		"jobs",
		"fg",
		"bg",
		"sudo",
		"apt",
		"git",
		"vim",
		"less",
		"more",
		"grep",
		"sort",
		"head",
		"wc",
		"who",
		"lspci",
		"lscpu",
		"free",
		"df",
		"du",
		"mount",
		"netstat",
		"ss",
	};
	static const char *const told[][2] = {
		{"stats", "show stats"},        {"STATS", "show stats"},
		{"status", "show stats"},       {"replay", CMD_LATER},
		{"tcpdump", "monitor <ports>"}, {"tshark", "capture <ports> FILE"},
		{"netperf", CMD_LATER},         {"ports", "show ports"},
		{"config", "show settings"},    {"send", "start <ports>"},
		{"nd", "arping <port>"},        {"mtr", "traceroute <port>"},
		{"route", "gateway"},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		no_harm(words[i]);
	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		if (try(told[i][0], &e) == 0 || strstr(e.text, told[i][1]) == NULL ||
		    strstr(e.text, "did you mean") != NULL)
			fail_msg("%s: %s", told[i][0], e.text);
	}
}

/* Whether a command's first word is this one. */
static bool leads_verb(const char *word)
{
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		const char *name = cmd_verb_at(cmd, i)->name;
		size_t n = strcspn(name, " ");
		if (strlen(word) == n && strncmp(name, word, n) == 0)
			return true;
	}
	return false;
}

/* A word that has an answer gets it: it is no command by now. What the answer names are commands,
 * or files that come with the program. */
static void test_known_words(void **state)
{
	(void)state;
	for (const struct cmd_known *k = cmd_known_words; k->words != NULL; k++) {
		char word[32], command[32];
		struct err e;
		int n;
		for (const char *p = k->words; sscanf(p, "%31[^,]%n", word, &n) == 1;
		     p += n + (p[n] == ',')) {
			if (begins_verb(word))
				fail_msg("%s is a command, or the beginning of one", word);
			if (try(word, &e) == 0 || strstr(e.text, k->text) == NULL)
				fail_msg("%s: %s", word, e.text);
		}
		for (const char *p = strchr(k->text, '`'); p != NULL; p = strchr(p + 1, '`')) {
			if (sscanf(p, "`%31[^ `]", command) == 1 && strchr(command, '/') == NULL &&
			    !leads_verb(command))
				fail_msg("%s names \"%s\", which is no command", k->text, command);
			p = strchr(p + 1, '`');
			assert_non_null(p);
		}
	}
}

/* Tries the word and, as deep as `depth` says, all words that are a slip away from it: a letter
 * less, one more, another one, or two exchanged. */
static void slips(const char *name, unsigned depth)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	size_t n = strlen(name);
	char word[64];

	no_harm(name);
	if (depth == 0 || n + 2 > sizeof(word))
		return;
	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "%.*s%s", (int)i, name, name + i + 1);
		slips(word, depth - 1);
		snprintf(word, sizeof(word), "%s", name);
		if (i + 1 < n) {
			word[i] = name[i + 1];
			word[i + 1] = name[i];
			slips(word, depth - 1);
		}
		for (const char *c = letters + (depth + i) % 5;
		     c<letters + sizeof(letters) - 1; c += depth> 1 ? 9 : 5) {
			snprintf(word, sizeof(word), "%s", name);
			word[i] = *c;
			slips(word, depth - 1);
			snprintf(word, sizeof(word), "%.*s%c%s", (int)i, name, *c, name + i);
			slips(word, depth - 1);
		}
	}
}

static void test_slips_in_commands(void **state)
{
	(void)state;
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		char first[64];
		const char *name = cmd_verb_at(cmd, i)->name;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, " "), name);
		slips(first, strlen(first) < 6 ? 2 : 1);
	}
}

/* The sentence that a list shows of a command is whole and on one line. */
static void test_first_sentences(void **state)
{
	(void)state;
	for (unsigned i = 0; i < cmd_nverbs(cmd); i++) {
		const struct verb *v = cmd_verb_at(cmd, i);
		struct sbuf first = {0};
		cmd_help_first(v->help, &first);
		if (first.len == 0 || first.s[first.len - 1] != '.' ||
		    strchr(first.s, '\n') != NULL)
			fail_msg("%s: %s", v->name, sbuf_str(&first));
		sbuf_free(&first);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_tables, close_tables)

int main(void)
{
	const struct CMUnitTest tests[] = {T(test_words_of_others), T(test_known_words),
					   T(test_slips_in_commands), T(test_first_sentences)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
