// SPDX-License-Identifier: Apache-2.0
/* Times of a recording as text. Of two recordings that are compared, each has its own clock. */
import { ownTime } from "#analysis/time_axis";
import { clockText } from "#view/number_text";

/** @typedef {import("../types.js").Header} Header */
/** @typedef {import("../types.js").Range} Range */

/**
 * "3.20 s".
 *
 * @param {Pick<Header, "parts" | "compares">} header
 * @param {number} ms on the axis
 */
export const timeText = (header, ms) => clockText(ownTime(header, ms));

/**
 * "3.20 s to 5.00 s (1.80 s)".
 *
 * @param {Pick<Header, "parts" | "compares">} header
 * @param {Range} range
 */
export function rangeText(header, { from, to }) {
    const length = to - from, start = ownTime(header, from);

    return `${clockText(start)} to ${clockText(start + length)} (${(length / 1000).toFixed(2)} s)`;
}
