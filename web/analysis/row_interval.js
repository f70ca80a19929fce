// SPDX-License-Identifier: Apache-2.0
/*
 * How sure the value of a row of a table, or of a node of the graph, is. The rule and its reasons
 * are in src/profile/row_interval.h: each function here computes what the one of that name does.
 */
import { poissonHalf, SURE } from "#analysis/counted";
import { remember } from "#analysis/memo";
import { samplesOfPart } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").EventSummary} EventSummary */

const SAMPLES_MIN = 5, WINDOWS_MIN = 3;

/** The sums of rows (struct row_sum), by row. */
class RowSums {
    /** @param {number} count of rows */
    constructor(count) {
        const column = () => new Float64Array(count);

        this.count = count;
        this.samples = column(); /* a hit with several samples counts once */
        this.value = column();
        this.sampled = column();
        this.chance = column();
        this.squares = column();
        this.withWhole = column();
        this.hit = new Int32Array(count).fill(-1);
        this.ofHit = column();
        this.window = new Int32Array(count).fill(-1);
        this.open = column();
    }

    /**
     * @param {number} row
     * @param {number} weight
     * @param {number} sampled the part of the weight that stands for other hits
     * @param {number} hit
     */
    add(row, weight, sampled, hit) {
        this.value[row] += weight;
        this.sampled[row] += sampled;
        this.open[row] += sampled;
        this.chance[row] += sampled * sampled;
        if (this.hit[row] !== hit) {
            this.hit[row] = hit;
            this.ofHit[row] = 0;
            this.samples[row]++;
        }
        this.chance[row] += 2 * this.ofHit[row] * sampled;
        this.ofHit[row] += sampled;
    }

    /**
     * Close the last window of a row, and begin another.
     *
     * @param {number} row
     * @param {number} window -1: there is no other
     * @param {Float64Array} windows the sums of the whole
     */
    move(row, window, windows) {
        const open = this.open[row];

        this.squares[row] += open * open;
        this.withWhole[row] += open && open * windows[this.window[row]];
        this.window[row] = window;
        this.open[row] = 0;
    }
}

/**
 * By sample, the first sample of its hit.
 *
 * @param {Recording} recording
 */
function hitsOf(recording) {
    return remember(recording, "hits", "", () => {
        const { count, parts: { first, second } } = recording.samples;
        const hits = Uint32Array.from({ length: count }, (_, i) => i);

        for (let i = 0; i < second.length; i++)
            hits[second[i]] = hits[first[i]];
        return hits;
    });
}

/**
 * By window, the sum of the samples that stand for others.
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
function sumWindows({ samples: { window, exact } }, { of }, samples) {
    const last = samples.length ? window[samples[samples.length - 1]] : 0;
    const sums = new Float64Array(last + 1);

    for (let i = 0; i < samples.length; i++)
        sums[window[samples[i]]] += exact[samples[i]] ? 0 : of[samples[i]];
    return sums;
}

/** The intervals of the rows of some samples. */
export class RowIntervals {
    /**
     * @param {Recording} recording
     * @param {Weights} weights a value of an event with a summary
     * @param {Uint32Array} samples all that are selected, which make the whole
     * @param {EventSummary} summary of the event
     * @param {boolean} isSelected samples were left out: the total is not the event's
     */
    constructor(recording, weights, samples, summary, isSelected) {
        this.samples = recording.samples;
        this.hits = hitsOf(recording);
        this.weights = weights;
        this.windows = sumWindows(recording, weights, samples);
        this.active = this.windows.reduce((count, sum) => count + (sum > 0 ? 1 : 0), 0);
        this.whole = this.sumUp(1, samples, (_, add) => add(0));
        this.summary = summary;
        this.cover = coverOf(recording, weights, summary, this.whole, isSelected);
    }

    /**
     * @param {number} count
     * @param {Uint32Array} samples
     * @param {(sample: number, add: (row: number) => void) => void} eachRow
     */
    sumUp(count, samples, eachRow) {
        const { samples: { window, exact }, hits, windows, weights: { of } } = this;
        const sums = new RowSums(count);
        let sample = 0;
        const add = (/** @type {number} */ row) => {
            if (sums.window[row] !== window[sample])
                sums.move(row, window[sample], windows);
            sums.add(row, of[sample], exact[sample] ? 0 : of[sample], hits[sample]);
        };

        for (let i = 0; i < samples.length; i++) {
            sample = samples[i];
            if (of[sample])
                eachRow(sample, add);
        }
        for (let row = 0; row < count; row++)
            sums.move(row, -1, windows);
        return sums;
    }

    /**
     * Half of the 95 % interval by row: 0 if the value is exact or has no samples, NaN if it is
     * unknown.
     *
     * @param {number} count of rows
     * @param {Uint32Array} samples of the rows, in order of time
     * @param {(sample: number, add: (row: number) => void) => void} eachRow passes each row that a
     *     sample is of to `add`, once
     * @param {boolean} [ofShares] times the total, without its error
     */
    halves(count, samples, eachRow, ofShares = false) {
        const sums = this.sumUp(count, samples, eachRow);
        const cover = ofShares ? { ...this.cover, half: 0 } : this.cover;

        return Float64Array.from({ length: count }, (_, row) => this.half(sums, row, cover));
    }

