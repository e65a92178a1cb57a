/* SPDX-License-Identifier: BSD-3-Clause */
#include "chance.h"

#include <math.h>

/* The upper incomplete gamma function of half of both, by its series below the mean, else by its
 * continued fraction (Abramowitz and Stegun 6.5.29, 6.5.31 in the form of Lentz). */
double chance_chi_square(double degrees, double x)
{
	double a = degrees / 2, y = x / 2, scale, sum, term, b, c, d, h;

	if (x <= 0)
		return 1;
	scale = exp(a * log(y) - y - lgamma(a));
	if (y < a + 1) {
		sum = term = 1 / a;
		for (double n = a + 1; term > sum * 1e-12; n++)
			sum += term *= y / n;
		return fmax(0, 1 - sum * scale);
	}
	b = y + 1 - a;
	c = 1e300;
	h = d = 1 / b;
	for (double i = 1; i < 10000; i++) {
		double an = -i * (i - a);
		b += 2;
		d = 1 / (an * d + b);
		c = b + an / c;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-12)
			break;
	}
	return fmin(1, scale * h);
}

/* In how many orders of na and nb numbers so many pairs stand the wrong way round: the coefficients
 * of a Gaussian binomial. Whole numbers below 2^53, so a double has them exactly. */
static void chance_ways(unsigned na, unsigned nb, double *ways)
{
	unsigned most = na * nb;

	ways[0] = 1;
	for (unsigned u = 1; u <= most; u++)
		ways[u] = 0;
	for (unsigned i = 1; i <= nb; i++) {
		for (unsigned u = most; u >= na + i; u--)
			ways[u] -= ways[u - na - i];
		for (unsigned u = i; u <= most; u++)
			ways[u] += ways[u - i];
	}
}

double chance_ranks(const double *a, unsigned na, const double *b, unsigned nb)
{
	double ways[CHANCE_RANKS * CHANCE_RANKS + 1], pairs = 0, all = 0, outer = 0;

	if (na == 0 || nb == 0 || na > CHANCE_RANKS || nb > CHANCE_RANKS)
		return 1;
	for (unsigned i = 0; i < na; i++)
		for (unsigned k = 0; k < nb; k++)
			pairs += a[i] > b[k] ? 1 : a[i] < b[k] ? 0 : 0.5;
	pairs = fmin(pairs, na * nb - pairs);
	chance_ways(na, nb, ways);
	for (unsigned u = 0; u <= na * nb; u++) {
		all += ways[u];
		outer += u <= pairs ? ways[u] : 0;
	}
	return fmin(1, 2 * outer / all);
}

unsigned chance_median(unsigned n, double least, double *probability)
{
	double one = pow(0.5, n), outside = 0; /* one: of each order of above and below */
	unsigned k = 0;

	*probability = n == 0 ? 0 : 1 - 2 * one;
	for (outside = one; n > 0; k++) {
		one *= (n - k) / (k + 1.0);
		if (2 * (k + 1) >= n || 1 - 2 * (outside + one) < least)
			break;
		outside += one;
		*probability = 1 - 2 * outside;
	}
	return k;
}
