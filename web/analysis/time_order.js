// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of one process or scheduler in order of time. A node is a run of neighbouring samples
 * with the same frame below the same caller: it has a start, and gaps between nodes are times without
 * a sample. Weights are elapsed time in ns.
 */
import { sortedBy } from "#analysis/counting_sort";
import { functionsOf, textsOf } from "#analysis/functions";
import { ROOT } from "#analysis/kinds";
import { processName } from "#analysis/process_names";
import { schedulerText } from "#analysis/root_texts";
import { shownStacks } from "#analysis/shown_stacks";
import { spansOfSamples } from "#analysis/sample_spans";
import { ownTime, wholeSpan } from "#analysis/time_axis";
import { eventOf } from "#analysis/weights";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").Choice} Choice */
/** @typedef {import("../types").Weights} Weights */
/** @typedef {import("../types").Roots} Roots */
/** @typedef {import("../types").Range} Range */
/** @typedef {import("../types").Sides} Sides */
/** @typedef {import("../types").TimeTree} TimeTree */

/** The node limit of a tree: a longer time than these show is cut. */
const NODES_MAX = 400000;

/** @typedef {{ process: number, thread: number, name: string }} Subject one of both is 0 */

/**
 * @typedef {object} Line what one tree shows
 * @property {Subject} subject
 * @property {Range} range
 * @property {Uint32Array} samples
 * @property {TimeTree["time"]["side"]} side
 */

/**
 * The tree of the selected process or scheduler, else of the process with most weight. A comparison has
 * two trees, of A and of B: of the same process, but two recordings have one process each.
 *
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Sides} sides samples of all events, in order of time
 * @returns {TimeTree[]}
 */
export function buildTimeTrees(recording, choice, weights, roots, [ours, others]) {
    const subject = subjectOf(recording, choice, weights, ours);
    const range = choice.range ?? wholeSpan(recording);
    /** @type {Line[]} */
    const lines = [{ subject, range, samples: ours, side: choice.against ? "B" : "" }];

    if (others && choice.against)
        lines.unshift({ subject: recording.header.compares
            ? subjectOf(recording, choice, weights, others) : subject,
        range: choice.against, samples: others, side: "A" });
    return lines.map((line) => buildTimeTree(recording, choice, weights, roots, line));
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Roots} roots
 * @param {Line} line
 * @returns {TimeTree}
 */
function buildTimeTree(recording, choice, weights, roots, { subject, range, samples, side }) {
    const runs = new Runs(recording, choice, roots, range);

    for (const span of spansOfSamples(recording, eventOf(recording, choice), subject, samples,
        range.from))
        if (!runs.add(span.sample, span.from, span.to))
            break;
    return runs.finish(subject.name, side, weights);
}

/**
 * @param {Recording} recording
 * @param {Choice} choice
 * @param {Weights} weights
 * @param {Uint32Array} samples
 * @returns {Subject}
 */
function subjectOf(recording, choice, weights, samples) {
    const { processes: chosen, schedulers } = choice;
    const process = chosen.length === 1 ? chosen[0]
        : schedulers.length === 1 ? 0 : heaviest(recording, weights, samples);

    if (!process && schedulers.length)
        return { process, thread: schedulers[0],
            name: schedulerText(recording, schedulers[0]) };
    const { name = "", pid = "", node = "" } = process ? processName(recording, process) : {};

    return { process, thread: 0, name: [name, pid, node].filter(Boolean).join(" ") };
}

/**
 * The process with most weight; 0: none has any.
 *
 * @param {Recording} recording
 * @param {Weights} weights
 * @param {Uint32Array} samples
 */
function heaviest({ processes: { same }, samples: { process } }, { of }, samples) {
    const sums = new Float64Array(same.length);

    for (const sample of samples)
        sums[same[process[sample]]] += Math.abs(of[sample]);
    sums[0] = 0;
    return sums.reduce((most, sum, id) => (sum > sums[most] ? id : most), 0);
}

