// SPDX-License-Identifier: Apache-2.0
/* The rows of the table of processes, from the samples of all events. */
import { processName } from "#analysis/process_names";
import { findShared } from "#analysis/sums";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").ProcessRow} ProcessRow */
/** @typedef {import("#analysis/row_interval").RowIntervals} RowIntervals */

const SPARK_POINTS = 48;

/**
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples of all events
 * @param {RowIntervals | null} intervals
 * @returns {ProcessRow[]}
 */
export function processRows(recording, weights, samples, intervals) {
    const { rowOf, ids } = findProcesses(recording, samples), count = ids.length;
    const counted = countWeights(recording, weights, samples, rowOf, count);
    const { process: of } = recording.samples;
    const halves = intervals?.halves(count, samples, (sample, add) =>
        (rowOf[of[sample]] ? add(rowOf[of[sample]] - 1) : undefined));
    const cpuNs = sumCpu(recording, samples, rowOf, count);
    const shares = statusShares(recording, samples, rowOf, count);
    const states = recording.header.statuses.length;
    const reductions = metricBounds(recording, samples, rowOf, count, "reductions");
    const msgq = metricBounds(recording, samples, rowOf, count, "msgq").last;
    const memory = metricBounds(recording, samples, rowOf, count, "memory");
    const binaries = metricBounds(recording, samples, rowOf, count, "binaries");

    return Array.from(ids, (process, row) => ({
        process, ...processName(recording, process),
        total: counted.total[row], half: halves?.[row] ?? 0, samples: counted.samples[row], cpuNs: cpuNs[row],
        reductions: reductions.last[row] - reductions.first[row],
        msgq: msgq[row], memory: memory.last[row],
        growth: memory.last[row] - memory.first[row]
            + (binaries.last[row] - binaries.first[row] || 0),
        statuses: shares.subarray(row * states, (row + 1) * states),
        spark: counted.spark.subarray(row * SPARK_POINTS, (row + 1) * SPARK_POINTS),
    }));
}

/**
 * Give each process of the samples a row, in the order of first samples. `rowOf` has row + 1 by
 * entry of Processes, 0 for no row; `ids` has Processes.same by row.
 *
 * @param {Recording} recording
 * @param {Uint32Array} samples
 */
function findProcesses({ processes, samples: { process } }, samples) {
    const known = new Uint32Array(processes.same.length), ids = new Uint32Array(known.length);
    let count = 0;

    for (let i = 0; i < samples.length; i++) {
        const same = processes.same[process[samples[i]]];

        if (same && !known[same]) {
            ids[count] = same;
            known[same] = ++count;
        }
    }
    return { rowOf: processes.same.map((same) => known[same]), ids: ids.slice(0, count) };
}

/**
 * Both parts of a hit are of one process.
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @param {Uint32Array} rowOf
 * @param {number} count
 */
function countWeights(recording, weights, samples, rowOf, count) {
    const { process, time } = recording.samples, shared = findShared(process, recording, weights, samples);
    const total = new Float64Array(count), counts = new Float64Array(count);
    const spark = new Float32Array(count * SPARK_POINTS);
    const from = time[samples[0]], span = time[samples[samples.length - 1]] + 1 - from;

    for (let i = 0; i < samples.length; i++) {
        const row = rowOf[process[samples[i]]] - 1, weight = weights.of[samples[i]];

        if (row < 0 || !weight)
            continue;
        total[row] += weight;
        counts[row]++;
        spark[row * SPARK_POINTS +
            Math.floor((time[samples[i]] - from) / span * SPARK_POINTS)] += weight;
    }
    shared.hits.forEach((hits, i) => counts[rowOf[shared.a[i]] - 1] -= hits);
    return { total, samples: counts, spark };
}

/**
 * @param {Recording} recording
 * @param {Uint32Array} samples
 * @param {Uint32Array} rowOf
 * @param {number} count
 */
function sumCpu({ events, samples: { process, event, value } }, samples, rowOf, count) {
    const cpu = events.findIndex(({ name }) => name === "cpu"), times = value(0);
    const sum = new Float64Array(count);

    for (let i = 0; i < samples.length; i++) {
        const row = rowOf[process[samples[i]]] - 1;

        if (row >= 0 && event[samples[i]] === cpu)
            sum[row] += times[samples[i]];
    }
    return sum;
}

/**
 * Shares by status, row by row. With event wall they are shares of time: it samples processes in
 * each status. Without it they are shares of the number of samples.
 *
 * @param {Recording} recording
 * @param {Uint32Array} samples
 * @param {Uint32Array} rowOf
 * @param {number} count
 */
function statusShares({ header, events, samples: all }, samples, rowOf, count) {
    const wall = events.findIndex(({ name }) => name === "wall"), states = header.statuses.length;
    const shares = new Float64Array(count * states), sums = new Float64Array(count);
    const times = wall > 0 ? all.value(0) : null;

    for (let i = 0; i < samples.length; i++) {
        const sample = samples[i], row = rowOf[all.process[sample]] - 1;
        const part = !times ? 1 : all.event[sample] === wall ? times[sample] : 0;

        if (row >= 0) {
            shares[row * states + all.status[sample]] += part;
            sums[row] += part;
        }
    }
    for (let row = 0; row < count; row++)
        for (let status = 0; sums[row] && status < states; status++)
            shares[row * states + status] /= sums[row];
    return shares;
}

/**
 * By row, the first and the last known value of a metric; NaN: none.
 *
 * @param {Recording} recording
 * @param {Uint32Array} samples
 * @param {Uint32Array} rowOf
 * @param {number} count
 * @param {string} name
 */
function metricBounds({ header, samples: all }, samples, rowOf, count, name) {
    const values = all.metric(header.metrics.findIndex((metric) => metric.name === name));
    const first = new Float64Array(count).fill(NaN), last = new Float64Array(count).fill(NaN);

    for (let i = 0; i < samples.length; i++) {
        const row = rowOf[all.process[samples[i]]] - 1, value = values[samples[i]];

        if (row < 0 || Number.isNaN(value))
            continue;
        if (Number.isNaN(first[row]))
            first[row] = value;
        last[row] = value;
    }
    return { first, last };
}
