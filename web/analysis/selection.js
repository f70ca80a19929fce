// SPDX-License-Identifier: Apache-2.0
/*
 * The selected samples (src/view/selection.c). A sample must meet all conditions. Samples of
 * other events are included: they have weight 0.
 */
import { leftOutIdle, selectedStatuses } from "#analysis/idle";
import { nameOf, remember } from "#analysis/memo";
import { readPattern } from "#analysis/pattern";
import { firstSince } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Range} Range */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Pattern} Pattern */

/**
 * The indexes of the selected samples, in order of time. An invalid pattern matches nothing.
 *
 * @param {Recording} recording
 * @param {Choice} choice its ranges do not count here
 * @param {Roots} roots
 * @param {Range | null} range null: the whole time
 */
export function select(recording, choice, roots, range) {
    const wanted = selectAtAnyTime(recording, choice, roots), { time } = recording.samples;

    if (!range)
        return wanted;
    return wanted.subarray(firstSince(wanted, firstSince(time, range.from)),
        firstSince(wanted, firstSince(time, range.to)));
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Roots} roots
 */
function selectAtAnyTime(recording, choice, roots) {
    const { include, exclude, processes, traces, statuses, schedulers } = choice;
    const key = JSON.stringify([include, exclude, processes, traces, statuses, schedulers,
        leftOutIdle(recording, choice), include || exclude ? nameOf(roots) : ""]);

    return remember(recording, "selection", key, () => filter(recording, choice, roots));
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Roots} roots
 */
function filter(recording, choice, roots) {
    const { samples } = recording, wanted = new Uint8Array(samples.count).fill(1);
    const idle = leftOutIdle(recording, choice);
    const of = new Uint32Array(samples.count);
    let count = 0;

    if (choice.processes.length)
        keep(wanted, samples.process, processesOf(recording, choice.processes), 1);
    if (choice.traces.length)
        keep(wanted, recording.traces.of, tracesOf(recording, choice.traces), 1);
    if (choice.statuses.length)
        keep(wanted, samples.status,
            marks(256, selectedStatuses(recording, choice.statuses)), 1);
    if (idle)
        dropIdle(wanted, recording, idle);
    if (choice.schedulers.length)
        keep(wanted, samples.thread, marks(recording.threads.name.length, choice.schedulers), 1);
    if (choice.include)
        keepMatches(wanted, recording, roots, choice.include, 1);
    if (choice.exclude)
        keepMatches(wanted, recording, roots, choice.exclude, 0);
    for (let i = 0; i < wanted.length; i++)
        if (wanted[i])
            of[count++] = i;
    return of.slice(0, count);
}

/**
 * @param {number} count
 * @param {number[]} ids
 */
function marks(count, ids) {
    const marked = new Uint8Array(count);

    for (const id of ids)
        marked[id] = 1;
    return marked;
}

/**
 * By entry of Processes, 1 if it is of one of these processes.
 *
 * @param {Recording} recording
 * @param {number[]} ids
 */
function processesOf({ processes }, ids) {
    const marked = marks(processes.same.length, ids);

    return processes.same.map((same, id) => (id ? marked[same] : 0));
}

/**
 * By place of a trace, 1 if it is one of these.
 *
 * @param {Recording} recording
 * @param {string[]} wanted
 */
function tracesOf({ traces: { ids } }, wanted) {
    return marks(ids.length + 1, wanted.map((id) => ids.indexOf(id)));
}

/**
 * @param {Uint8Array} wanted
 * @param {Uint8Array | Uint32Array} column
 * @param {Uint8Array | Uint32Array} marked by value of the column
 * @param {number} asked the mark of the samples to keep
 */
function keep(wanted, column, marked, asked) {
    for (let i = 0; i < wanted.length; i++)
        if (marked[column[i]] !== asked)
            wanted[i] = 0;
}

/**
 * @param {Uint8Array} wanted
 * @param {Recording} recording
 * @param {{ event: number, status: number }} idle
 */
function dropIdle(wanted, { samples }, idle) {
    for (let i = 0; i < wanted.length; i++)
        if (samples.status[i] === idle.status && samples.event[i] === idle.event)
            wanted[i] = 0;
}

/**
 * @param {Uint8Array} wanted
 * @param {Recording} recording
 * @param {Roots} roots
 * @param {string} pattern
 * @param {number} asked
 */
function keepMatches(wanted, recording, roots, pattern, asked) {
    const matches = matchSamples(recording, roots, readPattern(pattern).test);

    for (let i = 0; i < wanted.length; i++)
        if (matches(i) !== asked)
            wanted[i] = 0;
}

/**
 * A function that returns 1 if a sample has a matching frame or root frame, else 0.
 *
 * @param {Recording} recording
 * @param {Roots} roots
 * @param {Pattern["test"]} test null: nothing matches
 * @returns {(sample: number) => number}
 */
export function matchSamples(recording, roots, test) {
    if (!test)
        return () => 0;
    const { samples } = recording, ofStack = matchStacks(recording, test);
    const ofText = new Uint8Array(roots.texts.length), ofRoot = new Uint8Array(roots.parent.length);

    for (let id = 1; id < ofRoot.length && roots.text[id]; id++) {
        const text = roots.text[id];

        ofText[text] ||= test(roots.texts[text]) ? 2 : 1;
        ofRoot[id] = ofRoot[roots.parent[id]] || ofText[text] - 1;
    }
    return (sample) => ofStack[samples.stack[sample]] | ofRoot[roots.of[sample]];
}

/**
 * @param {Recording} recording
 * @param {(text: string) => boolean} test
 */
function matchStacks({ frames, stacks, strings }, test) {
    const ofString = new Uint8Array(strings.length), of = new Uint8Array(stacks.frame.length);

    for (let id = 1; id < of.length; id++) {
        const symbol = frames.symbol[stacks.frame[id]];

        ofString[symbol] ||= test(symbol ? strings[symbol] : "[unknown]") ? 2 : 1;
        of[id] = of[stacks.parent[id]] || ofString[symbol] - 1;
    }
    return of;
}
