/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads capture files for test_pcapio.py, by a JSON object on each line:
 *	pcapio_dump read FILE     prints what is in it; at its end the interfaces, or the error
 *	pcapio_dump write         makes blocks of what stands on standard input, and prints them
 * An object has one member, which says what it is: section, interface, record, worker (a record
 * that pcapio_epb_put() writes), stats, and for pcap `pcap` (its header) and `pcap_record`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pcapio_read.h"

#define BLOCK (1u << 20)
#define MOST_COMMENTS 16

static const char *const stats_names[PCAPIO_NSTATS] = {
	[PCAPIO_START] = "start",         [PCAPIO_END] = "end",
	[PCAPIO_RECEIVED] = "received",   [PCAPIO_DROPPED] = "dropped",
	[PCAPIO_ACCEPTED] = "accepted",   [PCAPIO_OS_DROPPED] = "os_dropped",
	[PCAPIO_DELIVERED] = "delivered",
};

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static uint64_t number_of(const json_t *o, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(o, name));
}

static const char *const *comments_of(const json_t *o, unsigned *n)
{
	static const char *list[MOST_COMMENTS];
	const json_t *comments = json_object_get(o, "comments");

	*n = (unsigned)json_array_size(comments);
	if (*n > MOST_COMMENTS) {
		fprintf(stderr, "a block has %u comments, at most %u here\n", *n, MOST_COMMENTS);
		exit(2);
	}
	for (unsigned i = 0; i < *n; i++)
		list[i] = json_string_value(json_array_get(comments, i));
	return list;
}

