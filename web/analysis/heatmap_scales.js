// SPDX-License-Identifier: Apache-2.0
/* The scales of the heatmap: a column is a second, a minute or an hour. Short recordings have one. */

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").View} View */
/** @typedef {import("../types").Scale} Scale */

/** The time of a column, ms. @type {Record<Scale, number>} */
export const COLUMN_MS = { second: 1000, minute: 60000, hour: 3600000 };

/* Longer recordings have columns of a minute, and of an hour, ms. */
const LONG_MS = 10 * 60000, VERY_LONG_MS = 2 * 3600000;
/* Columns that a large window has: a longer recording opens with longer columns. */
const COLUMNS = 360;
/* Bins of the overview: about as many as a large window has px. */
const BINS = 1500;

/** From the start of the axis to the end of the recording, ms. @param {Recording} recording */
const spanOf = ({ header: { parts } }) => Math.max(...parts.map(({ to }) => to))
    - Math.min(...parts.map(({ from }) => from));

/**
 * The scales that a recording has, the finest first.
 *
 * @param {Recording} recording
 * @returns {Scale[]}
 */
export function scalesOf(recording) {
    const span = spanOf(recording);

    return ["second", ...span > LONG_MS ? [/** @type {Scale} */ ("minute")] : [],
        ...span > VERY_LONG_MS ? [/** @type {Scale} */ ("hour")] : []];
}

/**
 * The scale of a view. "auto" is the finest in which a large window shows the whole recording.
 *
 * @param {Recording} recording
 * @param {Pick<View, "scale">} view
 * @returns {Scale}
 */
export function scaleOfView(recording, { scale }) {
    const scales = scalesOf(recording), span = spanOf(recording);

    if (scale !== "auto" && scales.includes(scale))
        return scale;
    if (scales.length === 1)
        return scales[0];
    return scales.find((one) => span <= COLUMNS * COLUMN_MS[one]) ?? scales[scales.length - 1];
}

/** The time of a bin of the overview, in whole seconds, ms. @param {Recording} recording */
export function overviewMs(recording) {
    return Math.max(1, Math.ceil(spanOf(recording) / BINS / 1000)) * 1000;
}
