// SPDX-License-Identifier: Apache-2.0
/* The texts of root frames (src/view/root_frame.c). */

/** @typedef {import("../types").Recording} Recording */

/* Values of enum activity with a text other than their name. */
export const PROCESS = 0, PORT = 5;
const AUX_WORK = 6, ASYNC = 7, POLL = 8, OTHER = 9;

export const GROWTH = "[growth]", RELEASE = "[release]";

/* The root frame of a scheduler that waits for work without sleeping. */
export const BUSY_WAIT = "[scheduler] busy-wait";

/* The status of a process that waits, and the frame of all of them if they are folded (waiting.js). */
export const WAITING = "[waiting]";

/* A process started with a fun has this initial call. */
const INITIAL_CALL_OF_FUN = "erlang:apply/2";

/** @param {number} activity */
export const showsThread = (activity) =>
    activity === ASYNC || activity === POLL || activity === OTHER;

/**
 * @param {Recording} recording
 * @param {number} activity
 * @param {number} who string id of the port's name for PORT, a thread id if showsThread(); 0: none
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
 * True if only the root function of its stack can name a process: it has no name for groups, and no
 * initial call but that of a fun.
 *
 * @param {Recording} recording
 * @param {number} process
 */
export function isNamedByStack({ processes, strings }, process) {
    const call = processes.initialCall[process];

    return !groupName(processes, process) && (!call || strings[call] === INITIAL_CALL_OF_FUN);
}

/**
 * By process, 1 if isNamedByStack().
 *
 * @param {Recording} recording
 */
export function namedByStack(recording) {
    return Uint8Array.from(recording.processes.same, (_, process) =>
        (process && isNamedByStack(recording, process) ? 1 : 0));
}

/**
 * The name of a process in groups: registered name, else label; 0 if it has neither.
 *
 * @param {Recording["processes"]} processes
 * @param {number} process
 */
function groupName({ name, label, labelIsDetail }, process) {
    return name[process] || (labelIsDetail[process] ? 0 : label[process]);
}

/**
 * Registered name, else label; 0 if it has neither.
 *
 * @param {Recording["processes"]} processes
 * @param {number} process
 */
export const nameOrLabel = ({ name, label }, process) => name[process] || label[process];

/**
 * @param {Recording} recording
 * @param {number} process
 * @param {number} bottom the root Erlang frame of its stack; 0: it does not name the process
 */
export function nameText(recording, process, bottom) {
    const { processes, frames, strings } = recording;
    const best = groupName(processes, process) || (bottom && frames.symbol[bottom]) ||
        processes.initialCall[process] || processes.pid[process];

    return best ? strings[best] : "[process]";
}

/**
 * @param {Recording} recording
 * @param {number} process
 */
export function pidText(recording, process) {
    const { processes, strings } = recording, name = nameOrLabel(processes, process);
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
 * The name of a node, with its pid and host if the name is not unique. Nodes in different
 * containers can have the same name. Nodes that are not distributed are all "nonode@nohost".
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
 * A range between powers of ten: "[msgq 0]", "[msgq 10 to 100]", "[memory 1 MB to 10 MB]".
 *
 * @param {string} what
 * @param {number} digits see digitsOf()
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

/** The number of decimal digits + 1; 1 for 0, and 0 for NaN. @param {number} value NaN: unknown */
export function digitsOf(value) {
    let digits = 1;

    for (let power = 1; power <= value; power *= 10)
        digits++;
    return Number.isNaN(value) ? 0 : digits;
}
