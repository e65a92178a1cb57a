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
