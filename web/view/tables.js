// SPDX-License-Identifier: Apache-2.0
/* The tables beside the graph: which one is shown, and its rows. */
import { ofAnyProcess, ofAnyTrace } from "#analysis/model";
import { byId } from "#view/dom";
import { CallTree } from "#view/call_tree";
import { FunctionTable } from "#view/function_table";
import { LineTable } from "#view/line_table";
import { NodeTable } from "#view/node_table";
import { Panel } from "#view/panel";
import { ProcessTable } from "#view/process_table";
import { TraceTable } from "#view/trace_table";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("#analysis/model").Model} Model */

/**
 * @typedef {object} Actions
 * @property {() => View} view
 * @property {import("./controls.js").Set} set
 * @property {(kind: number) => string} colourOf
 * @property {(process: number) => void} showCpuOf
 */

export class Tables {
    /**
     * @param {Recording} recording
     * @param {Model} model
     * @param {Actions} actions
     */
    constructor(recording, model, { view, set, colourOf, showCpuOf }) {
        this.model = model;
        /* The table stays: the sandwich has another default. */
        const focusOn = (/** @type {string} */ focus) => set({ form: "sandwich", focus,
            panel: this.panel.shown(view()) ?? view().panel });

        const unfold = () => set({ foldWaiting: false });

        this.functions = new FunctionTable({ onpick: focusOn, onunfold: unfold,
            callersOf: (row) => model.callers(view(), row) }, colourOf);
        this.lines = new LineTable(focusOn, colourOf);
        this.tree = new CallTree(colourOf, unfold);
        this.processes = new ProcessTable((processes) => set({ processes }), showCpuOf,
            recording.header.statuses);
        this.traces = new TraceTable((traces) => set({ traces }), recording.traces.notListed);
        this.vm = new NodeTable();
        this.panel = new Panel(byId("panel"), byId("splitter"),
            { functions: this.functions, lines: this.lines, tree: this.tree,
                processes: this.processes, ...hasTraces(recording) ? { traces: this.traces } : {},
                ...recording.nodeMetrics.length ? { vm: this.vm } : {} },
            (panel) => set({ panel }));
    }

    /** Fill the table that is shown. @param {View} view */
    show(view) {
        const { model } = this, any = ofAnyProcess(view);

        switch (this.panel.shown(view)) {
        case "functions":
            this.functions.show(model.functions(view), this.scaleOf(view, model.functions(view)),
                view.form === "sandwich" ? view.focus : "");
            break;
        case "lines":
            this.lines.show(model.lines(view), this.scaleOf(view, model.lines(view)));
            break;
        case "tree":
            this.showTree(view, this.mergedTree(view));
            break;
        case "processes":
            this.processes.show(model.processes(view), model.weights(view), model.whole(any),
                view.processes, hasHalf(model.processes(view)), model.delays(view));
            break;
        case "traces":
            this.showTraces(view);
            break;
        case "vm":
            this.vm.show(model.nodeRows(view));
        }
    }

    /**
     * @param {View} view
     * @param {import("../types.js").Tree} tree
     */
    showTree(view, tree) {
        const halvesOf = (/** @type {number[]} */ nodes) => this.model.totalHalves(view, tree, nodes);
        const [half] = halvesOf([0]) ?? [0];

        this.tree.show(tree, this.scaleOf(view, [{ half }]), { halvesOf,
            folds: this.model.foldsWaiting(view) });
    }

    /** @param {View} view */
    showTraces(view) {
        const { model } = this, traces = model.traces(view);

        this.traces.show(traces, { unit: model.weights(view).unit,
            total: model.whole(ofAnyTrace(view)), hasHalf: hasHalf(traces.rows) }, view.traces);
    }

    /** The tree of the graph; in order of time that of its stacks. @param {View} view */
    mergedTree(view) {
        const trees = this.model.trees(view.form === "time" ? { ...view, form: "stacks" } : view);

        return trees[trees.length - 1];
    }

    /**
     * @param {View} view
     * @param {{ half: number, calls?: unknown }[]} rows
     * @returns {import("./cost_columns.js").CostScale}
     */
    scaleOf(view, rows) {
        const { model } = this, { unit } = model.weights(view);

        return { unit, total: model.whole(view), compares: view.against !== null,
            hasHalf: hasHalf(rows), hasCalls: unit !== "count" && rows.some(({ calls }) => calls) };
    }
}

/** @param {Recording} recording */
const hasTraces = ({ traces }) => traces.ids.length > 1;

/** True if a row has an interval, known or not. @param {{ half: number }[]} rows */
const hasHalf = (rows) => rows.some(({ half }) => half !== 0);
