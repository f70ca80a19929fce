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
 * @returns {Map<string, CallCount>}
 */
export function callCounts({ events, samples: all }, samples) {
    const sums = new Float64Array(events.length);
    const values = events.map(({ name }, id) => (id && functionOfEvent(name)
        ? all.value(placeOf(events[id])) : null));

    for (let i = 0; i < samples.length; i++) {
        const id = all.event[samples[i]];

        sums[id] += values[id]?.[samples[i]] ?? 0;
    }
    return new Map([...events.keys()].filter((id) => values[id]).map((id) =>
        [functionOfEvent(events[id].name), { calls: sums[id], half: halfOf(events[id], sums[id]) }]));
}

/** @param {RecordedEvent} event */
const placeOf = ({ values }) => values.findIndex(({ name }) => name === "count");

/**
 * 0: each call was counted; NaN: unknown, also of a part of the samples.
 *
 * @param {RecordedEvent} event
 * @param {number} calls
 */
function halfOf(event, calls) {
    const value = placeOf(event), sum = event.summary?.sums[value] ?? 0;
    const error = event.summary?.errors[value] ?? NaN;

    return error && Math.abs(calls - sum) > 1 ? NaN : SURE * error;
}
