// SPDX-License-Identifier: Apache-2.0
/* The table of the functions in the selected stacks. Picking one shows its sandwich. */
import { button, element, fill } from "#view/dom";
import { figureText, numberText, percentText, withPlus } from "#view/number_text";
import { sureColumns, totalCell } from "#view/sure_columns";
import { Table } from "#view/table";

/** @typedef {import("../types.js").FunctionRow} FunctionRow */
/** @typedef {import("../types.js").Weights} Weights */
/** @typedef {import("../types.js").FunctionCaller} FunctionCaller */

const CALLERS = 6;
const CHANGE = 3; /* index of the column in changeColumns() */

export class FunctionTable {
    /**
     * @param {(name: string) => void} onpick
     * @param {(kind: number) => string} colourOf
     * @param {(row: FunctionRow) => FunctionCaller[]} callersOf
     */
    constructor(onpick, colourOf, callersOf) {
        this.onpick = onpick;
        this.colourOf = colourOf;
        this.callersOf = callersOf;
        /** @type {string | null} */
        this.kind = null; /* of the columns */
        this.hasHalf = false;
        this.total = 0;
        this.table = new Table("Functions", { key: (row) => row.name, text: (row) => row.name,
            onpick: (row) => onpick(row.name), onfocus: (row) => this.tell(row) });
        this.callers = element("div", { className: "callers", "aria-live": "polite" });
        this.element = element("div", { className: "table-with-foot" },
            this.table.element, this.callers);
    }

    /**
     * @param {FunctionRow[]} rows
     * @param {Weights} weights
     * @param {number} total
     * @param {string} focus
     * @param {boolean} hasHalf totals have intervals
     */
    show(rows, weights, total, focus, hasHalf) {
        const compares = rows.some((row) => row.against);
        const kind = JSON.stringify([compares, weights.unit === "samples", hasHalf]);

        this.total = total;
        this.weights = weights;
        this.hasHalf = hasHalf;
        if (kind !== this.kind) {
            this.kind = kind;
            this.table.setColumns(compares ? this.changeColumns() : this.columns(),
                compares ? CHANGE : 1);
        }
        if (rows !== this.table.all)
            fill(this.callers);
        this.table.show(rows, new Set(focus ? [focus] : []));
    }

    /** @param {FunctionRow} row */
    nameCell(row) {
        const dot = element("i", { className: "dot" });

        dot.style.background = this.colourOf(row.kind);
        return element("span", { className: "name", title: row.name }, dot, row.name);
    }

    /** @returns {import("./table.js").Column<FunctionRow>[]} */
    columns() {
        const text = (/** @type {number} */ amount) => figureText(amount, this.unit());
        const share = (/** @type {number} */ amount) => percentText(amount, this.total);

        return [
            { title: "function", width: "minmax(160px, 1fr)", order: (row) => row.name,
                cell: (row) => this.nameCell(row) },
            { title: "self", hint: "where the function was the leaf", width: "104px", number: true,
                order: (row) => row.self, cell: (row) => text(row.self) },
            { title: "", hint: "of all that is selected", width: "68px", number: true, order: null,
                cell: (row) => share(row.self) },
            { title: "total", hint: "with its callees", width: "104px", number: true,
                order: (row) => row.total,
                cell: (row) => totalCell(row, this.unit()) },
            { title: "", hint: "of all that is selected", width: "68px", number: true, order: null,
                cell: (row) => share(row.total) },
            ...sureColumns(this.unit(), this.hasHalf),
        ];
    }

    /** @returns {import("./table.js").Column<FunctionRow>[]} */
    changeColumns() {
        const text = (/** @type {number} */ amount) => figureText(amount, this.unit());

        return [
            { title: "function", width: "minmax(180px, 1fr)", order: (row) => row.name,
                cell: (row) => this.nameCell(row) },
            { title: "A", className: "side-a", width: "104px", number: true,
                order: (row) => row.against?.total ?? 0,
                cell: (row) => text(row.against?.total ?? 0) },
            { title: "B", className: "side-b", width: "104px", number: true,
                order: (row) => row.total, cell: (row) => text(row.total) },
            { title: "change", hint: "of total, from A to B; grey where that may be chance",
                width: "112px", number: true, order: (row) => row.against?.change ?? 0,
                cell: (row) => this.changeCell(row) },
            { title: "\u00b1 noise", hint: "95 of 100 changes by chance are less", width: "96px",
                number: true, order: (row) => row.against?.noise ?? 0,
                cell: (row) => text(row.against?.noise ?? 0) },
        ];
    }

    /** @param {FunctionRow} row */
    changeCell(row) {
        const change = row.against?.change ?? 0, noise = row.against?.noise ?? 0;

        const className = Math.abs(change) <= noise ? "faint" : change > 0 ? "more" : "less";

        return element("span", { className },
            withPlus(change, this.unit() === "samples" ? numberText(change)
                : figureText(change, this.unit())));
    }

    unit() {
        return this.weights?.unit ?? "samples";
    }

    /** Show the callers of a function below the table. @param {FunctionRow} row */
    tell(row) {
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
