/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor looks at machines that are described in text files, and says of each exactly what the
 * file says it must. A file tests/unit/doctor/NAME.machine has lines
 *
 *     # a comment
 *     @include NAME          the lines of NAME.part
 *     @ask WORD ...          the devices in question; none: all
 *     @kernel, @arch, @writer, @dpdk, @program TEXT
 *     @caps all | none | NUMBER ...    effective capabilities
 *     @memlock NUMBER [NUMBER]         bytes, the soft limit and the hard one
 *     @cpus LIST             CPUs that the process may run on
 *     @map CONTROL WORKERS   CPUs of the core map; lcore 0 is control, 1 the first worker ...
 *     @foreign-net           the network belongs to a user namespace above the process's own
 *     @unsynced              nothing keeps the clock on time
 *     @denied PATH           a device file that the process may not use
 *     /path: text            a file; \n is a newline
 *     /path/                 a folder
 *     /path -> target        a link
 *     -/path                 takes away what stands there, with all that is in it
 *     =                      what follows is the report, all of it
 *
 * In a path {0-3} or {a,b} stands for several paths, and {} in the text for the part that was put
 * in. A new machine is a new file: the test fails with the report that came, which is looked at and
 * put below the =. */
#include "cmocka_names.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

#define DEVICES_MAX 16

static char root[] = "/tmp/wr-doctor-test-XXXXXX";

struct machine {
	struct doctor_self self;
	char *device[DEVICES_MAX];
	unsigned ndevices;
	struct sbuf report; /* what is expected */
};

static struct sbuf denied; /* "\n/dev/vfio/1\n..." */

static bool may_use(const char *path)
{
	struct sbuf line = {0};

	sbuf_addf(&line, "\n%s\n", path);
	bool may = strstr(sbuf_str(&denied), line.s) == NULL;
	sbuf_free(&line);
	return may;
}

