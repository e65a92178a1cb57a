/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines "stack size fill [field=value ...]" and prints for each the frame's hex, a blank, and its dissection as JSON;
 * or "error: text". size 0 is auto; fill is abc, zero, or user:TEXT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static int read_line(char *line, struct frame_spec *spec, struct err *e)
{
	char *save = NULL;
	const char *stack = strtok_r(line, " \n", &save), *size = strtok_r(NULL, " \n", &save), *fill = strtok_r(NULL, " \n", &save);

	if (fill == NULL)
		return err_set(e, 1, "expected: stack size fill [field=value ...]");
	spec->size = (uint16_t)strtoul(size, NULL, 10);
	spec->fill = strcmp(fill, "zero") == 0 ? FILL_ZERO : FILL_ABC;
	if (strncmp(fill, "user:", 5) == 0) {
		spec->fill = FILL_USER;
		strncpy(spec->user, fill + 5, sizeof(spec->user) - 1);
	}
	int rc = frame_stack_parse(stack, &spec->stack, e);
	for (char *w; rc == 0 && (w = strtok_r(NULL, " \n", &save)) != NULL;) {
		char *eq = strchr(w, '=');
		if (eq == NULL)
			return err_set(e, 1, "%s: expected field=value", w);
		*eq = '\0';
		rc = frame_vals_parse(&spec->vals, w, eq + 1, e);
	}
	return rc;
}

int main(void)
{
	static struct frame f;
	char line[4096];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct frame_spec spec = {0};
		struct err e;
		int rc = read_line(line, &spec, &e);

		if (rc == 0)
			rc = frame_build(&spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e);
		frame_vals_free(&spec.vals);
		if (rc != 0) {
			printf("error: %s\n", e.text);
			continue;
		}
		for (unsigned i = 0; i < f.len; i++)
			printf("%02x", f.bytes[i]);
		json_t *j = frame_dissect(f.bytes, f.len);
		char *text = json_dumps(j, JSON_COMPACT);
		printf(" %s\n", text);
		free(text);
		json_decref(j);
	}
	return 0;
}
