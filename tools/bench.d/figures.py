# SPDX-License-Identifier: Apache-2.0
"""What a measurement gives: figures, each with what it must reach; and the numbers behind them."""
import math
import statistics
from dataclasses import dataclass


@dataclass
class Figure:
    """One row of the table. `least` and `most` are what it must reach; both None: for information.
    `error` is the standard error of `value`, where it is a mean or median of several."""

    name: str
    value: float
    form: str = "{:.4f}"
    least: float = None
    most: float = None
    error: float = None

    def reached(self):
        """True, False, or None where nothing is asked."""
        if self.least is None and self.most is None:
            return None
        return ((self.least is None or self.value >= self.least)
                and (self.most is None or self.value <= self.most))

    def value_text(self):
        text = self.form.format(self.value)
        return text if self.error is None else f"{text} ± {self.form.format(self.error)}"

    def target_text(self):
        if self.least is not None:
            return ">= " + self.form.format(self.least)
        return "<= " + self.form.format(self.most) if self.most is not None else ""


def median_and_error(values):
    """The median and its standard error, both told from the middle of the values, so that a window
    in which the machine did something else does not count more than any other."""
    middle = statistics.median(values)
    spread = 1.4826 * statistics.median(abs(v - middle) for v in values)
    return middle, 1.2533 * spread / math.sqrt(len(values))


def print_head():
    print(f"{'OTP':<4} {'figure':<58} {'measured':>20} {'must reach':>12}", flush=True)


def print_row(release, figure):
    verdict = {True: "ok", False: "MISSED", None: ""}[figure.reached()]
    print(f"{release:<4} {figure.name:<58} {figure.value_text():>20} {figure.target_text():>12}  "
          f"{verdict}".rstrip(), flush=True)