static int make_root(void **state)
{
	(void)state;
	strcpy(strrchr(root, '-') + 1, "XXXXXX");
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int drop_root(void **state)
{
	struct sbuf command = {0};

	(void)state;
	sbuf_addf(&command, "rm -rf '%s'", root);
	int rc = system(sbuf_str(&command));
	sbuf_free(&command);
	return rc;
}

/* Makes the folders that a path lies in, and returns the path below the root. */
static char *below_root(const char *path)
{
	struct sbuf full = {0};

	sbuf_addf(&full, "%s%s", root, path);
	for (char *at = full.s + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(full.s, 0700);
		*at = '/';
	}
	return full.s;
}

static void put_file(const char *path, const char *text, size_t n)
{
	char *full = below_root(path);
	FILE *f = fopen(full, "w");

	if (f == NULL)
		fail_msg("cannot write %s", full);
	fwrite(text, 1, n, f);
	fclose(f);
	free(full);
}

static void put_link(const char *path, const char *to)
{
	char *full = below_root(path);

	unlink(full);
	assert_int_equal(symlink(to, full), 0);
	free(full);
}

/* The text with `in` for each {} and a newline for each \n. */
static void put_text(const char *path, const char *text, const char *in)
{
	struct sbuf b = {0};

	for (; *text != '\0'; text++)
		if (strncmp(text, "{}", 2) == 0) {
			sbuf_add(&b, in);
			text++;
		} else if (strncmp(text, "\\n", 2) == 0) {
			sbuf_addc(&b, '\n');
			text++;
		} else {
			sbuf_addc(&b, *text);
		}
	sbuf_addc(&b, '\n');
	put_file(path, b.s, b.len);
	sbuf_free(&b);
}

static void entry(const char *path, const char *rest, const char *in);

/* Puts one part into the place of the braces that begin at `at`. */
static void entry_with(const char *path, const char *at, const char *part, const char *rest)
{
	struct sbuf b = {0};

	sbuf_addf(&b, "%.*s%s%s", (int)(at - path), path, part, strchr(at, '}') + 1);
	entry(b.s, rest, part);
	sbuf_free(&b);
}

/* One file, folder or link, or as many as the braces in its path stand for. */
static void entry(const char *path, const char *rest, const char *in)
{
	const char *open = strchr(path, '{');
	char list[256], *save = NULL;
	int from, to;

	if (open == NULL) {
		if (rest[0] == ':')
			put_text(path, rest[1] == ' ' ? rest + 2 : rest + 1, in);
		else if (strncmp(rest, " -> ", 4) == 0)
			put_link(path, rest + 4);
		else
			free(below_root(path));
		return;
	}
	snprintf(list, sizeof(list), "%.*s", (int)strcspn(open + 1, "}"), open + 1);
	for (char *part = strtok_r(list, ",", &save); part != NULL;
	     part = strtok_r(NULL, ",", &save)) {
		if (sscanf(part, "%d-%d", &from, &to) == 2) {
			for (int i = from; i <= to; i++) {
				char number[16];
				snprintf(number, sizeof(number), "%d", i);
				entry_with(path, open, number, rest);
			}
		} else {
			entry_with(path, open, part, rest);
		}
	}
}

static void replace(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

static void take_cpus(struct doctor_self *s, const char *text)
{
	char list[256], *save = NULL;

	s->ncpus = 0;
	snprintf(list, sizeof(list), "%s", text);
	for (char *p = strtok_r(list, ",", &save); p != NULL; p = strtok_r(NULL, ",", &save)) {
		int from = atoi(p), to = strchr(p, '-') != NULL ? atoi(strchr(p, '-') + 1) : from;
		for (int i = from; i <= to; i++) {
			s->cpu = xrealloc(s->cpu, (s->ncpus + 1) * sizeof(*s->cpu));
			s->cpu[s->ncpus++] = i;
		}
	}
}

/* "0 2-3": control and the workers. */
static void take_map(struct doctor_self *s, const char *text)
{
	struct doctor_self workers = {0};
	const char *space = strchr(text, ' ');

	assert_non_null(space);
	take_cpus(&workers, space + 1);
	s->ncores = workers.ncpus + 1;
	s->core = xcalloc(s->ncores, sizeof(*s->core));
	s->core[0] = (struct doctor_core){0, atoi(text), true};
	for (unsigned i = 0; i < workers.ncpus; i++)
		s->core[i + 1] = (struct doctor_core){i + 1, workers.cpu[i], false};
	free(workers.cpu);
}

static uint64_t caps_of(const char *text)
{
	uint64_t caps = 0;

	if (strcmp(text, "all") == 0)
		return UINT64_MAX;
	for (const char *at = text; *at >= '0' && *at <= '9'; at += strspn(at, " ")) {
		char *end;
		caps |= 1ull << strtoul(at, &end, 10);
		at = end;
	}
	return caps;
}

static void read_machine(const char *path, struct machine *m);

static void take_word(struct machine *m, const char *file, const char *word, char *rest)
{
	struct doctor_self *s = &m->self;
	char *save = NULL;

	if (strcmp(word, "include") == 0) {
		struct sbuf part = {0};
		sbuf_addf(&part, "%.*s%s.part", (int)(strrchr(file, '/') + 1 - file), file, rest);
		read_machine(part.s, m);
		sbuf_free(&part);
	} else if (strcmp(word, "ask") == 0) {
		for (char *w = strtok_r(rest, " ", &save); w != NULL && m->ndevices < DEVICES_MAX;
		     w = strtok_r(NULL, " ", &save))
			m->device[m->ndevices++] = xstrdup(w);
	} else if (strcmp(word, "kernel") == 0) {
		replace(&s->kernel, rest);
	} else if (strcmp(word, "arch") == 0) {
		replace(&s->arch, rest);
	} else if (strcmp(word, "writer") == 0) {
		replace(&s->writer, rest);
	} else if (strcmp(word, "dpdk") == 0) {
		replace(&s->dpdk, rest);
	} else if (strcmp(word, "program") == 0) {
		replace(&s->program, rest);
	} else if (strcmp(word, "caps") == 0) {
		s->caps = caps_of(rest);
	} else if (strcmp(word, "memlock") == 0) {
		char *end;
		s->memlock_bytes = s->memlock_hard_bytes = strtoull(rest, &end, 10);
		if (*end == ' ')
			s->memlock_hard_bytes = strtoull(end, NULL, 10);
	} else if (strcmp(word, "cpus") == 0) {
		take_cpus(s, rest);
	} else if (strcmp(word, "map") == 0) {
		take_map(s, rest);
	} else if (strcmp(word, "foreign-net") == 0) {
		s->net_foreign = true;
	} else if (strcmp(word, "unsynced") == 0) {
		s->clock_synced = false;
	} else if (strcmp(word, "denied") == 0) {
		sbuf_addf(&denied, "\n%s\n", rest);
	} else {
		fail_msg("%s: what is @%s?", file, word);
	}
}

static void take_line(struct machine *m, const char *file, char *line)
{
	if (line[0] == '@') {
		size_t n = strcspn(line, " ");
		char *rest = line[n] != '\0' ? line + n + 1 : line + n;
		line[n] = '\0';
		take_word(m, file, line + 1, rest);
	} else if (line[0] == '/') {
		const char *arrow = strstr(line, " -> "), *colon = strstr(line, ": ");
		size_t n = strlen(line);
		/* a colon is in the address of a PCI device too, so the one of a file has a blank
		 * behind it or ends the line */
		if (colon == NULL && n > 0 && line[n - 1] == ':')
			colon = line + n - 1;
		const char *end = arrow != NULL && (colon == NULL || arrow < colon) ? arrow : colon;
		struct sbuf path = {0};
		if (end == NULL && line[n - 1] != '/')
			fail_msg("%s: neither a file nor a folder nor a link: %s", file, line);
		sbuf_addn(&path, line, end != NULL ? (size_t)(end - line) : n);
		entry(path.s, end != NULL ? end : "", "");
		sbuf_free(&path);
	} else if (line[0] == '-') {
		struct sbuf command = {0};
		sbuf_addf(&command, "rm -rf '%s%s'", root, line + 1);
		assert_int_equal(system(command.s), 0);
		sbuf_free(&command);
	} else if (line[0] != '#' && line[0] != '\0') {
		fail_msg("%s: what is this: %s", file, line);
	}
}

static void read_machine(const char *path, struct machine *m)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	bool report = false;

	if (f == NULL)
		fail_msg("cannot read %s", path);
	while (getline(&line, &size, f) > 0) {
		if (report) {
			sbuf_add(&m->report, line);
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "=") == 0)
			report = true;
		else
			take_line(m, path, line);
	}
	free(line);
	fclose(f);
}

