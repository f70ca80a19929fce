// SPDX-License-Identifier: Apache-2.0
/*
 * Everything that the page shows of a recording for a choice. A result is computed at its first use
 * and cached for the parts of the choice that it depends on (memo.js).
 */
import { eventOf, weigh } from "#analysis/weights";
import { group } from "#analysis/grouping";
import { idleTime, leftOutIdle } from "#analysis/idle";
import { select } from "#analysis/selection";
import { buildTimeTrees } from "#analysis/time_order";
import { buildSandwich, buildTree, nodeHalves, totalHalves } from "#analysis/tree";
import { matchTree } from "#analysis/search";
import { cellMsOf, heatmapCells, markCells } from "#analysis/heatmap_cells";
import { COLUMN_MS, overviewMs } from "#analysis/heatmap_scales";
import { processRows } from "#analysis/process_rows";
import { traceRows } from "#analysis/trace_rows";
import { delaysOf } from "#analysis/delays";
import { countedOf } from "#analysis/counted";
import { eventTotals } from "#analysis/event_totals";
import { rowIntervals } from "#analysis/row_interval";
import { partOf } from "#analysis/time_axis";
import { nodeRows } from "#analysis/node_rows";
import { functionCallers, functionRows } from "#analysis/function_rows";
import { lineRows } from "#analysis/line_rows";
import { readPattern } from "#analysis/pattern";
import { nameOf, remember } from "#analysis/memo";
import { foldedWaiting } from "#analysis/waiting";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Choice} Choice */
/** @typedef {import("../types.js").FunctionRow} FunctionRow */
/** @typedef {import("../types.js").Scale} Scale */
/** @typedef {import("../types.js").Sides} Sides */
/** @typedef {import("../types.js").Tree} Tree */

export class Model {
    /** @param {Recording} recording */
    constructor(recording) {
        this.recording = recording;
    }

    /** @param {Choice} choice */
    weights(choice) {
        return weigh(this.recording, choice);
    }

    /** @param {Choice} choice */
    roots(choice) {
        return group(this.recording, choice, this.weights(choice));
    }

    /** The root frames that filters match: those of folded processes, too. @param {Choice} choice */
    allRoots(choice) {
        return this.roots(choice.exclude ? { ...choice, foldWaiting: false } : choice);
    }

    /** The selected samples of the whole time. @param {Choice} choice */
    samples(choice) {
        return select(this.recording, choice, this.allRoots(choice), null);
    }

    /**
     * @param {Choice} choice
     * @returns {Sides}
     */
    sides(choice) {
        const { recording } = this, roots = this.allRoots(choice);

        return [select(recording, choice, roots, choice.range),
            choice.against && select(recording, choice, roots, choice.against)];
    }

    /**
     * The time of the idle processes that are left out, and the time with them; null: none are.
     *
     * @param {Choice} choice
     */
    idle(choice) {
        const { recording } = this;

        return leftOutIdle(recording, choice) && idleTime(recording, choice,
            select(recording, { ...choice, idle: true }, this.allRoots(choice), choice.range));
    }

    /** True if processes that wait are one frame. @param {Choice} choice */
    foldsWaiting(choice) {
        return foldedWaiting(this.recording, choice) !== null;
    }

    /** A cache key: equal for choices that select the same stacks. @param {Choice} choice */
    key(choice) {
        const { range, against, per, foldRecursion, hidden, erlangOnly } = choice;

        return JSON.stringify([this.weights(choice), this.roots(choice), this.samples(choice)]
            .map(nameOf).concat(JSON.stringify([range, against, per, foldRecursion, hidden,
                erlangOnly])));
    }

    /**
     * One tree; two of a sandwich, callers and callees, and of a comparison in order of time, A and B.
     *
     * @param {Choice} choice
     * @returns {Tree[]}
     */
    trees(choice) {
        const { form, focus, processes, schedulers } = choice;
        const key = JSON.stringify([this.key(choice), form, form === "sandwich" && focus,
            form === "time" && [processes, schedulers]]);

        return remember(this.recording, "trees", key, () => {
            const { recording } = this;
            const weights = this.weights(choice), roots = this.roots(choice);

            if (form === "time")
                return buildTimeTrees(recording, choice, weights, roots, this.sides(choice));
            if (form !== "sandwich")
                return [buildTree(recording, choice, weights, roots, this.sides(choice))];
            const both = buildSandwich(recording, choice, weights, roots, this.sides(choice));

            return [both.callers, both.callees];
        });
    }

    /** A Match for each tree; null without a valid search. @param {Choice} choice */
    matches(choice) {
        const trees = this.trees(choice), pattern = readPattern(choice.search);

        return remember(trees, "matches", choice.search, () =>
            (pattern.test ? trees.map((tree) => matchTree(tree, pattern)) : null));
    }

    /**
     * The heatmap of the selected samples of the whole time.
     *
     * @param {Choice} choice
     * @param {Scale} [scale]
     */
    cells(choice, scale = "second") {
        return this.cellsOf(choice, cellMsOf(this.recording, choice, scale), COLUMN_MS[scale]);
    }

    /** The overview: a heatmap with one row. @param {Choice} choice */
    overview(choice) {
        const binMs = overviewMs(this.recording);

        return this.cellsOf(choice, binMs, binMs);
    }

