// SPDX-License-Identifier: Apache-2.0
/*
 * Lanes: what the VMs did over time, for the whole recording, whatever is selected. There are only
 * lanes for which the recording has data.
 */
import { longestPauses } from "#analysis/pauses";
import { firstSince } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Lane} Lane */
/** @typedef {import("../types").LanePart} LanePart */
/** @typedef {{ binMs: number, start: number, count: number }} Bins */

const BIN_SIZES = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 300000]; /* ms */
const BINS = 1500; /* about, at most: a wide window shows no more */
const PERIODS = 10; /* least periods of the sampling clock in a bin of CPU time */
const QUEUE_MS = 500; /* least bin of queues: not each process has samples in each short time */

/* Scheduler kinds and activities (src/profile/profile.h). */
const NORMAL = 1, PROCESS = "process", BUSY_WAIT = "busy-wait";

/**
 * Make the lanes. Each step makes one, so that no step takes long; null: no data.
 *
 * @param {Recording} recording
 * @returns {Generator<Lane | null>}
 */
export function* makeLanes(recording) {
    yield schedulerLane(recording);
    yield memoryLane(recording);
    yield queueLane(recording);
    yield pauseLane(recording);
    yield longLane(recording);
}

/**
 * @param {Recording} recording
 * @param {number} leastMs
 * @returns {Bins}
 */
function binsOf({ header: { parts } }, leastMs) {
    const from = Math.min(...parts.map((part) => part.from));
    const span = Math.max(...parts.map(({ to }) => to)) - from;
    const binMs = BIN_SIZES.find((size) => size >= Math.max(leastMs, span / BINS))
        ?? BIN_SIZES[BIN_SIZES.length - 1];
    const start = Math.floor(from / binMs) * binMs;

    return { binMs, start, count: Math.max(1, Math.ceil((from + span - start) / binMs)) };
}

/**
 * @param {Recording} recording
 * @param {string} name
 */
const eventNamed = ({ events }, name) => events.findIndex((event, id) => id > 0 && event.name === name);

/**
 * A lane of these parts; null if all are empty. `most` is the value at its upper edge; 0: the highest.
 *
 * @param {Bins} bins
 * @param {Omit<Lane, "binMs" | "start" | "count" | "most">} lane
 * @param {number} [most]
 * @returns {Lane | null}
 */
function laneOf(bins, lane, most = 0) {
    const highest = lane.parts.reduce((high, { values }) =>
        values.reduce((a, b) => (b > a ? b : a), high), 0);

    return highest > 0 ? { ...bins, ...lane, most: most || highest } : null;
}

/**
 * The CPU time of normal schedulers, as a share of the time that all of them have.
 *
 * @param {Recording} recording
 */
function schedulerLane(recording) {
    const { header, samples, threads, targets } = recording, cpu = eventNamed(recording, "cpu");
    const frequency = Math.min(...header.parts.map((part) => part.frequency || Infinity));
    const bins = binsOf(recording, PERIODS * 1000 / frequency);
    const schedulers = targets.reduce((sum, target) => sum + target.schedulers, 0)
        / (header.compares ? header.parts.length : 1);
    const parts = ["processes", "garbage collection", "other work", "busy waiting"].map((name) =>
        ({ name, values: new Float64Array(bins.count) }));
    const collecting = header.statuses.indexOf("garbage_collecting");
    const ofActivity = header.activities.map((name) =>
        (name === PROCESS ? 0 : name === BUSY_WAIT ? 3 : 2));
    const unit = 1 / (bins.binMs * 1e6 * schedulers), times = samples.value(0);
    const sums = parts.map(({ values }) => values), { event, thread, activity, status } = samples;

    if (cpu < 0 || !schedulers)
        return null;
    for (let i = 0; i < samples.count; i++) {
        if (event[i] !== cpu || threads.kind[thread[i]] !== NORMAL)
            continue;
        const does = ofActivity[activity[i]];
        const part = !does && status[i] === collecting ? 1 : does;

        sums[part][Math.floor((samples.time[i] - bins.start) / bins.binMs)] += times[i] * unit;
    }
    return laneOf(bins, { name: "schedulers", form: "stacked", unit: "share", marks: [], parts }, 1);
}

/** The memory of the VMs, from their metrics. @param {Recording} recording */
function memoryLane(recording) {
    const { nodeMetrics } = recording, bins = binsOf(recording, 0);
    const name = ["rss", "carriers"].find((wanted) =>
        nodeMetrics.some((series) => series.name === wanted && !series.of)) ?? "";
    const values = new Float64Array(bins.count);

    for (const series of nodeMetrics)
        if (series.name === name && !series.of)
            addSeries(values, bins, series, recording.header.parts);
    return laneOf(bins, { name: "memory", form: "area", unit: "bytes", marks: [],
        parts: [{ name, values }] });
}

/**
 * Add the readings of a series, each from its time on, within the part that it is of.
 *
 * @param {Float64Array} values
 * @param {Bins} bins
 * @param {import("../types").NodeSeries} series
 * @param {Recording["header"]["parts"]} parts
 */
function addSeries(values, { binMs, start }, series, parts) {
    const part = parts.filter(({ from }) => from <= series.times[0]).pop() ?? parts[0];
    const last = Math.min(values.length, Math.ceil((part.to - start) / binMs));

    for (let bin = Math.floor((part.from - start) / binMs); bin < last; bin++) {
        const at = firstSince(series.times, start + (bin + 1) * binMs) - 1;

        values[bin] += series.values[Math.max(0, at)];
    }
}

/** The longest message queue among the samples. @param {Recording} recording */
function queueLane(recording) {
    const { header: { metrics }, samples } = recording, bins = binsOf(recording, QUEUE_MS);
    const index = metrics.findIndex(({ name }) => name === "msgq");

    return index < 0 ? null : laneOf(bins, { name: "longest queue", form: "area", unit: "messages",
        marks: [], parts: [highest(bins, samples.metric(index), samples)] });
}

/** The longest garbage collections. @param {Recording} recording */
function pauseLane(recording) {
    const bins = binsOf(recording, 0), values = new Float64Array(bins.count);
    const marks = longestPauses(recording, eventNamed(recording, "gc"), bins);

    for (const { time, value } of marks)
        values[Math.floor((time - bins.start) / bins.binMs)] = value;
    return laneOf(bins, { name: "longest GC pause", form: "marks", unit: "ns", marks,
        parts: [{ name: "", values }] });
}

/** Time in long schedules. @param {Recording} recording */
function longLane(recording) {
    const { events, samples } = recording, sched = eventNamed(recording, "sched");
    const bins = binsOf(recording, 0), values = new Float64Array(bins.count);
    const value = sched < 0 ? -1 : events[sched].values.findIndex(({ name }) => name === "long");
    const times = value < 0 ? values : samples.value(value);

    for (let i = 0; value >= 0 && i < samples.count; i++)
        if (samples.event[i] === sched)
            values[Math.floor((samples.time[i] - bins.start) / bins.binMs)] += times[i];
    return laneOf(bins, { name: "time in long schedules", form: "bars", unit: "ns", marks: [],
        parts: [{ name: "", values }] });
}

/**
 * The highest known value in each bin.
 *
 * @param {Bins} bins
 * @param {Float64Array} of by sample
 * @param {Recording["samples"]} samples
 * @returns {LanePart}
 */
function highest({ binMs, start, count }, of, samples) {
    const values = new Float64Array(count);

    for (let i = 0; i < samples.count; i++) {
        const bin = Math.floor((samples.time[i] - start) / binMs);

        if (of[i] > values[bin])
            values[bin] = of[i];
    }
    return { name: "", values };
}