static void new_machine(struct machine *m)
{
	sbuf_reset(&denied);
	*m = (struct machine){.self = {.caps = UINT64_MAX,
				       .memlock_bytes = UINT64_MAX,
				       .memlock_hard_bytes = UINT64_MAX,
				       .kernel = xstrdup("6.1.0-18-amd64"),
				       .arch = xstrdup("x86_64"),
				       .writer = xstrdup("avx2"),
				       .program = xstrdup("0.1.0"),
				       .dpdk = xstrdup("DPDK 22.11.11"),
				       .clock_synced = true,
				       .uid = 1000,
				       .parent = 4711,
				       .path = xstrdup("/usr/bin/wirerate"),
				       .may_use = may_use}};
}

static void free_machine(struct machine *m)
{
	doctor_self_free(&m->self);
	for (unsigned i = 0; i < m->ndevices; i++)
		free(m->device[i]);
	sbuf_free(&m->report);
}

static int examine(const struct machine *m, struct doctor_report *r, struct err *e)
{
	const struct doctor_ask ask = {.root = root,
				       .device = (const char *const *)m->device,
				       .ndevices = m->ndevices,
				       .self = &m->self};

	return doctor_examine(&ask, r, e);
}

static void report_of(const struct machine *m, struct sbuf *out)
{
	struct doctor_report r;
	struct err e;

	if (examine(m, &r, &e) != 0)
		fail_msg("%s", e.text);
	doctor_text(&r, DOCTOR_OK, NULL, out);
	doctor_total(&r, out);
	assert_int_equal(doctor_well(&r), strstr(out->s, "0 errors, 0 warnings, ") != NULL);
	doctor_free(&r);
}