    /**
     * @param {Choice} choice
     * @param {number} cellMs
     * @param {number} columnMs
     */
    cellsOf(choice, cellMs, columnMs) {
        const weights = this.weights(choice), samples = this.samples(choice);

        return remember(samples, "cells", JSON.stringify([nameOf(weights), cellMs, columnMs]), () =>
            heatmapCells(this.recording, choice, weights, samples, cellMs, columnMs));
    }

    /**
     * The cells with a match of the search; null without a valid search.
     *
     * @param {Choice} choice
     * @param {Scale} [scale]
     */
    marks(choice, scale) {
        const cells = this.cells(choice, scale), roots = this.roots(choice);
        const pattern = readPattern(choice.search);

        return remember(cells, "marks", JSON.stringify([nameOf(roots), choice.search]), () =>
            (pattern.test ? markCells(this.recording, choice, cells, this.weights(choice), roots,
                this.samples(choice), pattern) : null));
    }

    /** Also processes that are not selected: the user can select them. @param {Choice} choice */
    processes(choice) {
        const any = ofAnyProcess(choice);

        return remember(this.recording, "processes", this.key(any), () =>
            processRows(this.recording, this.weights(any), this.sides(any)[0],
                this.intervals(any)[0]));
    }

    /** Also traces that are not selected: the user can select them. @param {Choice} choice */
    traces(choice) {
        const any = ofAnyTrace(choice);

        return remember(this.recording, "traces", this.key(any), () =>
            traceRows(this.recording, this.weights(any), this.sides(any)[0],
                this.intervals(any)[0]));
    }

    /** Who ran while the selected processes were in run queues. @param {Choice} choice */
    delays({ processes, range }) {
        return remember(this.recording, "delays", JSON.stringify([processes, range]), () =>
            (processes.length ? delaysOf(this.recording, processes, range) : null));
    }

    /** @param {Choice} choice */
    nodeRows({ range }) {
        return remember(this.recording, "node rows", JSON.stringify(range), () =>
            nodeRows(this.recording, range));
    }

    /** @param {Choice} choice */
    functions(choice) {
        return remember(this.recording, "function rows", this.key(choice), () =>
            functionRows(this.recording, choice, this.weights(choice), this.sides(choice),
                this.intervals(choice)));
    }

    /** @param {Choice} choice */
    lines(choice) {
        const { form, focus } = choice;
        const key = JSON.stringify([this.key(choice), form === "sandwich" && focus]);

        return remember(this.recording, "line rows", key, () =>
            lineRows(this.recording, choice, this.weights(choice), this.sides(choice),
                this.intervals(choice)));
    }

    /**
     * The intervals of rows by side, of shares of all that is selected, with idle processes.
     *
     * @param {Choice} choice
     * @returns {import("#analysis/costs").Intervals}
     */
    intervals(choice) {
        const whole = { ...choice, idle: true }, weights = this.weights(choice);
        const { range, against } = choice;
        const key = JSON.stringify([nameOf(weights), nameOf(this.samples(whole)), range, against]);

        return remember(this.recording, "intervals", key, () => {
            const [ours, others] = this.sides(whole), { recording } = this;

            return [rowIntervals(recording, weights, ours, partOf(recording, range)),
                others && rowIntervals(recording, weights, others, partOf(recording, against))];
        });
    }

    /**
     * Half of the intervals of a node of a tree of the choice; null: it has none, as in order of time.
     *
     * @param {Choice} choice
     * @param {Tree} tree
     * @param {number} node
     * @param {0 | 1} [side]
     */
    halves(choice, tree, node, side = 0) {
        const samples = this.sides(choice)[side];
        const intervals = tree.time ? null : this.intervals(choice)[side];

        return intervals && samples && remember(tree, `halves ${side}`, String(node), () =>
            nodeHalves(tree, node, samples, intervals));
    }

    /**
     * Half of the intervals of the totals of nodes of a tree of the choice; null: they have none, as in a
     * comparison.
     *
     * @param {Choice} choice
     * @param {Tree} tree
     * @param {number[]} nodes
     */
    totalHalves(choice, tree, nodes) {
        const [samples] = this.sides(choice), [intervals] = this.intervals(choice);

        return intervals && !choice.against ? totalHalves(tree, nodes, samples, intervals) : null;
    }

    /** How sure the total of the event is; null if it is no estimate. @param {Choice} choice */
    counted(choice) {
        return countedOf(this.recording, this.weights(choice), partOf(this.recording, choice.range));
    }

    /** The total of each event, of the whole time. */
    events() {
        return eventTotals(this.recording);
    }

    /** True if the event has samples in any time. @param {Choice} choice */
    hasSamples(choice) {
        return this.recording.samples.event.includes(eventOf(this.recording, choice));
    }

    /** The weight that is 100 %; growth and release are both added. @param {Choice} choice */
    whole(choice) {
        const { of } = this.weights(choice), [samples] = this.sides(choice);
        let sum = 0;

        for (let i = 0; i < samples.length; i++)
            sum += Math.abs(of[samples[i]]);
        return sum;
    }

    /**
     * @param {Choice} choice
     * @param {FunctionRow} row
     */
    callers(choice, row) {
        return functionCallers(this.recording, choice, this.weights(choice), this.sides(choice),
            row);
    }
}

/** The choice of the table of processes: all processes, not compared. @param {Choice} choice */
export function ofAnyProcess(choice) {
    return { ...choice, processes: [], against: null };
}

/** The choice of the table of traces: all traces, not compared. @param {Choice} choice */
export function ofAnyTrace(choice) {
    return { ...choice, traces: [], against: null };
}
