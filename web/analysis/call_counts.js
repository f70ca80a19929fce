// SPDX-License-Identifier: Apache-2.0
/* The calls of functions that events of the recording counted (src/output/prof/prof_events.c). */
import { SURE } from "#analysis/counted";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").RecordedEvent} RecordedEvent */
/** @typedef {import("../types").CallCount} CallCount */

const COUNTED = /^(?:call|bif|nif):(?:(Elixir\.)?([^:]*):(.*)|(.*))$/;

/**
 * The function that an event counts calls of, as frames show it; "": it counts none.
 *
 * @param {string} event
 */
export function functionOfEvent(event) {
    const [, elixir, module, rest, whole] = COUNTED.exec(event) ?? [];

    return whole ?? (module === undefined ? "" : `${module}${elixir ? "." : ":"}${rest}`);
}

/**
 * The calls in the selected samples, by function. Half of the interval is known of all samples of
 * an event together.
 *
 * @param {Recording} recording
 * @param {Uint32Array} samples
 * @param {number} part of the recording that they are of; -1: of several
 * @returns {Map<string, CallCount>}
 */
export function callCounts({ events, samples: all }, samples, part) {
    const sums = new Float64Array(events.length);
    const values = events.map(({ name }, id) => (id && functionOfEvent(name)
        ? all.value(placeOf(events[id])) : null));

    for (let i = 0; i < samples.length; i++) {
        const id = all.event[samples[i]];

        sums[id] += values[id]?.[samples[i]] ?? 0;
    }
    return new Map([...events.keys()].filter((id) => values[id]).map((id) =>
        [functionOfEvent(events[id].name), { calls: sums[id], half: halfOf(events[id], sums[id], part) }]));
}

/** @param {RecordedEvent} event */
const placeOf = ({ values }) => values.findIndex(({ name }) => name === "count");

/**
 * 0: each call was counted; NaN: unknown, also of a part of the samples.
 *
 * @param {RecordedEvent} event
 * @param {number} calls
 * @param {number} part
 */
function halfOf(event, calls, part) {
    const value = placeOf(event), summary = event.summaries[part];
    const sum = summary?.sums[value] ?? 0, error = summary?.errors[value] ?? NaN;

    return error && Math.abs(calls - sum) > 1 ? NaN : SURE * error;
}
