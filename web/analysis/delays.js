// SPDX-License-Identifier: Apache-2.0
/*
 * Who ran while processes were in run queues. A sample of event sched is taken when its process runs
 * again, and has the time that it was in the run queue until then: in that time, the CPU samples of
 * the same scheduler show what the process had to wait for.
 */
import { processName } from "#analysis/process_names";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Range} Range */
/** @typedef {import("../types").Delays} Delays */

/**
 * Only samples whose delay is known exactly count: the others also stand for hits without a sample.
 *
 * @param {Recording} recording
 * @param {number[]} processes Processes.same
 * @param {Range | null} range null: the whole time
 * @returns {Delays | null} null: none of them was in a run queue, as far as is known
 */
export function delaysOf(recording, processes, range) {
    const waiting = new Set(processes), times = waitsOf(recording, waiting, range);

    return times.length ? { ns: sumOf(times) * 1e6, count: times.length,
        ...whoRan(recording, waiting, mergeTimes(times)) } : null;
}

/** @typedef {{ thread: number, from: number, to: number }} Time in ms */

/** @param {Time[]} times */
const sumOf = (times) => times.reduce((sum, { from, to }) => sum + to - from, 0);

/**
 * The times in which the processes were in run queues. Where the begin of a delay was not seen, the
 * delay is estimated: it did not begin before the time in which the event could be seen.
 *
 * @param {Recording} recording
 * @param {Set<number>} wanted
 * @param {Range | null} range
 * @returns {Time[]}
 */
function waitsOf({ events, processes, samples, spans }, wanted, range) {
    const id = events.findIndex(({ name }) => name === "sched");
    const value = id > 0 ? events[id].values.findIndex(({ name }) => name === "delay") : -1;
    const delays = value >= 0 ? samples.value(value) : new Float64Array(0), seen = spans[id];
    /** @type {Time[]} */
    const times = [];

    for (let i = 0, span = 0; i < delays.length; i++) {
        const to = samples.time[i];

        if (samples.event[i] !== id || !samples.exact[i] || !delays[i] || !samples.thread[i]
            || !wanted.has(processes.same[samples.process[i]])
            || (range && (to < range.from || to >= range.to)))
            continue;
        while (seen && span + 2 < seen.length && seen[span + 2] <= to)
            span += 2;
        times.push({ thread: samples.thread[i],
            from: Math.max(to - delays[i] / 1e6, seen?.[span] ?? 0), to });
    }
    return times.filter(({ from, to }) => from < to);
}

/**
 * By thread, times in order and without overlap: two processes can wait for one scheduler.
 *
 * @param {Time[]} times
 */
function mergeTimes(times) {
    /** @type {Map<number, Time[]>} */
    const merged = new Map();

    for (const time of times.slice().sort((a, b) => a.from - b.from)) {
        const list = merged.get(time.thread) ?? [], last = list[list.length - 1];

        if (last && time.from <= last.to)
            last.to = Math.max(last.to, time.to);
        else
            list.push({ ...time });
        merged.set(time.thread, list);
    }
    return merged;
}

/**
 * The CPU time that these threads used in these times, and the processes that used it, the largest
 * first. The rest has no process: it is the scheduler's own work.
 *
 * @param {Recording} recording
 * @param {Set<number>} waiting
 * @param {Map<number, Time[]>} times
 * @returns {Pick<Delays, "ran" | "cpuNs">}
 */
function whoRan(recording, waiting, times) {
    const { events, processes, samples } = recording, cpu = samples.value(0);
    const id = events.findIndex(({ name }) => name === "cpu");
    /** @type {Map<number, number>} */
    const sums = new Map();
    let cpuNs = 0;

    for (let i = 0; id > 0 && i < samples.count; i++) {
        const list = samples.event[i] === id ? times.get(samples.thread[i]) : undefined;
        const process = processes.same[samples.process[i]];

        if (list && !waiting.has(process) && isIn(list, samples.time[i])) {
            sums.set(process, (sums.get(process) ?? 0) + cpu[i]);
            cpuNs += cpu[i];
        }
    }
    sums.delete(0);
    return { cpuNs: id > 0 ? cpuNs : null,
        ran: [...sums].sort((a, b) => b[1] - a[1]).map(([process, ns]) =>
            ({ process, ns, ...processName(recording, process) })) };
}

/**
 * @param {Time[]} list in order, without overlap
 * @param {number} time
 */
function isIn(list, time) {
    let low = 0, high = list.length; /* list[low - 1].from <= time */

    while (low < high) {
        const middle = (low + high) >> 1;

        if (list[middle].from <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time < list[low - 1].to;
}
