// SPDX-License-Identifier: Apache-2.0
/*
 * Processes of event wall with status waiting, folded: their stacks are one frame, so that they do
 * not hide what ran, could run or was blocked.
 */
import { canLeaveOutIdle } from "#analysis/idle";
import { eventOf } from "#analysis/weights";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Choice} Choice */
/** @typedef {{ event: number, status: number }} Folded samples with this event and status are folded */

/**
 * True if waiting processes can be folded in the choice. They can't if the choice selects processes,
 * statuses or stacks: these are shown. Nor can they in order of time.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 */
export function canFoldWaiting(recording, choice) {
    return canLeaveOutIdle(recording, choice) && !choice.processes.length && !choice.include &&
        choice.form !== "time";
}

/**
 * The samples that are folded; null: none are.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @returns {Folded | null}
 */
export function foldedWaiting(recording, choice) {
    return choice.foldWaiting && canFoldWaiting(recording, choice)
        ? { event: eventOf(recording, choice),
            status: recording.header.statuses.indexOf("waiting") } : null;
}

/**
 * A function that returns true if a sample is folded.
 *
 * @param {Recording} recording
 * @param {Folded | null} folded
 * @returns {(sample: number) => boolean}
 */
export function foldTest({ samples: { event, status } }, folded) {
    return folded ? (sample) => status[sample] === folded.status && event[sample] === folded.event
        : () => false;
}
