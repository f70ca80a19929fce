// SPDX-License-Identifier: Apache-2.0
/* The columns of a table that say how sure its totals are. */
import { isChance } from "#analysis/row_interval";
import { element } from "#view/dom";
import { estimateTexts, figureText, numberText } from "#view/number_text";

/** @typedef {import("../types.js").Weights["unit"]} Unit */
/** @typedef {{ total: number, half: number, samples: number }} Row */

/**
 * The total of a row, with the digits of its interval; grey if chance may explain the row.
 *
 * @param {Row} row
 * @param {Unit} unit
 */
export function totalCell(row, unit) {
    const { total, half } = row, isScaled = unit === "ns" || unit === "bytes";
    const text = isScaled ? estimateTexts(total, half, unit).amount : figureText(total, unit);

    return isChance(row) ? element("span", { className: "faint", title: "may be chance" }, text) : text;
}

/**
 * The interval of the total, if rows have one.
 *
 * @param {Unit} unit
 * @param {boolean} hasHalf
 * @returns {import("./table.js").Column<Row>[]}
 */
export function halfColumns(unit, hasHalf) {
    return hasHalf ? [{ title: "\u00b1", hint: "of total: half of its 95 % interval",
        width: "96px", number: true, order: (row) => row.half || 0,
        cell: (row) => estimateTexts(row.total, row.half, unit).half }] : [];
}

/**
 * The number of samples of the total, unless the total is that number.
 *
 * @param {Unit} unit
 * @returns {import("./table.js").Column<Row>[]}
 */
export function samplesColumns(unit) {
    return unit === "samples" ? [] : [{ title: "samples", hint: "in total", width: "88px",
        number: true, order: (row) => row.samples, cell: (row) => numberText(row.samples) }];
}

/** Both. @param {Unit} unit @param {boolean} hasHalf */
export const sureColumns = (unit, hasHalf) =>
    [...halfColumns(unit, hasHalf), ...samplesColumns(unit)];
