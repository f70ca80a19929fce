// SPDX-License-Identifier: Apache-2.0
/* The stacks of the graph as a table: rows open to show what they call, or who calls them. */
import { foundRows, openedAtFirst, treeRows } from "#analysis/call_tree";
import { ROOT } from "#analysis/kinds";
import { WAITING } from "#analysis/root_texts";
import { costColumns, kindOfColumns } from "#view/cost_columns";
import { nameCell } from "#view/cost_table";
import { element } from "#view/dom";
import { nodeOfPath, pathOf } from "#view/flame_path";
import { Table } from "#view/table";

/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").TreeRow} TreeRow */
/** @typedef {import("./cost_columns.js").CostScale} CostScale */

const INDENT = 12; /* px */

export class CallTree {
    /**
     * @param {(kind: number) => string} colourOf
     * @param {() => void} onunfold the row of the folded waiting processes is picked
     */
    constructor(colourOf, onunfold) {
        this.colourOf = colourOf;
        this.onunfold = onunfold;
        /** @type {Table<TreeRow>} */
        this.rows = new Table("Call tree", { key: (row) => String(row.node), text: (row) => row.name,
            onpick: (row) => this.toggle(row), onfocus: () => {} }, {
            role: "treegrid",
            attributes: ({ depth, isOpen }) => ({ "aria-level": depth + 1,
                ...isOpen === null ? {} : { "aria-expanded": isOpen } }),
            onkey: (row, key) => this.key(row, key),
        });
        this.element = this.rows.element;
        /** What the panel's search calls. */
        this.table = { find: (/** @type {string} */ text) => this.find(text) };
        /** @type {WeakMap<Tree, Set<number>>} */
        this.open = new WeakMap();
        /** @type {string[][]} */
        this.unfolded = []; /* paths of what is open once waiting processes are unfolded, their row last */
        this.wanted = "";
        /** @type {Tree | null} */
        this.tree = null;
        this.folds = false;
        /** @type {CostScale | null} */
        this.scale = null;
    }

    /**
     * @param {Tree} tree
     * @param {CostScale} scale
     * @param {{ halvesOf(nodes: number[]): Float64Array | null, folds: boolean }} how half of the
     *     intervals of totals, null: they have none; if the tree has the row of folded waiting processes
     */
    show(tree, scale, { halvesOf, folds }) {
        const before = this.scale;

        this.scale = scale;
        this.folds = folds;
        this.halvesOf = halvesOf;
        if (!before || kindOfColumns(before) !== kindOfColumns(scale))
            this.rows.setColumns(this.columns(scale), 0);
        if (tree !== this.tree) {
            this.tree = tree;
            this.rows.show(this.shown(tree), new Set());
            this.moveToUnfolded(tree);
        }
    }

    /** After waiting processes were unfolded, stay at their row. @param {Tree} tree */
    moveToUnfolded(tree) {
        const path = this.unfolded.at(-1), at = path ? nodeOfPath(tree, path) : 0;

        this.unfolded = [];
        if (at)
            this.rows.moveTo(this.rows.all.findIndex(({ node }) => node === at));
    }

    /** @param {CostScale} scale */
    columns(scale) {
        /* Chance is known for functions, but not for each of their places. */
        const costs = costColumns(() => this.scale ?? scale, "total")
            .filter(({ title }) => title !== "\u00b1 noise");

        return [{ title: "call", width: "minmax(220px, 1fr)", order: null,
            cell: (/** @type {TreeRow} */ row) => this.nameCell(row) },
        ...costs.map((column) => ({ ...column, order: null }))];
    }

    /** @param {TreeRow} row */
    nameCell(row) {
        const cell = nameCell(row, row.name, this.colourOf);
        const arrow = row.isOpen === null ? "" : row.isOpen ? "\u25be" : "\u25b8";

        cell.style.paddingLeft = `${row.depth * INDENT}px`;
        cell.prepend(element("span", { className: "arrow faint", "aria-hidden": true }, arrow));
        return cell;
    }

    /** @param {Tree} tree */
    shown(tree) {
        const rows = this.wanted ? foundRows(tree, this.wanted) : treeRows(tree, this.openOf(tree));
        const halves = this.halvesOf?.(rows.map(({ node }) => node));

        return rows.map((row, i) => ({ ...row, half: halves?.[i] ?? 0,
            isOpen: this.isFolded(row) ? false : row.isOpen }));
    }

    /** @param {TreeRow} row */
    isFolded({ kind, name }) {
        return this.folds && kind === ROOT && name === WAITING;
    }

    /** @param {Tree} tree */
    openOf(tree) {
        const open = this.open.get(tree) ?? openedAtFirst(tree);

        for (const path of this.unfolded)
            open.add(nodeOfPath(tree, path));
        this.open.set(tree, open);
        return open;
    }

    /** @param {TreeRow} row */
    toggle(row) {
        const { tree } = this, { node, isOpen } = row;

        if (tree && this.isFolded(row)) {
            this.unfolded = [...this.openOf(tree), node].map((at) => pathOf(tree, at));
            this.onunfold();
            return;
        }
        if (!tree || isOpen === null || this.wanted)
            return;
        if (isOpen)
            this.openOf(tree).delete(node);
        else
            this.openOf(tree).add(node);
        this.rows.replace(this.shown(tree));
    }

    /**
     * Right opens a row, Left closes it, or moves to its caller.
     *
     * @param {TreeRow} row
     * @param {string} key
     */
    key(row, key) {
        if (key !== "ArrowRight" && key !== "ArrowLeft")
            return false;
        if (row.isOpen === (key === "ArrowLeft"))
            this.toggle(row);
        else if (key === "ArrowLeft" && row.node)
            this.rows.moveTo(this.rows.all.findIndex(({ node }) => node === this.tree?.parent[row.node]));
        return true;
    }

    /** @param {string} text */
    find(text) {
        this.wanted = text.toLowerCase();
        if (this.tree)
            this.rows.show(this.shown(this.tree), new Set());
    }
}
