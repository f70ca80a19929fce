// SPDX-License-Identifier: Apache-2.0
/* The rows of the table of traces, and how much of the weight is in traces. */
import { PairTable } from "#analysis/pair_table";
import { processName } from "#analysis/process_names";
import { findShared } from "#analysis/sums";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").TraceRow} TraceRow */
/** @typedef {import("../types").TraceRows} TraceRows */
/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */

const SPARK_POINTS = 48;

/**
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @param {RowIntervals | null} intervals
 * @returns {TraceRows}
 */
export function traceRows(recording, weights, samples, intervals) {
    const sums = sumTraces(recording, weights, samples), { ids, of } = recording.traces;
    const halves = intervals?.halves(ids.length + 1, samples, (sample, add) => add(of[sample]));
    const processes = processesOf(recording, weights, samples);
    /** @type {TraceRow[]} */
    const rows = [];

    for (let trace = 1; trace < ids.length; trace++)
        if (sums.samples[trace])
            rows.push({ trace: ids[trace], ...processes(trace),
                total: sums.total[trace], half: halves?.[trace] ?? 0, samples: sums.samples[trace],
                spark: sums.spark.subarray(trace * SPARK_POINTS, (trace + 1) * SPARK_POINTS) });
    return { rows, without: sums.total[0], notListed: sums.total[ids.length] };
}

/**
 * Sums by trace: [0] is without one, the last one is of the traces that are not listed. A hit with
 * several samples counts once.
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
function sumTraces(recording, weights, samples) {
    const { ids: { length }, of } = recording.traces;
    const total = new Float64Array(length + 1), counts = new Float64Array(length + 1);
    const spark = new Float32Array((length + 1) * SPARK_POINTS), { time } = recording.samples;
    const from = time[samples[0]], span = time[samples[samples.length - 1]] + 1 - from;
    const shared = findShared(of, recording, weights, samples);

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i], trace = of[sample], weight = weights.of[sample];

        if (!weight)
            continue;
        total[trace] += weight;
        counts[trace]++;
        spark[trace * SPARK_POINTS
            + Math.floor((time[sample] - from) / span * SPARK_POINTS)] += weight;
    }
    shared.hits.forEach((hits, i) => {
        if (shared.a[i] === shared.b[i])
            counts[shared.a[i]] -= hits;
    });
    return { total, samples: counts, spark };
}

/**
 * A function that returns the process with most of a trace's weight, and the number of its others.
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {(trace: number) => Pick<TraceRow, "name" | "pid" | "node" | "others">}
 */
function processesOf(recording, weights, samples) {
    const { processes: { same }, samples: { process }, traces: { ids: { length }, of } } = recording;
    const pairs = new PairTable();
    const count = new Uint32Array(length + 1), most = new Uint32Array(length + 1);
    /** @type {number[]} */
    const sums = [];

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i], weight = Math.abs(weights.of[sample]);

        if (!weight || !of[sample] || !process[sample])
            continue;
        const pair = pairs.add(of[sample], same[process[sample]]);

        sums[pair] = (sums[pair] ?? 0) + weight;
    }
    sums.forEach((sum, pair) => {
        const trace = pairs.a[pair];

        if (!count[trace]++ || sum > sums[most[trace]])
            most[trace] = pair;
    });
    return (trace) => (count[trace]
        ? { ...processName(recording, pairs.b[most[trace]]), others: count[trace] - 1 }
        : { name: "", pid: "", node: "", others: 0 });
}
