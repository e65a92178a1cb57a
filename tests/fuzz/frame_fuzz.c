/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks and values as text, built and dissected again; and arbitrary bytes to the dissector. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define CHECK(x)                          \
	do {                              \
		if (!(x))                 \
			__builtin_trap(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(void *arg, const char *word)
{
	(void)arg;
	(void)word;
}

static void dissect(const uint8_t *bytes, unsigned len)
{
	struct sbuf out = {0};
	json_t *j = frame_dissect(bytes, len);
	json_t *payload = json_object_get(j, "payload"), *padding = json_object_get(j, "padding");

	CHECK(json_integer_value(json_object_get(payload, "offset")) +
		      json_integer_value(json_object_get(payload, "len")) +
		      json_integer_value(json_object_get(padding, "len")) ==
	      (json_int_t)len);
	frame_print(bytes, len, &out);
	sbuf_free(&out);
	json_decref(j);
}

/* A frame without values of the user's is found again as it was meant. */
static void check_plain(const struct frame_spec *spec, const struct frame *f)
{
	struct sbuf stack = {0};
	json_t *j = frame_dissect(f->bytes, f->len), *h;
	size_t i;

	frame_stack_print(&spec->stack, &stack);
	CHECK(strcmp(sbuf_str(&stack), json_string_value(json_object_get(j, "stack"))) == 0);
	CHECK(json_object_get(j, "padding") == NULL);
	json_array_foreach(json_object_get(j, "headers"), i, h) {
		CHECK(json_object_get(h, "malformed") == NULL);
		CHECK(!json_is_false(json_object_get(json_object_get(h, "fields"), "cksum_ok")));
	}
	sbuf_free(&stack);
	json_decref(j);
}

static void build(const struct frame_spec *spec)
{
	static struct frame f;
	struct err e = {.text = ""};

	if (frame_build(spec, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e) != 0) {
		CHECK(e.text[0] != '\0');
		return;
	}
	CHECK(f.len >= FRAME_MIN_LEN && f.len <= FRAME_MAX_LEN && f.len >= frame_stack_len(&spec->stack));
	CHECK(spec->size == 0 || f.len + FRAME_FCS == spec->size);
	dissect(f.bytes, f.len);
	if (spec->vals.n == 0)
		check_plain(spec, &f);
}

/* "stack field=value field=value ..." */
static void text_input(char *text, unsigned size, enum frame_fill fill)
{
	struct frame_spec spec = {.size = (uint16_t)size, .fill = fill, .user = "user text"};
	struct frame_stack again;
	struct sbuf printed = {0};
	struct err e = {.text = ""};
	char *save = NULL, *stack = strtok_r(text, " \n", &save);

	if (stack == NULL)
		return;
	frame_stack_complete(stack, nothing, NULL);
	if (frame_stack_parse(stack, &spec.stack, &e) != 0) {
		CHECK(e.text[0] != '\0' && e.col >= 0 && e.col <= (int)strlen(stack));
		return;
	}
	frame_stack_print(&spec.stack, &printed);
	CHECK(frame_stack_parse(sbuf_str(&printed), &again, &e) == 0 && again.n == spec.stack.n);
	for (char *w; (w = strtok_r(NULL, " \n", &save)) != NULL;) {
		char *eq = strchr(w, '=');
		if (eq != NULL)
			*eq = '\0';
		if (frame_vals_parse(&spec.vals, w, eq != NULL ? eq + 1 : "", &e) != 0)
			CHECK(e.text[0] != '\0');
	}
	build(&spec);
	sbuf_free(&printed);
	frame_vals_free(&spec.vals);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3 || size > FRAME_MAX_LEN)
		return 0;
	if (data[0] & 1) {
		char *text = strndup((const char *)data + 3, size - 3);
		text_input(text, (unsigned)data[1] << 8 | data[2], (enum frame_fill)(data[0] >> 1 & 3));
		free(text);
	} else {
		dissect(data + 1, (unsigned)size - 1);
	}
	return 0;
}
