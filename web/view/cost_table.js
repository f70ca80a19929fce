// SPDX-License-Identifier: Apache-2.0
/* A table of functions or source lines with their costs. */
import { CHANGE_COLUMN, costColumns, kindOfColumns } from "#view/cost_columns";
import { element } from "#view/dom";
import { Table } from "#view/table";

/** @typedef {import("../types.js").Cost} Cost */
/** @typedef {import("./cost_columns.js").CostScale} CostScale */

/** @template {Cost} R */
export class CostTable {
    /**
     * @param {string} label
     * @param {ConstructorParameters<typeof Table<R>>[1]} rows
     * @param {import("./table.js").Column<R>[]} names the first columns
     * @param {"self" | "total"} sorted by which column, the first one, if nothing is compared
     */
    constructor(label, rows, names, sorted) {
        this.names = names;
        this.sorted = sorted;
        /** @type {Table<R>} */
        this.table = new Table(label, rows);
        /** @type {CostScale | null} */
        this.scale = null;
    }

    /**
     * @param {R[]} rows
     * @param {CostScale} scale
     * @param {Set<string>} picked keys
     */
    show(rows, scale, picked) {
        const before = this.scale;

        this.scale = scale;
        if (!before || kindOfColumns(before) !== kindOfColumns(scale)) {
            const columns = costColumns(() => this.scale ?? scale, this.sorted);

            this.table.setColumns([...this.names, ...columns],
                this.names.length + (scale.compares ? CHANGE_COLUMN : 0));
        }
        this.table.show(rows, picked);
    }
}

/**
 * A name with the colour of its kind.
 *
 * @param {{ kind: number }} row
 * @param {string} name
 * @param {(kind: number) => string} colourOf
 */
export function nameCell({ kind }, name, colourOf) {
    const dot = element("i", { className: "dot" });

    dot.style.background = colourOf(kind);
    return element("span", { className: "name", title: name }, dot, name);
}
