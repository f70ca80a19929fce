// SPDX-License-Identifier: Apache-2.0
/* The heatmap of FlameScope: a column is a second; the offset within the second grows upwards. Long
 * recordings have columns of a minute or an hour, too. */
import { coveredCells } from "#analysis/coverage";
import { COLUMN_MS } from "#analysis/heatmap_scales";
import { matchSamples } from "#analysis/selection";
import { foldTest, foldedWaiting } from "#analysis/waiting";
import { eventOf } from "#analysis/weights";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Cells} Cells */
/** @typedef {import("../types").Pattern} Pattern */
/** @typedef {import("../types").Scale} Scale */

const CELL_SIZES = [20, 25, 40, 50, 100, 125, 200, 250, 500, 1000]; /* ms */

/* A cell that is a little shorter than the time between sweeps lacks one now and then. */
const NEARLY = 0.9;

/* The colours reach to the weight that this share of the cells does not exceed: a single heavier
 * cell would make all others look alike. */
const COLOURED = 0.99;

/**
 * The time of a cell, ms. In a column of a second, a cell of event wall is about as long as the time
 * between two sweeps.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Scale} [scale]
 */
export function cellMsOf(recording, choice, scale = "second") {
    return scale === "second" ? cellOfSecond(recording, choice) : COLUMN_MS[scale] / 60;
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 */
function cellOfSecond(recording, choice) {
    const id = eventOf(recording, choice), spans = recording.spans[id];
    const isSwept = spans && spans.length > 2 && recording.events[id].name === "wall";
    const period = isSwept ? medianPeriod(spans) : 0;

    return CELL_SIZES.find((size) => size >= NEARLY * period) ?? 1000;
}

/** The median time between the starts of spans, ms. @param {Float64Array} spans */
function medianPeriod(spans) {
    const periods = new Float64Array(spans.length / 2 - 1);

    for (let i = 0; i < periods.length; i++)
        periods[i] = spans[2 * i + 2] - spans[2 * i];
    return periods.sort()[periods.length >> 1];
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights of the choice
 * @param {Uint32Array} samples
 * @param {number} cellMs a divisor of columnMs
 * @param {number} [columnMs]
 * @returns {Cells}
 */
export function heatmapCells(recording, choice, weights, samples, cellMs, columnMs = 1000) {
    const { header: { parts }, samples: { time } } = recording;
    const start = Math.floor(Math.min(...parts.map(({ from }) => from)) / columnMs) * columnMs;
    const end = Math.max(...parts.map(({ to }) => to), (time[time.length - 1] ?? 0) + 1);
    const columns = Math.ceil((end - start) / columnMs), rows = columnMs / cellMs;
    const of = new Float64Array(columns * rows).fill(NaN);

    for (const { from, to } of parts)
        of.fill(0, Math.floor((from - start) / cellMs), Math.ceil((to - start) / cellMs));
    addWeights(of, recording, weights, samples, start, cellMs);
    const covered = coveredCells(recording, choice, { start, cellMs, of });

    return { cellMs, columnMs, rows, columns, start, of, covered, ...bounds(of) };
}

/**
 * @param {Float64Array} of
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @param {number} start
 * @param {number} cellMs
 */
function addWeights(of, { samples: { time } }, weights, samples, start, cellMs) {
    for (let i = 0; i < samples.length; i++) {
        const weight = weights.of[samples[i]];

        if (weight) {
            const cell = Math.floor((time[samples[i]] - start) / cellMs);

            of[cell] = (of[cell] || 0) + weight;
        }
    }
}

/** The weights at the ends of the colours. @param {Float64Array} of */
function bounds(of) {
    return { least: 0 - percentile(of.filter((weight) => weight < 0).map((weight) => -weight)),
        greatest: percentile(of.filter((weight) => weight > 0)) };
}

/**
 * The value that COLOURED of the values do not exceed; 0 of none.
 *
 * @param {Float64Array} values
 */
function percentile(values) {
    return values.length ? values.sort()[Math.ceil(values.length * COLOURED) - 1] : 0;
}

/**
 * By cell, 1 if a sample with a weight has a matching frame that is not folded.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Cells} cells
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Uint32Array} samples
 * @param {Pattern} pattern
 */
export function markCells(recording, choice, cells, weights, roots, samples, { test }) {
    const matches = matchSamples(recording, roots, test), { time } = recording.samples;
    const isFolded = foldTest(recording, foldedWaiting(recording, choice));
    const marks = new Uint8Array(cells.of.length);

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i];

        if (weights.of[sample] && !isFolded(sample) && matches(sample))
            marks[Math.floor((time[sample] - cells.start) / cells.cellMs)] = 1;
    }
    return marks;
}
