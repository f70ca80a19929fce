# SPDX-License-Identifier: Apache-2.0
"""Measurements on a machine that others use too, and that may itself be one of several on a host."""
import statistics


def median(measure, good, most=5):
    """The median of as few measurements as it takes to be `good`: one, where nothing disturbs it, and
    `most` at most. One that was disturbed does not decide, and no more than half of them can be."""
    measured = [measure()]
    while not good(statistics.median(measured)) and len(measured) + 2 <= most:
        measured += [measure(), measure()]
    return statistics.median(measured)
