// SPDX-License-Identifier: Apache-2.0
/* The table of the functions in the selected stacks. Picking one shows its sandwich. */
import { CostTable, nameCell } from "#view/cost_table";
import { button, element, fill } from "#view/dom";
import { percentText } from "#view/number_text";

/** @typedef {import("../types.js").FunctionRow} FunctionRow */
/** @typedef {import("../types.js").FunctionCaller} FunctionCaller */
/** @typedef {import("./cost_columns.js").CostScale} CostScale */

const CALLERS = 6;

export class FunctionTable {
    /**
     * @param {{ onpick: (name: string) => void, onunfold: () => void,
     *     callersOf: (row: FunctionRow) => FunctionCaller[] }} listener `onunfold`: the row of the
     *     folded waiting processes is picked
     * @param {(kind: number) => string} colourOf
     */
    constructor({ onpick, onunfold, callersOf }, colourOf) {
        this.onpick = onpick;
        this.callersOf = callersOf;
        /** @type {CostTable<FunctionRow>} */
        this.costs = new CostTable("Functions", { key: (row) => row.name, text: (row) => row.name,
            onpick: (row) => (row.frame ? onpick(row.name) : onunfold()), onfocus: (row) => this.describe(row) },
        [{ title: "function", width: "minmax(200px, 1fr)", order: (row) => row.name,
            cell: (row) => nameCell(row, row.name, colourOf) }], "self");
        this.table = this.costs.table;
        this.callers = element("div", { className: "foot", "aria-live": "polite" });
        this.element = element("div", { className: "table-with-foot" },
            this.table.element, this.callers);
    }

    /**
     * @param {FunctionRow[]} rows
     * @param {CostScale} scale
     * @param {string} focus
     */
    show(rows, scale, focus) {
        if (rows !== this.table.all)
            fill(this.callers);
        this.costs.show(rows, scale, new Set(focus ? [focus] : []));
    }

    /** Show the callers of a function below the table. @param {FunctionRow} row */
    describe(row) {
        if (!row.frame) {
            fill(this.callers, element("b", {}, row.name),
                " is all processes that wait: Enter shows their functions");
            return;
        }
        const callers = this.callersOf(row).slice(0, CALLERS);
        const named = (/** @type {string} */ name) => (name
            ? button(name, () => this.onpick(name), { className: "link" })
            : "nothing in these stacks");

        fill(this.callers, element("b", {}, row.name), " is called by ",
            ...callers.flatMap(({ name, total }, i) => [i ? ", " : "", named(name),
                ` ${percentText(total, row.total)}`]),
            callers.length ? "" : "nothing that is recorded");
    }
}
