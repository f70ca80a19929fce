// SPDX-License-Identifier: Apache-2.0
/* What root frames say (src/profile/root_frame.c). */

/** @typedef {import("../types").Recording} Recording */

/* enum activity of those that are told otherwise than by their name */
export const PROCESS = 0, PORT = 5;
const AUX_WORK = 6, ASYNC = 7, POLL = 8, OTHER = 9;

export const GROWTH = "[growth]", RELEASE = "[release]";

/* A process started with a fun has this initial call. */
const INITIAL_CALL_OF_FUN = "erlang:apply/2";

/** @param {number} activity */
export const showsThread = (activity) =>
    activity === ASYNC || activity === POLL || activity === OTHER;

/**
 * @param {Recording} recording
 * @param {number} activity
 * @param {number} who the port's name for PORT, a thread where showsThread()
 */
export function activityText({ strings, threads, header }, activity, who) {
    if (activity === PORT)
        return who ? `[port] ${strings[who]}` : "[port]";
    if (activity === AUX_WORK)
        return "[aux]";
    if (showsThread(activity))
        return who ? `[thread] ${strings[threads.name[who]]}` : "[thread]";
    return `[scheduler] ${header.activities[activity] ?? "unknown"}`;
}

/**
 * Whether a process can only be named by the function at the bottom of its stack.
 *
 * @param {Recording} recording
 * @param {number} process
 */
export function isNamedByStack({ processes, strings }, process) {
    const call = processes.initialCall[process];

    return !processes.name[process] && !processes.label[process] &&
        (!call || strings[call] === INITIAL_CALL_OF_FUN);
}

/**
 * @param {Recording} recording
 * @param {number} process
 */
const givenName = ({ processes }, process) => processes.name[process] || processes.label[process];

/**
 * @param {Recording} recording
 * @param {number} process
 * @param {number} bottom the Erlang frame at the root of its stack, 0 if that is not to name it
 */
export function nameText(recording, process, bottom) {
    const { processes, frames, strings } = recording;
    const best = givenName(recording, process) || (bottom && frames.symbol[bottom]) ||
        processes.initialCall[process] || processes.pid[process];

    return best ? strings[best] : "[process]";
}

/**
 * @param {Recording} recording
 * @param {number} process
 */
export function pidText(recording, process) {
    const { processes, strings } = recording, name = givenName(recording, process);
    const pid = processes.pid[process];

    return (name ? `${strings[name]} ` : "") + (pid ? strings[pid] : "[process]");
}

/**
 * @param {Recording} recording
 * @param {number} thread
 */
export function schedulerText({ threads, strings }, thread) {
    const kind = ["", "scheduler", "dirty cpu", "dirty io"][threads.kind[thread] ?? 0];

    if (thread && kind)
        return `[${kind} ${threads.number[thread]}]`;
    return thread && threads.name[thread] ? `[thread] ${strings[threads.name[thread]]}`
        : "[thread]";
}

/**
 * The name of a node that is not distributed says nothing, and nodes in containers of their own
 * can have the same name.
 *
 * @param {Recording} recording
 * @param {number} id
 */
export function targetText({ targets }, id) {
    const { node, pid, host } = targets[id], isNamed = node && node !== "nonode@nohost";

    if (isNamed && !targets.some((other, i) => i > 0 && i !== id && other.node === node))
        return node;
    return `${isNamed ? node : "beam"} ${pid}${host && ` at ${host}`}`;
}

/**
 * Powers of ten: "[msgq 0]", "[msgq 10 to 100]", "[memory 1 MB to 10 MB]".
 *
 * @param {string} what
 * @param {number} digits of a number, 0 having none, and 1 more; 0: not known
 * @param {boolean} isBytes
 */
export function decadeText(what, digits, isBytes) {
    const power = digits < 2 ? "" : `${powerText(digits - 2, isBytes)} to ` +
        powerText(digits - 1, isBytes);

    return `[${what} ${["not known", "0"][digits] ?? power}]`;
}

/**
 * @param {number} power
 * @param {boolean} isBytes
 */
function powerText(power, isBytes) {
    const thousands = isBytes ? Math.floor(power / 3) : 0;

    return "1" + "0".repeat(power - thousands * 3) +
        (isBytes ? ` ${["B", "kB", "MB", "GB", "TB", "PB", "EB"][thousands]}` : "");
}

/** @param {number} value NaN: not known */
export function digitsOf(value) {
    let digits = 1;

    for (let rest = value; rest >= 1; rest = Math.floor(rest / 10))
        digits++;
    return Number.isNaN(value) ? 0 : digits;
}
