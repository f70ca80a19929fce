// SPDX-License-Identifier: Apache-2.0
/* What the page shows first: of the whole page, by event, and what the command line has selected. */
import { isDeepByRecursion } from "#analysis/recursion";
import { eventOf, isTimed, nameOfEvent, weightsOf } from "#analysis/weights";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Recording} Recording */

/** The View of a page without options of the command line. */
export const DEFAULTS = /** @type {View} */ (Object.freeze({
    event: "", weight: "", change: false, groupBy: ["name"], range: null, against: null,
    per: "time", include: "", exclude: "", processes: [], traces: [], statuses: [], schedulers: [],
    idle: false, foldWaiting: false, form: "stacks", focus: "", icicle: false, foldRecursion: false,
    erlangOnly: false, hidden: [], search: "", zoom: null, panel: "auto",
    lanes: "auto", scale: "auto", at: 0,
}));

/* Where it happened says more than in which process: call sites, as in the summary. */
const CALL_SITES = Object.freeze({ form: "callers", groupBy: ["none"], erlangOnly: true });

/* Rows of the graph that a window has. */
const ROWS = 40;

/** @type {Record<string, Partial<View> | undefined>} */
const BY_EVENT = { wall: { groupBy: ["status", "name"], foldWaiting: true },
    gc: CALL_SITES, alloc: CALL_SITES, msg: CALL_SITES };

/** The event of a page without a fragment. @param {Recording} recording */
export const firstEvent = (recording) =>
    nameOfEvent(recording, { ...DEFAULTS, ...recording.header.choice });

/**
 * The view of an event before the user has chosen anything else.
 *
 * @param {Recording} recording
 * @param {string} event
 * @returns {View}
 */
export function viewOfEvent(recording, event) {
    const { choice } = recording.header, own = BY_EVENT[event] ?? {};
    const id = recording.events.findIndex(({ name }) => name === event);
    const weights = weightsOf(recording, event).map(({ name }) => name);
    const { weight = "", change = false } = weights.includes(choice.weight ?? "") ? choice : {};
    /* The command line's own defaults are those of event cpu. */
    const isChosen = String(choice.groupBy ?? "name") !== "name";
    const groupBy = isChosen ? choice.groupBy
        : withNode(recording, own.groupBy ?? DEFAULTS.groupBy);

    return { ...DEFAULTS, ...choice, ...own, event, change,
        foldRecursion: choice.foldRecursion
            || isDeepByRecursion(recording, id, ROWS),
        groupBy: groupBy ?? DEFAULTS.groupBy, weight: weight || weights[0] };
}

/**
 * With the node first, where several were recorded and are not compared.
 *
 * @param {Recording} recording
 * @param {string[]} groupBy
 */
function withNode({ targets, header }, groupBy) {
    return targets.length > 2 && !header.compares && groupBy[0] !== "none" ? ["node", ...groupBy]
        : groupBy;
}

/**
 * The event of a weight that names one, else `event`.
 *
 * @param {Recording} recording
 * @param {string} event
 * @param {string} weight
 */
export function eventOfWeight(recording, event, weight) {
    const choice = { ...DEFAULTS, event, weight };

    return isTimed(weight) && eventOf(recording, choice) ? weight : event;
}
