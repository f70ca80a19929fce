// SPDX-License-Identifier: Apache-2.0
/* The table of source lines in the selected stacks. Picking one shows the sandwich of its function. */
import { CostTable, nameCell } from "#view/cost_table";
import { element } from "#view/dom";

/** @typedef {import("../types.js").LineRow} LineRow */

export class LineTable {
    /**
     * @param {(name: string) => void} onpick with the name of the function
     * @param {(kind: number) => string} colourOf
     */
    constructor(onpick, colourOf) {
        /** @type {CostTable<LineRow>} */
        this.costs = new CostTable("Lines", {
            key: (row) => `${row.place} ${row.name}`, text: (row) => `${row.place} ${row.name}`,
            onpick: (row) => onpick(row.name), onfocus: () => {},
        }, [{ title: "line", width: "minmax(175px, 1fr)", order: (row) => row.place,
            cell: (row) => nameCell(row, row.place, colourOf) },
        { title: "function", width: "minmax(110px, 1fr)", order: (row) => row.name,
            cell: (row) => element("span", { className: "name faint", title: row.name },
                row.name) }], "total");
        this.table = this.costs.table;
        this.element = this.table.element;
    }

    /**
     * @param {LineRow[]} rows
     * @param {import("./cost_columns.js").CostScale} scale
     */
    show(rows, scale) {
        this.costs.show(rows, scale, new Set());
    }
}
