/* SPDX-License-Identifier: BSD-3-Clause */
/* wirerate-filter: compiles one filter, under limits, and ends. It is a program of its own: a copy
 * of a process with many threads could not allocate memory safely, and the main program with its
 * drivers takes longer to start than most filters to compile. And only here may functions of the C
 * library be replaced (filter_names.c). */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "filter_pcap.h"
#include "filter_names.h"

#define NOBODY 65534

enum { EXIT_USAGE = 2 };

static void child_limit(int which, rlim_t most)
{
	setrlimit(which, &(struct rlimit){most, most});
}

/* From here on no file and no socket can be opened, since each needs a descriptor. */
static void child_limits(void)
{
	child_limit(RLIMIT_CPU, FILTER_CPU_S);
	child_limit(RLIMIT_CORE, 0);
	child_limit(RLIMIT_NOFILE, 0);
	if (FILTER_MEMORY_MOST > 0)
		child_limit(RLIMIT_AS, FILTER_MEMORY_MOST);
	/* If the program that wants the filter is gone, nobody else ends us. */
	alarm(FILTER_WALL_S + 1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* Root's rights are of no use here. In a container they may not be there to be given up. */
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) != 0))
		return;
}

static bool child_write(const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, p, n);
		if (done < 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

static bool child_answer(const struct pcap_out *out)
{
	struct filter_head head = {.version = FILTER_WIRE, .answer = out->answer};
	bool program = out->answer == FILTER_PROGRAM;
	size_t bytes = program ? out->prog.n * sizeof(*out->prog.insns) : strlen(out->text);

	head.n = program ? out->prog.n : (uint32_t)bytes;
	return child_write(&head, sizeof(head)) &&
	       child_write(program ? (const void *)out->prog.insns : out->text, bytes);
}

int main(int argc, char **argv)
{
	struct pcap_out out;

	if (argc != 5 || strcmp(argv[1], FILTER_WIRE) != 0) {
		fprintf(stderr,
			"this program belongs to wirerate, which starts it to compile the filters of captures\n");
		return EXIT_USAGE;
	}
	names_read();
	child_limits();
	pcap_text_compile(argv[4], (unsigned)strtoul(argv[2], NULL, 10), atoi(argv[3]), &out);
	/* Without what the C library would do at an end: it may want descriptors. */
	_exit(child_answer(&out) ? 0 : EXIT_USAGE);
}
