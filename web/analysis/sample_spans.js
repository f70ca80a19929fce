// SPDX-License-Identifier: Apache-2.0
/*
 * The times that samples of one process or scheduler stand for, up to the moments at which they were
 * taken: a tick of event cpu for the CPU time since the last one, a sample of event sched for the time
 * off schedulers, of event gc for the collection.
 */

/** @typedef {import("../types").Recording} Recording */
/** @typedef {{ sample: number, from: number, to: number }} Span ms on the axis */

/* Times of samples are whole ms: times that are so close follow each other. */
const CLOSE = 1.5; /* ms */

/**
 * The spans, in order of time, without overlap. Of a process, events cpu and sched show together what it ran and
 * when it waited.
 *
 * @param {Recording} recording
 * @param {number} event
 * @param {{ process: number, thread: number }} subject one of both is 0
 * @param {Uint32Array} samples
 * @param {number} start ms; no time begins before it
 * @returns {Span[]}
 */
export function spansOfSamples(recording, event, { process, thread }, samples, start) {
    const { events, processes, samples: all } = recording;
    const ids = eventsShown(recording, event, process), nsOf = events.map((_, id) => ids.includes(id)
        ? durations(recording, id) : null);
    const later = laterParts(recording, nsOf);
    /** @type {Span[]} */
    const spans = [];

    for (const sample of samples) {
        const ns = nsOf[all.event[sample]];

        if (!ns || !ns[sample] || (process ? processes.same[all.process[sample]] !== process
            : all.thread[sample] !== thread))
            continue;
        const to = all.time[sample] - (later.get(sample) ?? 0) / 1e6;

        spans.push({ sample, from: Math.max(to - ns[sample] / 1e6,
            windowStart(recording, all.event[sample], to)), to });
    }
    return apart(spans.sort((a, b) => a.to - b.to || a.sample - b.sample), start);
}

/**
 * @param {Recording} recording
 * @param {number} event
 * @param {number} process 0: a scheduler, which does not wait
 */
function eventsShown({ events }, event, process) {
    const both = ["cpu", "sched"];

    if (!both.includes(events[event]?.name))
        return [event];
    return events.flatMap(({ name }, id) =>
        (process ? both : ["cpu"]).includes(name) ? [id] : []);
}

/**
 * The time by sample of an event: its first value that is one; null: it has none.
 *
 * @param {Recording} recording
 * @param {number} event
 */
function durations({ events, samples }, event) {
    const value = events[event]?.values.findIndex(({ unit }) => unit === "ns") ?? -1;

    return value < 0 ? null : samples.value(value);
}

/**
 * By sample, the time of the later part of its hit: waiting comes before the run queue.
 *
 * @param {Recording} recording
 * @param {(Float64Array | null)[]} nsOf by event
 */
function laterParts({ samples: { event, parts: { first, second } } }, nsOf) {
    /** @type {Map<number, number>} */
    const later = new Map();

    first.forEach((sample, i) => later.set(sample, nsOf[event[sample]]?.[second[i]] ?? 0));
    return later;
}

/**
 * The start of the time in which an event could be seen: a sample of a window stands for other times
 * too, and its own time began in its window.
 *
 * @param {Recording} recording
 * @param {number} event
 * @param {number} time ms
 */
function windowStart({ spans }, event, time) {
    const seen = spans[event] ?? [];
    let low = 0, high = seen.length / 2; /* the first window that begins after `time` */

    while (low < high) {
        const middle = (low + high) >> 1;

        if (seen[2 * middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? seen[2 * low - 2] : -Infinity;
}

/**
 * Move the ends of spans so that none overlaps the one before. A span within that has no length.
 *
 * @param {Span[]} spans in the order of their ends
 * @param {number} start
 */
function apart(spans, start) {
    let end = start;

    for (const span of spans) {
        if (span.from < end + CLOSE)
            span.from = end;
        end = span.to = Math.max(span.from, span.to);
    }
    return spans;
}
