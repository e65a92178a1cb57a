/* SPDX-License-Identifier: BSD-3-Clause */
/* How likely what was counted is by chance. Pure. */
#pragma once

/* The probability that chi-square with so many degrees of freedom is x or more. */
double chance_chi_square(double degrees, double x);

/* Whether two lists of numbers, of at most CHANCE_RANKS each, come from one source: the probability
 * that their ranks differ as much or more, either way, if they do (Mann and Whitney 1947, exact
 * but for numbers that are alike, which count as half). */
#define CHANCE_RANKS 25
double chance_ranks(const double *a, unsigned na, const double *b, unsigned nb);
/* The interval of the median: how many of n numbers at each end of their order may be left out, so
 * that what is between the outermost of the rest has the median with a probability of at least
 * `least`, and that probability. If n is too small for it none is left out. */
unsigned chance_median(unsigned n, double least, double *probability);
