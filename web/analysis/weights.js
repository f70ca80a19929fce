// SPDX-License-Identifier: Apache-2.0
/* The weight of each sample (src/output/weight.c, src/output/changes/metric_changes.c). */
import { remember } from "#analysis/memo";
import { selectedStatuses } from "#analysis/idle";
import { samplesOfPart } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").RecordedEvent} RecordedEvent */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */

/**
 * The weights that samples of an event can have, with units, the default first. A metric
 * (`metric`) can also be weighed by its change.
 *
 * @param {Recording} recording
 * @param {string} event
 * @returns {{ name: string, unit: string, metric: boolean }[]}
 */
export function weightsOf(recording, event) {
    const values = recording.events[eventNamed(recording, event)]?.values ?? [];
    const isTime = event === "cpu" && values[0]?.unit === "ns";

    return [
        ...(isTime ? [{ name: "cpu", unit: "ns", metric: false },
            ...(recording.header.parts[0]?.frequency
                ? [{ name: "time", unit: "samples", metric: false }] : [])]
            : values.map(({ name, unit }) => ({ name, unit, metric: false }))),
        ...(values.some(({ name }) => name === "samples") ? []
            : [{ name: "samples", unit: "samples", metric: false }]),
        ...recording.header.metrics.map(({ name, unit }) => ({ name, unit, metric: true })),
    ];
}

/**
 * The id of an event, 0: there is none. "" is the first event.
 *
 * @param {Recording} recording
 * @param {string} name
 */
function eventNamed({ events }, name) {
    return name ? Math.max(events.findIndex((event, id) => id > 0 && event.name === name), 0)
        : Math.min(1, events.length - 1);
}

/** @param {string} weight */
export const isTimed = (weight) => weight === "cpu" || weight === "wall";

/**
 * @param {Recording} recording
 * @param {Choice} choice
 */
export function eventOf(recording, { event, weight }) {
    return eventNamed(recording, isTimed(weight) ? weight : event);
}

/**
 * The name of the event in effect, "" if there is none.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 */
export function nameOfEvent(recording, choice) {
    return recording.events[eventOf(recording, choice)]?.name ?? "";
}

/**
 * The weights of samples. Samples of other events have weight 0: they do not count.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @returns {Weights}
 */
export function weigh(recording, choice) {
    const key = JSON.stringify([choice.event, choice.weight, choice.change,
        choice.weight === "samples" ? choice.statuses : []]);

    return remember(recording, "weights", key, () => makeWeights(recording, choice));
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @returns {Weights}
 */
function makeWeights(recording, choice) {
    const id = eventOf(recording, choice), event = recording.events[id];
    const value = event ? event.values.findIndex(({ name }) => name === choice.weight) : -1;
    const metric = recording.header.metrics.findIndex(({ name }) => name === choice.weight);

    if (value < 0 && choice.weight === "samples")
        return { of: ones(recording, id, choice.statuses), unit: "samples", name: "samples", event: id, value: -1,
            unknown: 0 };
    if (value < 0 && metric >= 0)
        return metricWeights(recording, id, metric, choice.change);
    if (event?.name === "cpu" && choice.weight === "cpu")
        return { ...valueWeights(recording, id, 0, false), name: "cpu" };
    return valueWeights(recording, id, Math.max(value, 0), event?.name === "cpu");
}

/**
 * A hit with several samples counts in the first one whose status is selected.
 *
 * @param {Recording} recording
 * @param {number} id
 * @param {number[]} statuses [] is all
 */
function ones(recording, id, statuses) {
    const { samples, samples: { parts: { first, second } } } = recording;
    const selected = selectedStatuses(recording, statuses);
    const of = Float64Array.from(samples.event, (event) => (event === id ? 1 : 0));

    for (let i = 0; i < second.length; i++)
        if (!selected.length || selected.includes(samples.status[first[i]]))
            of[second[i]] = 0;
    return of;
}

/**
 * @param {Recording} recording
 * @param {number} id
 * @param {number} value
 * @param {boolean} perPeriod count periods of the sampling frequency, where that is known
 * @returns {Weights}
 */
function valueWeights(recording, id, value, perPeriod) {
    const { samples, events, header } = recording;
    const of = samples.value(value).slice(), { name, unit } = events[id]?.values[value] ??
        { name: "", unit: "count" };

    for (let i = 0; i < samples.count; i++)
        if (samples.event[i] !== id)
            of[i] = 0;
    if (!perPeriod)
        return { of, unit, name, event: id, value, unknown: 0 };
    header.parts.forEach((part, index) => {
        const [begin, end] = samplesOfPart(recording, index);

        if (part.frequency)
            countPeriods(of.subarray(begin, end), samples.event.subarray(begin, end), id,
                Math.floor(1e9 / part.frequency));
    });
    return { of, unit: header.parts[0]?.frequency ? "samples" : unit, name, event: id, value,
        unknown: 0 };
}

/**
 * Convert times in ns to numbers of periods. They stay fractions: sums are rounded where they are
 * shown (src/output/weight.h).
 *
 * @param {Float64Array} of
 * @param {Uint8Array} events
 * @param {number} id
 * @param {number} period in ns
 */
function countPeriods(of, events, id, period) {
    for (let i = 0; i < of.length; i++)
        if (events[i] === id)
            of[i] /= period;
}

/**
 * @param {Recording} recording
 * @param {number} id
 * @param {number} metric
 * @param {boolean} change
 * @returns {Weights}
 */
function metricWeights(recording, id, metric, change) {
    const { samples, header } = recording, { name, unit } = header.metrics[metric];
    const of = samples.metric(metric).slice();
    let unknown = 0;

    for (let i = 0; i < samples.count; i++) {
        if (samples.event[i] !== id) {
            of[i] = 0;
        } else if (Number.isNaN(of[i]) && !change) {
            of[i] = 0;
            unknown += samples.process[i] ? 1 : 0;
        }
    }
    if (change)
        unknown = toChanges(recording, id, of);
    return { of, unit, name, event: id, value: -1, unknown };
}

/**
 * Replace values by their changes since the process' previous known value at this event; 0 at the
 * first one. Return the number of samples with a process and an unknown value.
 *
 * @param {Recording} recording
 * @param {number} id
 * @param {Float64Array} of
 */
function toChanges(recording, id, of) {
    const { samples, processes, header } = recording;
    const last = new Float64Array(processes.same.length);
    let unknown = 0;

    header.parts.forEach((_, part) => {
        const [begin, end] = samplesOfPart(recording, part);

        last.fill(NaN);
        for (let i = begin; i < end; i++) {
            const process = processes.same[samples.process[i]], now = of[i];

            if (samples.event[i] !== id)
                continue;
            of[i] = process && !Number.isNaN(now + last[process]) ? now - last[process] : 0;
            if (!Number.isNaN(now))
                last[process] = now;
            else
                unknown += process ? 1 : 0;
        }
    });
    return unknown;
}
