// SPDX-License-Identifier: Apache-2.0
/* The columns of a table that say how sure its totals are. */
import { estimateTexts, figureText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Weights["unit"]} Unit */
/** @typedef {{ total: number, half: number, samples: number }} Row */

/**
 * The total of a row, with the digits of its interval.
 *
 * @param {Row} row
 * @param {Unit} unit
 */
export function totalText({ total, half }, unit) {
    const isScaled = unit === "ns" || unit === "bytes";

    return isScaled ? estimateTexts(total, half, unit).amount : figureText(total, unit);
}

/**
 * The interval of the total, if rows have one, and its number of samples, unless the total is that
 * number.
 *
 * @param {Unit} unit
 * @param {boolean} hasHalf
 * @returns {import("./table.js").Column<Row>[]}
 */
export function sureColumns(unit, hasHalf) {
    /** @type {import("./table.js").Column<Row>[]} */
    const columns = [];

    if (hasHalf)
        columns.push({ title: "\u00b1", hint: "of total: half of its 95 % interval",
            width: "92px", number: true, order: (row) => row.half || 0,
            cell: (row) => estimateTexts(row.total, row.half, unit).half });
    if (unit !== "samples")
        columns.push({ title: "samples", hint: "in total", width: "70px", number: true,
            order: (row) => row.samples, cell: (row) => numberText(row.samples) });
    return columns;
}
