/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck.h"

#include <signal.h>
#include <time.h>

/* a key that is held down sends many interrupts, which count as one */
#define PATIENCE_NS 1000000000ll

static void (*end)(int signo);
static volatile sig_atomic_t noted;
static struct timespec first;
static sigset_t before;

static void on_interrupt(int signo)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!noted) {
		first = now;
		noted = 1;
	} else if ((now.tv_sec - first.tv_sec) * 1000000000ll + now.tv_nsec - first.tv_nsec >
		   PATIENCE_NS) {
		end(signo);
	}
}

void stuck_open(void (*at_once)(int signo))
{
	struct sigaction sa = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, old;

	if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
		return;
	end = at_once;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
}

bool stuck_noted(void)
{
	return noted != 0;
}

void stuck_runs(bool begins)
{
	sigset_t set;

	if (end == NULL)
		return;
	if (begins) {
		sigemptyset(&set);
		sigaddset(&set, SIGINT);
		pthread_sigmask(SIG_UNBLOCK, &set, &before);
		return;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (noted) {
		noted = 0;
		raise(SIGINT); /* blocked: the loop takes it in its next turn */
	}
}