static void test_machine(void **state)
{
	struct sbuf got = {0};
	struct machine m;

	new_machine(&m);
	read_machine(*state, &m);
	report_of(&m, &got);
	if (strcmp(sbuf_str(&m.report), got.s) != 0) {
		/* cmocka cuts long texts */
		printf("%s: this came:\n%s", (const char *)*state, got.s);
		fail_msg("%s: the report differs, see above", (const char *)*state);
	}
	sbuf_free(&got);
	free_machine(&m);
}

/* Machines of which nothing but garbage can be read. */
static const char *const numbers[] = {
	"-1", "99999999999999999999", "0x", "12 34", "4,", "1\n2\n", "", "\x01\x02\x7f", "NaN",
};

static const char *const number_files[] = {
	"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
	"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
	"/sys/bus/pci/devices/0000:3b:00.0/class",
	"/sys/bus/pci/devices/0000:3b:00.0/current_link_width",
	"/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
	"/sys/devices/system/cpu/online",
	"/sys/devices/system/node/online",
	"/proc/sys/net/core/optmem_max",
};

static bool says(const struct doctor_report *r, const char *text)
{
	for (unsigned i = 0; i < r->n; i++)
		if (strstr(r->finding[i].what, text) != NULL)
			return true;
	return false;
}

/* A healthy machine of one NIC, for tests that spoil one file. */
static void put_plain(void)
{
	static const char nic[] = "/sys/bus/pci/devices/0000:3b:00.0/";
	static const char *const files[][2] = {
		{"class", "0x020000"},
		{"vendor", "0x8086"},
		{"device", "0x1572"},
		{"numa_node", "0"},
		{"current_link_speed", "8.0 GT/s PCIe"},
		{"current_link_width", "8"},
	};
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s%s", nic, files[i][0]);
		put_file(path, files[i][1], strlen(files[i][1]));
	}
	put_file("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n", 2);
	put_file("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "8\n", 2);
	put_file("/sys/devices/system/cpu/online", "0\n", 2);
	put_file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n", 2);
	put_file("/sys/devices/system/node/online", "0\n", 2);
	put_file("/sys/devices/system/node/node0/cpulist", "0\n", 2);
	put_file("/proc/sys/net/core/optmem_max", "131072\n", 7);
}

/* Each of these files with each of these contents: the file is named as not readable, and there is
 * no other end. An empty list is a list. */
static void test_garbage(void **state)
{
	struct machine m;

	(void)state;
	new_machine(&m);
	take_cpus(&m.self, "0");
	for (size_t f = 0; f < ARRAY_SIZE(number_files); f++)
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
			struct doctor_report r;
			struct err e;
			const char *text = numbers[k];
			bool list = strstr(number_files[f], "list") != NULL ||
				    strstr(number_files[f], "online") != NULL;
			put_plain();
			put_file(number_files[f], text, strlen(text));
			assert_int_equal(examine(&m, &r, &e), 0);
			struct sbuf want = {0};
			sbuf_addf(&want, "%s is not readable: ", number_files[f]);
			if (!says(&r, want.s) && !(list && *text == '\0'))
				fail_msg("\"%s\" in %s was taken", text, number_files[f]);
			sbuf_free(&want);
			doctor_free(&r);
		}
	free_machine(&m);
}

static void expect_bad(const char *path, const char *why)
{
	struct doctor_report r;
	struct machine m;
	struct sbuf want = {0};
	struct err e;

	new_machine(&m);
	take_cpus(&m.self, "0");
	assert_int_equal(examine(&m, &r, &e), 0);
	sbuf_addf(&want, "%s is not readable: %s", path, why);
	if (!says(&r, want.s))
		fail_msg("not said: %s", want.s);
	assert_false(doctor_well(&r));
	sbuf_free(&want);
	doctor_free(&r);
	free_machine(&m);
}

/* A file without end, a loop of links, a pipe, a folder and a link to nothing in the place of
 * files. */
