// SPDX-License-Identifier: Apache-2.0
/* Idle processes of event wall: graphs leave them out (src/output/idle.c). */
import { eventOf } from "#analysis/weights";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Choice} Choice */

/**
 * True if idle processes can be left out of the choice: it shows the time of event wall.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 */
export function canLeaveOutIdle(recording, choice) {
    const isMetric = recording.header.metrics.some(({ name }) => name === choice.weight);

    return recording.events[eventOf(recording, choice)]?.name === "wall" && !isMetric &&
        !choice.statuses.length;
}

/**
 * @param {Recording} recording
 * @param {string} status
 */
const numberOf = ({ header }, status) => header.statuses.indexOf(status);

/**
 * The event whose idle samples are left out, and the number of that status; null: none are.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 */
export function leftOutIdle(recording, choice) {
    return !choice.idle && canLeaveOutIdle(recording, choice)
        ? { event: eventOf(recording, choice), status: numberOf(recording, "idle") } : null;
}

/**
 * The statuses that a list selects: waiting stands for idle and blocked, too.
 *
 * @param {Recording} recording
 * @param {number[]} statuses
 */
export function selectedStatuses(recording, statuses) {
    if (!statuses.includes(numberOf(recording, "waiting")))
        return statuses;
    return [...statuses, ...["idle", "blocked"].map((name) => numberOf(recording, name))
        .filter((status) => status >= 0)];
}

/**
 * The time of idle samples, and of all samples. Idle ones are not left out of `selected`.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Uint32Array} selected
 */
export function idleTime(recording, choice, selected) {
    const { samples } = recording, id = eventOf(recording, choice), time = samples.value(0);
    const status = numberOf(recording, "idle");
    let idle = 0, whole = 0;

    for (const i of selected) {
        if (samples.event[i] !== id)
            continue;
        whole += time[i];
        if (samples.status[i] === status)
            idle += time[i];
    }
    return { idle, whole };
}