    /**
     * @param {RowSums} sums
     * @param {number} row
     * @param {Cover} cover
     */
    half(sums, row, cover) {
        const { active } = this, sampled = sums.sampled[row];

        if (!sums.samples[row])
            return 0;
        if (sampled <= 0)
            return this.halfOfUnseen(sums.value[row], cover);
        if (cover.hasWindows && active < WINDOWS_MIN)
            return NaN;
        const variance = this.variance(sums, row), count = sampled * sampled / variance;
        let own = variance > 0 ? sampled * poissonHalf(count) / count : 0;

        if (cover.hasWindows)
            own = Math.max(own, confidenceErrors(active) * Math.sqrt(variance));
        const total = cover.isSelected ? 0 : cover.half * sampled / this.whole.sampled[0];

        return Math.max(Math.hypot(own, total), cover.least);
    }

    /** How many hits a sample stands for; 0: unknown (set_cover() of src/output/changes/changes.c). */
    get represents() {
        const { cover: { isSelected, unsampled }, summary: { hits, coveredNs, spanNs } } = this;
        const seen = !hits ? coveredNs / spanNs : isSelected ? 0 : 1 - unsampled;

        return seen > 0 ? 1 / seen : 0;
    }

    /** @param {number} value @param {Cover} cover */
    halfOfUnseen(value, cover) {
        const { whole: { value: [sum], sampled: [sampled], chance: [chance] } } = this;

        if (!cover.hasWindows || cover.unseen <= 0)
            return 0;
        if (sampled <= 0 && cover.isSelected)
            return NaN; /* the selection's part of the event's error is not known */
        if (sampled <= 0)
            return sum ? cover.half * value / sum : 0;
        return poissonHalf(0) * chance / sampled;
    }

    /**
     * @param {RowSums} sums
     * @param {number} row
     */
    variance(sums, row) {
        const { cover, active, whole } = this, share = sums.sampled[row] / whole.sampled[0];
        let chance = sums.chance[row], windows = sums.squares[row];

        if (!cover.isSelected) {
            windows += share * (share * whole.squares[0] - 2 * sums.withWhole[row]);
            chance += share * (share * whole.chance[0] - 2 * sums.chance[row]);
        } else if (cover.windows > 0)
            windows -= sums.sampled[row] ** 2 / cover.windows;
        windows = cover.hasWindows ? Math.max(windows, 0) * cover.unseen * active / (active - 1) : 0;
        return Math.max(windows, Math.max(chance, 0) * cover.unsampled);
    }
}

/**
 * @typedef {object} Cover struct row_cover
 * @property {boolean} isSelected
 * @property {boolean} hasWindows
 * @property {number} unseen
 * @property {number} unsampled
 * @property {number} half
 * @property {number} least
 * @property {number} windows
 */

/** @param {number} share */
const between0And1 = (share) => Math.min(Math.max(share, 0), 1);

/**
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {EventSummary} summary
 * @param {RowSums} whole
 * @param {boolean} isSelected
 * @returns {Cover}
 */
function coverOf({ events, header }, { event, value }, summary, whole, isSelected) {
    const { name } = events[event], { spanNs, coveredNs, windows, hits, errors } = summary;
    const half = errors[value] === null ? NaN : SURE * errors[value], share = coveredNs / spanNs;
    const { value: [sum], sampled: [sampled], chance: [chance], samples: [seen] } = whole;

    if (name === "wall")
        return { isSelected, half, hasWindows: true, unseen: 1, unsampled: 1 - between0And1(share),
            least: sampled > 0 ? poissonHalf(0) * chance / sampled : 0,
            windows: spanNs / header.rowWindowNs };
    const exact = sum ? 1 - sampled / sum : 0, hasWindows = windows > 0;
    const covered = between0And1(exact < 1 ? (share - exact) / (1 - exact) : share);
    const chosen = hits ? Math.min(seen / hits, 1) : 1;

    return { isSelected, half, hasWindows, unseen: hasWindows ? 1 - covered : 0,
        unsampled: hasWindows ? 1 - covered * chosen : 1, least: 0, windows: 0 };
}

/**
 * The number of standard errors on each side of a 95 % interval, if the standard error is estimated
 * from `n` windows (src/util/confidence.c).
 *
 * @param {number} n
 */
function confidenceErrors(n) {
    const z = SURE, freedom = 2 * (n - 1) ** 2 / (3 * n - 4);

    return z + (z ** 3 + z) / (4 * freedom)
        + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
        + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3);
}

/**
 * The intervals of rows of the samples of an event; null: they have none, or it is not known how
 * the event was seen (rows_cover_by() of src/output/rows.c).
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples all that are selected
 * @param {number} part of the recording that they are of; -1: of several, whose total is not known
 * @returns {RowIntervals | null}
 */
export function rowIntervals(recording, weights, samples, part) {
    const { events, header, samples: { event: of } } = recording, { event, value } = weights;
    const { name = "", summaries = [] } = events[event] ?? {}, summary = summaries[part];

    if (!summary?.spanNs || value < 0 || name === "cpu")
        return null;
    const all = remember(recording, "count of event", JSON.stringify([event, part]), () =>
        of.subarray(...samplesOfPart(recording, part))
            .reduce((sum, id) => sum + (id === event ? 1 : 0), 0));
    let selected = 0;

    for (let i = 0; i < samples.length; i++)
        selected += of[samples[i]] === event ? 1 : 0;
    return new RowIntervals(recording, weights, samples, summary,
        selected < all || header.parts[part].totals.leftOut > 0);
}

/**
 * True if a row may be there by chance (row_interval_is_chance()).
 *
 * @param {{ total: number, half: number, samples: number }} row
 */
export function isChance({ total, half, samples }) {
    return half !== 0 && (half >= Math.abs(total) || (Number.isNaN(half) && samples < SAMPLES_MIN));
}
