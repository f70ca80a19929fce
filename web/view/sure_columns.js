// SPDX-License-Identifier: Apache-2.0
/* The columns of a table that say how sure its totals are. */
import { halfOf } from "#analysis/counted";
import { estimateTexts, figureText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Counted} Counted */
/** @typedef {import("../types.js").Weights["unit"]} Unit */
/** @typedef {{ total: number, samples: number }} Row */

/**
 * The total of a row, with the digits of its interval.
 *
 * @param {Row} row
 * @param {Unit} unit
 * @param {Counted | null} counted
 */
export function totalText(row, unit, counted) {
    const half = halfOf(counted, row.total, row.samples), isScaled = unit === "ns" || unit === "bytes";

    return isScaled ? estimateTexts(row.total, half, unit).amount : figureText(row.total, unit);
}

/**
 * The interval of the total, if it is an estimate, and its number of samples, unless the total is
 * that number.
 *
 * @param {Unit} unit
 * @param {() => Counted | null} counted of the rows that are shown
 * @returns {import("./table.js").Column<Row>[]}
 */
export function sureColumns(unit, counted) {
    const half = (/** @type {Row} */ row) => halfOf(counted(), row.total, row.samples);
    /** @type {import("./table.js").Column<Row>[]} */
    const columns = [];

    if (counted())
        columns.push({ title: "\u00b1", hint: "of total: half of its 95 % interval, at least",
            width: "92px", number: true, order: (row) => half(row) || 0,
            cell: (row) => estimateTexts(row.total, half(row), unit).half });
    if (unit !== "samples")
        columns.push({ title: "samples", hint: "in total", width: "70px", number: true,
            order: (row) => row.samples, cell: (row) => numberText(row.samples) });
    return columns;
}