/* Bytes of hex digits. Returns how many. */
static size_t bytes_of(const json_t *o, const char *name, uint8_t *out)
{
	const char *digits = text_of(o, name);
	size_t n = digits != NULL ? strlen(digits) / 2 : 0;

	for (size_t i = 0; i < n; i++) {
		const char pair[] = {digits[2 * i], digits[2 * i + 1], '\0'};
		out[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

static struct pcapio_record record_of(const json_t *o)
{
	static uint8_t frame[BLOCK];
	struct pcapio_record r = {
		.interface = (uint32_t)number_of(o, "interface"),
		.has_queue = json_object_get(o, "queue") != NULL,
		.has_id = json_object_get(o, "id") != NULL,
		.ns = number_of(o, "ns"),
		.frame = frame,
		.origlen = (uint32_t)number_of(o, "origlen"),
		.flags = (uint32_t)number_of(o, "flags"),
		.queue = (uint32_t)number_of(o, "queue"),
		.id = number_of(o, "id"),
	};

	r.caplen = (uint32_t)bytes_of(o, "frame", frame);
	r.comments = comments_of(o, &r.ncomments);
	return r;
}

static ssize_t put_worker(const json_t *o, uint8_t *block)
{
	struct pcapio_record r = record_of(o);
	struct pcapio_epb t;

	pcapio_epb_init(&t, r.interface, r.flags, r.queue);
	memcpy(block + PCAPIO_EPB_HEAD, r.frame, r.caplen);
	return pcapio_epb_put(&t, block, r.ns, r.caplen, r.origlen);
}

static ssize_t put_interface(const json_t *o, uint8_t *block)
{
	struct pcapio_interface i = {
		.link_type = (uint16_t)number_of(o, "link_type"),
		.snaplen = (uint32_t)number_of(o, "snaplen"),
		.speed_bps = number_of(o, "speed_bps"),
		.name = text_of(o, "name"),
		.description = text_of(o, "description"),
		.filter = text_of(o, "filter"),
	};

	i.has_mac = bytes_of(o, "mac", i.mac) > 0;
	i.comments = comments_of(o, &i.ncomments);
	return pcapio_put_interface(block, BLOCK, &i);
}

static ssize_t put_stats(const json_t *o, uint8_t *block)
{
	struct pcapio_stats s = {.interface = (uint32_t)number_of(o, "interface"),
				 .ns = number_of(o, "ns")};

	for (unsigned i = PCAPIO_START; i < PCAPIO_NSTATS; i++)
		if (json_object_get(o, stats_names[i]) != NULL)
			pcapio_stats_set(&s, i, number_of(o, stats_names[i]));
	s.comments = comments_of(o, &s.ncomments);
	return pcapio_put_stats(block, BLOCK, &s);
}

static ssize_t put_object(const char *what, const json_t *o, uint8_t *block)
{
	struct pcapio_section s = {text_of(o, "hardware"), text_of(o, "os"),
				   text_of(o, "application"), NULL, 0};
	struct pcapio_record r;

	if (strcmp(what, "section") == 0) {
		s.comments = comments_of(o, &s.ncomments);
		return pcapio_put_section(block, BLOCK, &s);
	}
	if (strcmp(what, "interface") == 0)
		return put_interface(o, block);
	if (strcmp(what, "worker") == 0)
		return put_worker(o, block);
	if (strcmp(what, "stats") == 0)
		return put_stats(o, block);
	if (strcmp(what, "pcap") == 0)
		return pcapio_put_pcap_head(block, BLOCK, (uint16_t)number_of(o, "link_type"),
					    (uint32_t)number_of(o, "snaplen"));
	r = record_of(o);
	return strcmp(what, "pcap_record") == 0 ? pcapio_put_pcap_record(block, BLOCK, &r)
						: pcapio_put_record(block, BLOCK, &r);
}

static int write_all(void)
{
	uint8_t *block = malloc(BLOCK);
	ssize_t n = 0;
	json_t *line;

	while (n >= 0 && (line = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
		const char *what;
		json_t *o;
		json_object_foreach(line, what, o)
			n = put_object(what, o, block);
		json_decref(line);
		if (n < 0)
			fprintf(stderr, "%s: %s\n", what, strerror((int)-n));
		else
			fwrite(block, 1, (size_t)n, stdout);
	}
	free(block);
	return n < 0;
}

static json_t *json_of_bytes(const uint8_t *p, size_t n)
{
	char *digits = calloc(2, n + 1);

	for (size_t i = 0; i < n; i++)
		sprintf(digits + 2 * i, "%02x", p[i]);
	json_t *text = json_string(digits);
	free(digits);
	return text;
}

static json_t *json_of_comments(const char *const *list, unsigned n)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(a, json_string(list[i]));
	return a;
}

static void print_object(const char *what, json_t *o)
{
	json_t *line = json_pack("{s:o}", what, o);

	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
}

static void print_record(const struct pcapio_record *r)
{
	json_t *o = json_pack("{s:I, s:i, s:I, s:I, s:I, s:o, s:o, s:I}", "interface",
			      (json_int_t)r->interface, "link_type", (int)r->link_type, "origlen",
			      (json_int_t)r->origlen, "flags", (json_int_t)r->flags, "offset",
			      (json_int_t)r->offset, "frame", json_of_bytes(r->frame, r->caplen),
			      "comments", json_of_comments(r->comments, r->ncomments), "ns",
			      (json_int_t)r->ns);

	if (!r->timed)
		json_object_del(o, "ns");
	if (r->has_queue)
		json_object_set_new(o, "queue", json_integer(r->queue));
	if (r->has_id)
		json_object_set_new(o, "id", json_integer((json_int_t)r->id));
	print_object("record", o);
}

static void print_interface(const struct pcapio_reader *r, unsigned i)
{
	const struct pcapio_interface *f = pcapio_reader_interface(r, i);
	const struct pcapio_stats *s = pcapio_reader_stats(r, i);

	print_object("interface",
		     json_pack("{s:i, s:I, s:I, s:s?, s:s?, s:s?, s:o, s:o}", "link_type",
			       (int)f->link_type, "snaplen", (json_int_t)f->snaplen, "speed_bps",
			       (json_int_t)f->speed_bps, "name", f->name, "description",
			       f->description, "filter", f->filter, "mac",
			       json_of_bytes(f->mac, f->has_mac ? 6 : 0), "comments",
			       json_of_comments(f->comments, f->ncomments)));
	if (s == NULL)
		return;
	json_t *o = json_pack("{s:I, s:I, s:o}", "interface", (json_int_t)s->interface, "ns",
			      (json_int_t)s->ns, "comments",
			      json_of_comments(s->comments, s->ncomments));
	for (unsigned k = PCAPIO_START; k < PCAPIO_NSTATS; k++)
		if ((s->has & 1u << k) != 0)
			json_object_set_new(o, stats_names[k],
					    json_integer((json_int_t)s->value[k]));
	print_object("stats", o);
}

static int read_all(const char *path)
{
	struct pcapio_reader *r;
	struct pcapio_record rec;
	struct err e;
	int rc = pcapio_open(path, &r, &e);

	if (rc == 0) {
		while ((rc = pcapio_next(r, &rec, &e)) == 1)
			print_record(&rec);
		for (unsigned i = 0; i < pcapio_reader_interfaces(r); i++)
			print_interface(r, i);
		const struct pcapio_section *s = pcapio_reader_section(r);
		print_object("section",
			     json_pack("{s:s?, s:s?, s:s?, s:o}", "hardware", s->hardware, "os",
				       s->os, "application", s->application, "comments",
				       json_of_comments(s->comments, s->ncomments)));
		pcapio_close(r);
	}
	if (rc != 0)
		print_object("error", json_string(e.text));
	return rc != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "read") == 0)
		return read_all(argv[2]);
	if (argc == 2 && strcmp(argv[1], "write") == 0)
		return write_all();
	fprintf(stderr, "usage: pcapio_dump read FILE | write\n");
	return 2;
}
