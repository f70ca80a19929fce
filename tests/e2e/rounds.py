# SPDX-License-Identifier: Apache-2.0
"""Measurements on a machine that other programs use, and that may be a virtual machine beside
others."""
import statistics


def median(measure, good, most=5):
    """Return the median of as few measurements as make it `good`: one on an undisturbed machine,
    `most` at most. A disturbed measurement does not decide, as long as fewer than half of them are
    disturbed."""
    measured = [measure()]
    while not good(statistics.median(measured)) and len(measured) + 2 <= most:
        measured += [measure(), measure()]
    return statistics.median(measured)
