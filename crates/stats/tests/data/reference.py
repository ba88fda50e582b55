"""Figures of independent implementations, for tests/reference/main.rs.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    venv/bin/python reference.py > reference.txt
"""

import random

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests


def line(name, *values):
    print(name + ":", *(repr(float(v)) for v in values))


print("# Written by reference.py; lines of the form `name: numbers`.")

for p in [1e-10, 1e-5, 0.0005, 0.025, 0.3, 0.5, 0.95, 0.975, 0.99999]:
    line("normal_quantile", p, stats.norm.ppf(p))
for z in [-8, -3, -1.96, -0.1, 0, 0.5, 2, 5]:
    line("normal_cdf", z, stats.norm.cdf(z))
for degrees in [1, 2, 3, 4.5, 5, 10, 29, 100, 1999, 2001, 1e4, 1e6]:
    for p in [0.0005, 0.01, 0.025, 0.4, 0.9, 0.975, 0.995, 0.9999]:
        line("student_t_quantile", p, degrees, stats.t.ppf(p, degrees))
    for t in [-20, -5, -2, -0.5, 0, 0.1, 1.3, 4]:
        line("student_t_cdf", t, degrees, stats.t.cdf(t, degrees))
for degrees in [1, 2, 5, 10, 30, 100]:
    for x in [0, 0.1, 1, 3.84, 10, 30, 120]:
        line("chi_squared_upper", x, degrees, stats.chi2.sf(x, degrees))

random.seed(1)


def normal(n, m, s):
    return [round(random.gauss(m, s), 3) for _ in range(n)]


samples = {
    "few": normal(7, 100, 3),
    "more": normal(23, 102, 6),
    "many": normal(60, 101, 4),
    "ties": [float(round(x)) for x in normal(20, 100, 2)],
    "ties_too": [float(round(x)) for x in normal(15, 102, 2)],
    "skewed": [round(random.expovariate(0.1), 3) for _ in range(40)],
    "apart": normal(5, 200, 1),
}
for name, values in samples.items():
    line("sample." + name, *values)
    line("mad." + name, stats.median_abs_deviation(values))
    for confidence in [0.9, 0.95, 0.99]:
        m, e = np.mean(values), stats.sem(values)
        line("t_interval." + name, confidence, *stats.t.interval(confidence, len(values) - 1, m, e))
        line("z_interval." + name, confidence, *stats.norm.interval(confidence, m, e))

for a in samples:
    for b in samples:
        if a == b:
            continue
        pair = a + "." + b
        x, y = samples[a], samples[b]
        ties = len(set(x + y)) < len(x + y)
        exact = not ties and len(x) + len(y) <= 50
        test = stats.mannwhitneyu(x, y, method="exact" if exact else "asymptotic")
        line("mann_whitney." + pair, test.statistic, test.pvalue)
        if (len(x) < 12) != (len(y) < 12):
            continue  # one side would be trimmed and the other not
        trim = 0 if len(x) < 12 else 0.25
        test = stats.ttest_ind(np.log(y), np.log(x), equal_var=False, trim=trim)
        interval = test.confidence_interval(0.99)
        ratio = np.exp(stats.trim_mean(np.log(y), trim) - stats.trim_mean(np.log(x), trim))
        line("launch_ratio." + pair, ratio, np.exp(interval.low), np.exp(interval.high), test.pvalue)

p_values = [0.012, 0.2, 0.0001, 0.04, 0.04, 0.9, 0.007]
line("holm.p", *p_values)
line("holm.adjusted", *multipletests(p_values, method="holm")[1])

xs = [float(k) for k in range(1, 16)]
ys = [round(3.5 + 0.75 * x + random.gauss(0, 0.4), 3) for x in xs]
fit = stats.linregress(xs, ys)
t = stats.t.ppf(0.975, len(xs) - 2)
line("line.x", *xs)
line("line.y", *ys)
line("line.fit", fit.slope, fit.intercept, fit.rvalue**2, fit.stderr, fit.intercept_stderr)
line("line.intervals", fit.slope - t * fit.stderr, fit.slope + t * fit.stderr,
     fit.intercept - t * fit.intercept_stderr, fit.intercept + t * fit.intercept_stderr)