static void test_no_files(void **state)
{
	static const char path[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
	char *big = xcalloc(1, 8 << 20), *full = below_root(path);

	(void)state;
	put_plain();
	memset(big, '1', 8 << 20);
	put_file(path, big, 8 << 20);
	expect_bad(path, "it is too large");
	free(big);
	put_link(path, "nr_hugepages");
	expect_bad(path, "Too many levels of symbolic links");
	unlink(full);
	assert_int_equal(mkfifo(full, 0600), 0);
	expect_bad(path, "it is a pipe, not a regular file");
	unlink(full);
	mkdir(full, 0700);
	expect_bad(path, "it is a folder, not a regular file");
	rmdir(full);
	put_file(path, "8\0\0\0", 4);
	expect_bad(path, "it holds no text");
	put_link("/sys/bus/pci/devices/0000:3b:00.0/driver", "x/\x1b]0;title\x07");
	expect_bad("/sys/bus/pci/devices/0000:3b:00.0/driver", "it leads to no name");
	free(full);
}

/* Names that a terminal would obey come out in visible form. */
static void test_visible(void **state)
{
	static const char name[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
	struct sbuf got = {0};
	struct machine m;

	(void)state;
	new_machine(&m);
	take_cpus(&m.self, "0");
	put_file(name,
		 "\x9b"
		 "31m\n",
		 5);
	report_of(&m, &got);
	assert_null(strchr(got.s, '\x9b'));
	assert_non_null(strstr(got.s, "\\x9b31m"));
	sbuf_free(&got);
	free_machine(&m);
}

/* An empty folder: nothing is known, and nothing is guessed to be wrong. */
static void test_nothing(void **state)
{
	struct doctor_report r;
	struct machine m;
	struct err e;

	(void)state;
	new_machine(&m);
	assert_int_equal(examine(&m, &r, &e), 0);
	assert_int_equal(r.count[DOCTOR_ERROR], 0);
	assert_int_equal(r.count[DOCTOR_WARNING], 0);
	doctor_free(&r);
	free_machine(&m);
}

static void test_names(void **state)
{
	static const char *const bad[] = {"",      "..",         "../../etc",       "a/b",
					  "eth 1", "3b:00.9",    "3b:40.0",         "pci:eth1",
					  "if:",   "0000:3b:00", "x123456789012345"};
	static const char *const good[] = {"eth1",    "3b:00.0", "0000:3b:00.0", "pci:3b:0.0,a=b",
					   "if:eth1", "wire",    "null:",        "tap:t0"};
	struct doctor_report r;
	struct machine m;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		new_machine(&m);
		m.device[m.ndevices++] = xstrdup(bad[i]);
		if (examine(&m, &r, &e) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(r.n, 0);
		free_machine(&m);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		new_machine(&m);
		m.device[m.ndevices++] = xstrdup(good[i]);
		if (examine(&m, &r, &e) != 0)
			fail_msg("'%s': %s", good[i], e.text);
		doctor_free(&r);
		free_machine(&m);
	}
}

static void join_device(void *arg, const char *name, const char *about)
{
	sbuf_addf(arg, "%s (%s)\n", name, about);
}

static void test_devices(void **state)
{
	struct sbuf got = {0};

	(void)state;
	put_plain();
	put_link("/sys/bus/pci/devices/0000:3b:00.0/driver", "../i40e");
	free(below_root("/sys/bus/pci/devices/0000:3b:00.0/net/eth5/"));
	free(below_root("/sys/class/net/eth5/"));
	free(below_root("/sys/class/net/a name that is too long/"));
	put_file("/sys/bus/pci/devices/0000:00:1f.2/class", "0x010601\n", 9);
	doctor_devices(root, join_device, &got);
	assert_string_equal(got.s, "0000:3b:00.0 (i40e, interface eth5)\neth5 (an interface)\n");
	sbuf_free(&got);
}

/* What lib/port asks before it says which command binds a NIC. Interfaces that are above each other
 * in a circle have an end. */
static void test_way_out(void **state)
{
	struct doctor_way out;
	static const char routes[] =
		"Iface Destination\nbr0 00000000 0 0003 0 0 0 00000000 0 0 0\n";

	(void)state;
	put_plain();
	free(below_root("/sys/bus/pci/devices/0000:3b:00.0/net/eth5/"));
	put_link("/sys/class/net/eth5/master", "../bond0");
	put_link("/sys/class/net/bond0/master", "../eth5");
	assert_false(doctor_way_out(root, "0000:3b:00.0", &out));
	put_file("/proc/net/route", routes, sizeof(routes) - 1);
	assert_false(doctor_way_out(root, "0000:3b:00.0", &out));
	put_link("/sys/class/net/bond0/upper_br0", "../br0");
	assert_true(doctor_way_out(root, "0000:3b:00.0", &out));
	assert_string_equal(out.ifname, "eth5");
	assert_string_equal(out.route, "br0");
	assert_false(doctor_way_out(root, "0000:3b:00.1", &out));
}

/* Which driver a device needs is a matter of the device; a newer DPDK has more drivers. */
static void test_drivers(void **state)
{
	static const char old[] = "DPDK 22.11.11", new[] = "DPDK 24.11.1";

	(void)state;
	assert_int_equal(doctor_driver_kind("vfio-pci", 0x8086, 0x1592, old), DOCTOR_DRIVER_BOUND);
	assert_int_equal(doctor_driver_kind("", 0x8086, 0x1592, old), DOCTOR_DRIVER_KERNEL);
	assert_int_equal(doctor_driver_kind("mlx5_core", 0x15b3, 0x1017, old),
			 DOCTOR_DRIVER_SHARED);
	assert_int_equal(doctor_driver_kind("vfio-pci", 0x15b3, 0x1017, old), DOCTOR_DRIVER_LOST);
	assert_int_equal(doctor_driver_kind("", 0x15b3, 0x1017, old), DOCTOR_DRIVER_LOST);
	assert_string_equal(doctor_driver_wanted(0x15b3, 0x1017), "mlx5_core");
	assert_string_equal(doctor_driver_wanted(0x15b3, 0x1003), "mlx4_core");
	/* ConnectX-2, which nobody is told to bind to another driver */
	assert_int_equal(doctor_driver_kind("mlx4_core", 0x15b3, 0x673c, old),
			 DOCTOR_DRIVER_SHARED);
	assert_string_equal(doctor_driver_wanted(0x8086, 0x1592), "vfio-pci");
	assert_int_equal(doctor_driver_kind("r8169", 0x10ec, 0x8168, old), DOCTOR_DRIVER_NONE);
	assert_int_equal(doctor_driver_kind("vfio-pci", 0x10ec, 0x8168, old), DOCTOR_DRIVER_NONE);
	assert_int_equal(doctor_driver_kind("r8169", 0x10ec, 0x8168, new), DOCTOR_DRIVER_KERNEL);
	assert_int_equal(doctor_driver_kind("vfio-pci", 0x10ec, 0x8168, new), DOCTOR_DRIVER_BOUND);
	assert_int_equal(doctor_driver_kind("tg3", 0x14e4, 0x1657, new), DOCTOR_DRIVER_NONE);
}

static void test_style(void **state)
{
	const struct doctor_style style = {.on = {[DOCTOR_ERROR] = "<"}, .off = ">"};
	struct doctor_report r;
	struct machine m;
	struct sbuf got = {0};
	struct err e;

	(void)state;
	new_machine(&m);
	m.device[m.ndevices++] = xstrdup("eth1");
	assert_int_equal(examine(&m, &r, &e), 0);
	doctor_text(&r, DOCTOR_ERROR, &style, &got);
	assert_int_equal(strncmp(got.s, "<error>", 7), 0);
	assert_null(strstr(got.s, "ok"));
	sbuf_free(&got);
	doctor_free(&r);
	free_machine(&m);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test_setup_teardown(test_garbage, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_no_files, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_visible, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_nothing, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_names, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_devices, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_way_out, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_drivers, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_style, make_root, drop_root),
	};
	struct CMUnitTest *tests;
	glob_t files;

	if (glob(MACHINES "/*.machine", 0, NULL, &files) != 0)
		return 1;
	tests = xcalloc(files.gl_pathc, sizeof(*tests));
	for (size_t i = 0; i < files.gl_pathc; i++)
		tests[i] = (struct CMUnitTest){.name = strrchr(files.gl_pathv[i], '/') + 1,
					       .test_func = test_machine,
					       .setup_func = make_root,
					       .teardown_func = drop_root,
					       .initial_state = files.gl_pathv[i]};
	int bad = _cmocka_run_group_tests("machines", tests, files.gl_pathc, NULL, NULL);
	free(tests);
	globfree(&files);
	return bad + cmocka_run_group_tests_name("others", others, NULL, NULL);
}
