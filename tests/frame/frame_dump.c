/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines "stack size fill [field=value ...]" and prints for each the frame's hex, a blank, and its dissection as JSON;
 * or "error: text". size 0 is auto; fill is abc, zero, or user:TEXT. A line "hex BYTES" is only dissected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static int read_line(char *line, struct frame_spec *spec, struct err *e)
{
	char *save = NULL;
	const char *stack = strtok_r(line, " \n", &save), *size = strtok_r(NULL, " \n", &save),
		   *fill = strtok_r(NULL, " \n", &save);

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

static void show(const uint8_t *bytes, unsigned len)
{
	json_t *j = frame_dissect(bytes, len);
	char *text = json_dumps(j, JSON_COMPACT);

	for (unsigned i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	printf(" %s\n", text);
	free(text);
	json_decref(j);
}

static unsigned read_hex(const char *hex, uint8_t *out, unsigned max)
{
	unsigned n = 0;

	while (n < max && sscanf(hex + 2 * n, "%2hhx", &out[n]) == 1)
		n++;
	return n;
}

int main(void)
{
	static struct frame f;
	static char line[2 * FRAME_MAX_LEN + 64];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct frame_spec spec = {0};
		struct err e;

		if (strncmp(line, "hex ", 4) == 0) {
			show(f.bytes, read_hex(line + 4, f.bytes, FRAME_MAX_LEN));
			continue;
		}
		int rc = read_line(line, &spec, &e);
		if (rc == 0)
			rc = frame_build(&spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e);
		frame_vals_free(&spec.vals);
		if (rc == 0)
			show(f.bytes, f.len);
		else
			printf("error: %s\n", e.text);
	}
	return 0;
}
