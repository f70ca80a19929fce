// SPDX-License-Identifier: Apache-2.0
/*
 * How sure a sum is, of an event whose probes were attached in windows, or of sweeps over processes
 * (src/profile/event_summary.h). Half of a 95 % interval is NaN if it is unknown.
 */

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Counted} Counted */

/* The two-sided quantile of 95 % of a normal distribution. */
export const SURE = 1.96;

/**
 * The total of the event by a weight, from all of its hits in a part of the recording. null if the
 * weight is no value of the event, or if nothing was scaled up from windows.
 *
 * @param {Pick<Recording, "events">} recording
 * @param {Pick<Weights, "event" | "value">} weights
 * @param {number} part -1: of several, which is not known
 * @returns {Counted | null}
 */
export function countedOf({ events }, { event, value }, part) {
    const { name = "", summaries = [] } = events[event] ?? {}, summary = summaries[part];

    if (!summary || value < 0 || !summary.windows)
        return null;
    const { sums, errors, coveredNs, spanNs, windows, hits } = summary, error = errors[value];

    return { event: name, sum: sums[value], half: error === null ? NaN : SURE * error,
        share: coveredNs / spanNs, windows, hits, unseen: unseenAtMost(summary) };
}

/**
 * How many hits of a kind windows may have missed that saw none
 * (src/profile/event_summary.h). 0: they covered all of the time; infinite: they covered nothing.
 *
 * @param {{ coveredNs: number, spanNs: number }} summary
 */
const unseenAtMost = ({ coveredNs, spanNs }) =>
    (coveredNs < spanNs ? Math.ceil(3 * spanNs / coveredNs) : 0);

/** True if the total says something: its interval is known, and not wider than the total itself.
 * @param {Counted} counted */
export const isSure = ({ sum, half }) => half <= sum;

/**
 * The mean of a count may be so far above the count that was seen, in 95 of 100 cases: the exact
 * upper limit (Garwood, Biometrika 28, 1936) by the approximation of Wilson and Hilferty.
 *
 * @param {number} count
 */
export function poissonHalf(count) {
    const next = count + 1;

    return next * (1 - 1 / (9 * next) + SURE / (3 * Math.sqrt(next))) ** 3 - count;
}
