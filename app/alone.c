/* SPDX-License-Identifier: BSD-3-Clause */
#include "alone.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "visible.h"

static const struct alone *const alones[] = {&alone_neper, &alone_iperf3, &alone_stacks};

const struct alone *alone_verb(const char *verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(alones); i++)
		if (strcmp(alones[i]->verb, verb) == 0)
			return alones[i];
	return NULL;
}

const struct alone *alone_link(const char *path, const char **link)
{
	const char *slash = strrchr(path, '/');

	*link = slash != NULL ? slash + 1 : path;
	for (size_t i = 0; i < ARRAY_SIZE(alones); i++)
		for (const char *const *l = alones[i]->links; *l != NULL; l++)
			if (strcmp(*l, *link) == 0)
				return alones[i];
	return NULL;
}

bool alone_print(const char *name, const char *text)
{
	int rc = out_stdout(text);

	if (rc == 0 || rc == -EPIPE)
		return true;
	visible_print(stderr, "%s: cannot write results to standard output: %s\n", name,
		      strerror(-rc));
	return false;
}
