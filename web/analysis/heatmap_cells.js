// SPDX-License-Identifier: Apache-2.0
/* The heatmap of FlameScope: a column is a second; the offset within the second grows upwards. */
import { coveredCells } from "#analysis/coverage";
import { matchSamples } from "#analysis/selection";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Cells} Cells */
/** @typedef {import("../types").Pattern} Pattern */

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights of the choice
 * @param {Uint32Array} samples
 * @param {number} cellMs a divisor of 1000
 * @returns {Cells}
 */
export function heatmapCells(recording, choice, weights, samples, cellMs) {
    const { header: { parts }, samples: { time } } = recording;
    const start = Math.floor(Math.min(...parts.map(({ from }) => from)) / 1000) * 1000;
    const end = Math.max(...parts.map(({ to }) => to), (time[time.length - 1] ?? 0) + 1);
    const columns = Math.ceil((end - start) / 1000), rows = 1000 / cellMs;
    const of = new Float64Array(columns * rows).fill(NaN);

    for (const { from, to } of parts)
        of.fill(0, Math.floor((from - start) / cellMs), Math.ceil((to - start) / cellMs));
    addWeights(of, recording, weights, samples, start, cellMs);
    const covered = coveredCells(recording, choice, { cellMs, rows, columns, start, of });

    return { cellMs, rows, columns, start, of, covered, ...bounds(of) };
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

/** @param {Float64Array} of */
function bounds(of) {
    let least = 0, greatest = 0;

    for (let cell = 0; cell < of.length; cell++) {
        if (of[cell] < least)
            least = of[cell];
        else if (of[cell] > greatest)
            greatest = of[cell];
    }
    return { least, greatest };
}

/**
 * By cell, 1 if a sample with a weight has a matching frame.
 *
 * @param {Recording} recording
 * @param {Cells} cells
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Uint32Array} samples
 * @param {Pattern} pattern
 */
export function markCells(recording, cells, weights, roots, samples, { test }) {
    const matches = matchSamples(recording, roots, test), { time } = recording.samples;
    const marks = new Uint8Array(cells.of.length);

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i];

        if (weights.of[sample] && matches(sample))
            marks[Math.floor((time[sample] - cells.start) / cells.cellMs)] = 1;
    }
    return marks;
}
