/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists what the module has beside settings and verbs, for completion, annotations and the
 * manual. */
#include "script_int.h"

const struct script_fn script_fns[] = {
	{"port", NULL, "Ports by number: wr.port[0]. wr.port.all is all of them, for writing.", "table<integer, wirerate.Port>"},
	{"set", "...", "The command set; its fields are the settings that belong to no port.", "true"},
	{"verb", NULL, "All commands as functions, also those whose names are taken by something else in the module.", "table"},
	{"cmd", "line", "Run a command as typed: it prints what it prints. Gives its document, and its exit code.", "any, integer"},
	{"try", "line", "The same without printing and without an error: the document or true, and remarks; or nil and the error.", "any, any"},
	{"at_end", "line", "A command that runs when the script ends, however it ends: wr.at_end(\"stop 0\").", "nil"},
	{"input", "message, what?", "The next line that is typed, or its first character (\"key\"); nil where nobody can answer.", "string?"},
	{"write", "...", "Text as it is to where results go.", "nil"},
	{"note", "text", "A remark to where messages go.", "nil"},
	{"tables", "", "The tables of settings and commands, as --dump-commands.", "table"},
	{"stats", "parts?", "The counters of all ports, as `show stats`, or a snapshot with other parts: wr.stats(\"streams:0,log:5\").",
		"table"},
	{"rates", "ports?", "Asked beside offered load, as `show rates`.", "table"},
	{"queues", "ports?", "Counters of each queue, as `show queues`.", "table"},
	{"latency", "ports?", "Latency and jitter, as `show latency`: `ports` receive, `streams` beside them send.", "table"},
	{"ports", "", "The numbers of the ports, as an array.", "integer[]"},
	{"each", "t", "Iterate over a table by ascending numbers: those of ports, queues, streams, workers begin with 0.", "function"},
	{"sleep", "time", "Let time pass: \"100ms\", or seconds. Screen, prompt and other sessions go on.", "true"},
	{"every", "interval, fn", "Call a function again and again, until the handle's stop(). Calls that were missed are skipped.",
		"wirerate.Handle"},
	{"on", "event, fn", "Call a function when something happens: note, link, start, end, interval, trial. It gets a table with event, "
		"port, text.",
	 "wirerate.Handle"},
	{"now", "", "Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of `time_ns` in statistics.", "number"},
	{"expect", "cond, text?", "Note a failure when cond is false or nil: the script goes on, and its exit code is at least 1. Gives its "
		"arguments.", "any"},
	{"progress", "done?, all?, text?", "How far the script has come, for who waits at the screen or the prompt: wr.progress(2, 9, \"64 bytes\"). "
		"Without numbers what was said is taken back.", "nil"},
	{"fail", "text", "End the script with a line for who called it, without a traceback: a wrong argument. Exit code 2.", "nil"},
	{"exit", "code?", "End the script here, with an exit code (0).", "nil"},
	{"json", NULL, "encode(value), decode(text), null, empty_array: as lua-cjson, which `require \"cjson\"` gives too.", "table"},
	{"csv", NULL, "line(values) and line(row, names): a line of CSV without its end.", "table"},
	{"fmt", NULL, "si(n): \"1.235M\"; duration(ns): \"1.5 ms\"; digits(n): the shortest digits of a number.", "table"},
	{"version", NULL, "The version of the program.", "string"},
	{"dpdk_version", NULL, "The version of DPDK, as it says it.", "string"},
};
const unsigned script_nfns = ARRAY_SIZE(script_fns);
