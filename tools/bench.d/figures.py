# SPDX-License-Identifier: Apache-2.0
"""The figures of a measurement, each with its target, and the statistics behind them."""
import math
import statistics
from dataclasses import dataclass


@dataclass
class Figure:
    """One row of the table. `least` or `most` is its target; if both are None, the figure is for
    information. `error` is the standard error of `value`, if that is a mean or median of
    several."""

    name: str
    value: float
    form: str = "{:.4f}"
    least: float = None
    most: float = None
    error: float = None

    def verdict(self):
        """Return "ok", "MISSED", "unclear" if the target is within two standard errors, or nothing
        without a target."""
        target = self.most if self.least is None else self.least
        if target is None:
            return ""
        if self.error is not None and abs(self.value - target) <= 2 * self.error:
            return "unclear"
        reached = self.value >= target if self.most is None else self.value <= target
        return "ok" if reached else "MISSED"

    def value_text(self):
        text = self.form.format(self.value)
        if self.error is None:
            return text
        return f"{text} ± {self.form.replace('+', '').format(self.error)}"

    def target_text(self):
        if self.least is not None:
            return ">= " + self.form.format(self.least)
        return "<= " + self.form.format(self.most) if self.most is not None else ""


def median_and_error(values):
    """Return the median and its standard error. Both come from the middle of the values, so that a
    window in which the machine was disturbed does not count more than any other."""
    middle = statistics.median(values)
    spread = 1.4826 * statistics.median(abs(v - middle) for v in values)
    return middle, 1.2533 * spread / math.sqrt(len(values))


def print_head():
    print(f"{'OTP':<4} {'figure':<58} {'measured':>20} {'must reach':>12}", flush=True)


def print_row(release, figure):
    print(f"{release:<4} {figure.name:<58} {figure.value_text():>20} {figure.target_text():>12}  "
          f"{figure.verdict()}".rstrip(), flush=True)