/** Nodes in order of their starts, callers before callees, and the stack that is open. */
class Runs {
    /**
     * @param {Recording} recording
     * @param {Choice} choice
     * @param {Roots} roots
     * @param {Range} range
     */
    constructor(recording, choice, roots, range) {
        this.recording = recording;
        this.roots = roots;
        this.range = range;
        this.shown = shownStacks(recording, choice);
        /** @type {{ parent: number, depth: number, label: number, from: number, to: number,
         *     samples: number }[]} times in ms; label: a function, or -1 - the id of a text */
        this.nodes = [{ parent: 0, depth: 0, label: 0, from: range.from, to: range.to, samples: 0 }];
        this.open = [0]; /* the nodes of the last stack, from the whole on */
        this.end = -Infinity;
        this.isCut = false;
    }

    /** The labels of a stack, from its root on. @param {number} sample */
    labelsOf(sample) {
        const { roots, shown, recording: { samples: { stack } } } = this, texts = textsOf(this.recording);
        const labels = [];

        for (let node = shown.of[stack[sample]]; node; node = shown.parent[node])
            labels.push(shown.fn[node]);
        for (let node = roots.of[sample]; node; node = roots.parent[node])
            labels.push(-1 - texts.add(roots.texts[roots.text[node]]));
        return labels.reverse();
    }

    /**
     * Add a sample; times do not overlap. False: there are too many nodes.
     *
     * @param {number} sample
     * @param {number} from ms
     * @param {number} to ms
     */
    add(sample, from, to) {
        const { nodes, open } = this, labels = this.labelsOf(sample);
        let depth = 0;

        this.isCut = nodes.length + labels.length > NODES_MAX;
        if (this.isCut)
            return false;
        while (from === this.end && depth < labels.length && depth + 1 < open.length
            && nodes[open[depth + 1]].label === labels[depth])
            depth++;
        open.length = depth + 1;
        for (; depth < labels.length; depth++)
            open.push(nodes.push({ parent: open[depth], depth: depth + 1, label: labels[depth], from,
                to, samples: 0 }) - 1);
        for (let i = 1; i < open.length; i++)
            nodes[open[i]].to = to;
        for (const node of open)
            nodes[node].samples++;
        this.end = to;
        return true;
    }

    /**
     * Sort the nodes by depth. Callees of a node are neighbours, because they are in order of time.
     *
     * @param {string} subject
     * @param {TimeTree["time"]["side"]} side
     * @param {Weights} weights
     * @returns {TimeTree}
     */
    finish(subject, side, weights) {
        const { nodes, recording, range } = this, count = nodes.length;
        const depths = Uint32Array.from(nodes, ({ depth }) => depth);
        const order = sortedBy(depths, depths.reduce((a, b) => Math.max(a, b)) + 1);
        const place = new Uint32Array(count), column = () => new Uint32Array(count);
        const tree = { count, parent: column(), first: column(), children: column(),
            depth: new Uint16Array(count), name: column(), frame: column(),
            kind: new Uint8Array(count) };
        const self = new Float64Array(count), total = new Float64Array(count);
        const samples = new Float64Array(count), start = new Float64Array(count);
        const functions = functionsOf(recording);

        order.forEach((node, at) => place[node] = at);
        order.forEach((node, at) => {
            const { parent, depth, label, from, to, samples: counts } = nodes[node];
            const above = place[parent];

            tree.parent[at] = above;
            tree.depth[at] = depth;
            tree.name[at] = label < 0 ? -1 - label : functions.text[label];
            tree.kind[at] = label < 0 || !at ? ROOT : functions.kind[label];
            tree.frame[at] = label < 0 || !at ? 0 : functions.frame[label];
            samples[at] = counts;
            start[at] = (from - range.from) * 1e6;
            self[at] = total[at] = (to - from) * 1e6;
            if (at && !tree.children[above]++)
                tree.first[above] = at;
            if (at)
                self[above] = Math.max(0, self[above] - total[at]);
        });
        return { ...tree, self: [self, null], total: [total, null], samples: [samples, null],
            ownSamples: [samples, null], names: textsOf(recording).list, scale: 1,
            weights: { ...weights, unit: "ns", name: "time" }, groups: new Uint32Array(0),
            ends: () => new Int32Array(0), time: { start, from: range.from, subject, side,
                clock: range.from - ownTime(recording.header, range.from), isCut: this.isCut } };
    }
}
