/* SPDX-License-Identifier: BSD-3-Clause */
/* Links on ports: under the name of a link -p has the original's meaning, so that ports come by
 * other words, and the command line becomes one of ours. */
#include "alone.h"
#include "opts.h"
#include "out.h"
#include "visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

#define PORTS_VARIABLE "WIRERATE_PORTS"
#define IP_VARIABLE "WIRERATE_IP"

static const struct {
	struct opt_word w;
	const char *help;
} rows[] = {
	{OPT_WORD(0, "port-spec", "SPEC"),
	 "run on this port, by our own TCP and UDP: if:NAME and what else\n"
	 "`wirerate -p` takes; repeatable. Without it the ports are those of\n"
	 "the variable " PORTS_VARIABLE ", with blanks between them"},
	{OPT_WORD(0, "ip", "A/LEN[,GATEWAY]"),
	 "the first port has this address. Without it: " IP_VARIABLE},
};
enum { ROW_PORT, ROW_IP };

void alone_port_help(unsigned width, struct sbuf *out)
{
	struct sbuf head = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sbuf_reset(&head);
		sbuf_add(&head, "  ");
		opt_print_head(&rows[i].w, &head);
		opt_print_help(sbuf_str(&head), rows[i].help, width, out);
	}
	sbuf_free(&head);
}

/* The words as they are taken apart. */
struct port_words {
	char **rest, **spec;
	int nrest, nspec, nip;
	const char *ip;
};

/* Of how many words, from this one on, the option is, with its value in *value; 0: it is another
 * word. -EINVAL with *e: it has no value. */
static int word_is(size_t row, char **word, int left, char **value, struct err *e)
{
	struct sbuf name = {0};
	int rc = 0;

	opt_print_long(&rows[row].w, &name);
	if (strncmp(word[0], name.s, name.len) == 0) {
		char *end = word[0] + name.len;
		if (*end == '=')
			*value = end + 1;
		else if (*end == '\0')
			*value = left > 1 ? word[1] : NULL;
		rc = *end == '=' || (*end == '\0' && left > 1) ? (*end == '=' ? 1 : 2)
		     : *end == '\0'                            ? -EINVAL
							       : 0;
	}
	if (rc < 0 || (rc > 0 && **value == '\0'))
		rc = err_set(e, EINVAL, "option %s needs a value: %s", sbuf_str(&name),
			     rows[row].w.arg);
	sbuf_free(&name);
	return rc;
}

static int words_take(int argc, char **argv, struct port_words *w, struct err *e)
{
	char *value = NULL;
	int n;

	w->rest = xcalloc((size_t)argc + 1, sizeof(*w->rest));
	w->spec = xcalloc((size_t)argc + 1, sizeof(*w->spec));
	w->rest[w->nrest++] = argv[0];
	for (int i = 1; i < argc; i += n) {
		n = word_is(ROW_PORT, argv + i, argc - i, &value, e);
		if (n > 0) {
			w->spec[w->nspec++] = value;
			continue;
		}
		n = n < 0 ? n : word_is(ROW_IP, argv + i, argc - i, &value, e);
		if (n < 0)
			return n;
		if (n > 0)
			w->ip = value;
		else
			w->rest[w->nrest++] = argv[i];
		n = n > 0 ? n : 1;
	}
	return 0;
}

/* What the environment says, where no option does. */
static void words_environment(struct port_words *w, char **text)
{
	const char *ports = getenv(PORTS_VARIABLE);
	char *save = NULL;

	if (w->nspec == 0 && ports != NULL) {
		*text = xstrdup(ports);
		w->spec = xrealloc(w->spec, (strlen(ports) / 2 + 2) * sizeof(*w->spec));
		for (char *s = strtok_r(*text, " \t\n", &save); s != NULL;
		     s = strtok_r(NULL, " \t\n", &save))
			w->spec[w->nspec++] = s;
	}
	if (w->nspec > 0 && w->ip == NULL)
		w->ip = getenv(IP_VARIABLE);
	if (w->ip != NULL && *w->ip == '\0')
		w->ip = NULL;
}

/* One command line of ours: wirerate -b -p SPEC --ip ADDRESS VERB WORDS. */
static char **words_ours(const struct alone *a, const char *link, const struct port_words *w,
			 int *argc)
{
	static char ours[][16] = {"wirerate", "-b", "-p", "--ip"};
	char **v = xcalloc((size_t)(2 * w->nspec + w->nrest) + 8, sizeof(*v));
	int n = 0;

	v[n++] = ours[0];
	v[n++] = ours[1];
	for (int i = 0; i < w->nspec; i++) {
		v[n++] = ours[2];
		v[n++] = w->spec[i];
	}
	v[n++] = ours[3];
	v[n++] = (char *)(uintptr_t)w->ip;
	v[n++] = (char *)(uintptr_t)a->verb;
	if (strcmp(a->verb, link) != 0)
		v[n++] = (char *)(uintptr_t)link;
	for (int i = 1; i < w->nrest; i++)
		if (strcmp(w->rest[i], "--") != 0) /* which would make EAL's of those before it */
			v[n++] = w->rest[i];
	*argc = n;
	return v;
}

/* Whether the words are for a port. */
static bool words_on_port(const struct alone *a, const char *link, const struct port_words *w)
{
	char **copy;
	bool on;

	if (w->nspec == 0 || a->on_port == NULL)
		return false;
	copy = xcalloc((size_t)w->nrest + 1, sizeof(*copy));
	memcpy(copy, w->rest, (size_t)w->nrest * sizeof(*copy));
	on = a->on_port(link, w->nrest, copy);
	free(copy);
	return on;
}

static int words_check(const struct port_words *w, bool on, struct err *e)
{
	if (w->nspec == 0 && w->ip != NULL)
		return err_set(e, EINVAL,
			       "--ip %s: there is no port that has it; name one with --port-spec "
			       "or %s",
			       w->ip, PORTS_VARIABLE);
	if (on && w->ip == NULL)
		return err_set(e, EINVAL,
			       "the port %s needs an address of its own: --ip ADDRESS/LENGTH or %s",
			       w->spec[0], IP_VARIABLE);
	return 0;
}

int alone_run(const struct alone *a, const char *link, int argc, char **argv,
	      int (*ours)(void *arg, int argc, char **argv), void *arg)
{
	struct port_words w = {0};
	char *text = NULL, **line = NULL;
	struct err e;
	bool on = false;
	int n, code, rc = words_take(argc, argv, &w, &e);

	if (rc == 0) {
		words_environment(&w, &text);
		on = words_on_port(a, link, &w);
		rc = words_check(&w, on, &e);
	}
	if (rc != 0) {
		visible_print(stderr, "%s: %s\n", link, e.text);
		code = a->code(EXIT_USAGE);
	} else if (on) {
		line = words_ours(a, link, &w, &n);
		code = a->code(ours(arg, n, line));
	} else {
		code = a->run(link, w.nrest, w.rest, OUT_TEXT);
	}
	free(line);
	free(text);
	free(w.rest);
	free(w.spec);
	return code;
}
