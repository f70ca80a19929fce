// SPDX-License-Identifier: Apache-2.0
/* The table of traces. Picking one selects its samples; with Ctrl it is added or removed. */
import { element, fill } from "#view/dom";
import { numberText, percentText } from "#view/number_text";
import { pickedWith } from "#view/picked";
import { processCell, processText } from "#view/process_table";
import { SPARK_COLUMN, sparkline } from "#view/sparkline";
import { sureColumns, totalCell } from "#view/sure_columns";
import { Table } from "#view/table";

/** @typedef {import("../types.js").TraceRow} TraceRow */
/** @typedef {import("../types.js").TraceRows} TraceRows */
/** @typedef {import("./cost_columns.js").CostScale} CostScale */

export class TraceTable {
    /**
     * @param {(traces: string[]) => void} onpick
     * @param {number} notListed how many traces of the recording have no row
     */
    constructor(onpick, notListed) {
        this.notListed = notListed;
        /** @type {string[]} */
        this.picked = [];
        /** @type {Table<TraceRow>} */
        this.table = new Table("Traces", {
            key: (row) => row.trace, text: (row) => `${row.trace} ${processText(row)}`,
            onpick: (row, more) => onpick(pickedWith(this.picked, row.trace, more)),
            onfocus: () => {},
        });
        /** @type {string | null} */
        this.kind = null; /* of the columns */
        this.rest = element("div", { className: "foot", "aria-live": "polite" });
        this.element = element("div", { className: "table-with-foot" }, this.table.element,
            this.rest);
    }

    /**
     * @param {TraceRows} traces
     * @param {Pick<CostScale, "unit" | "total" | "hasHalf">} scale `total`: the weight that is 100 %
     * @param {string[]} picked
     */
    show(traces, { unit, total, hasHalf }, picked) {
        const kind = JSON.stringify([unit, hasHalf]);

        this.total = total;
        this.picked = picked;
        if (kind !== this.kind) {
            this.kind = kind;
            this.table.setColumns(this.columns(unit, hasHalf), 2);
        }
        this.table.show(traces.rows, new Set(picked));
        fill(this.rest, ...restTexts(traces, this.notListed, total).map((text) =>
            element("div", {}, text)));
    }

    /**
     * @param {CostScale["unit"]} unit
     * @param {boolean} hasHalf
     * @returns {import("./table.js").Column<TraceRow>[]}
     */
    columns(unit, hasHalf) {
        return [
            { title: "trace", width: "290px", order: (row) => row.trace,
                cell: (row) => element("code", { className: "name", title: row.trace }, row.trace) },
            { title: "process", hint: "with most of the trace's total",
                width: "minmax(260px, 1fr)", order: (row) => row.name,
                cell: (row) => processCell(row, othersText(row.others)) },
            { title: "total", hint: "of the chosen weight", width: "116px", number: true,
                order: (row) => row.total, cell: (row) => totalCell(row, unit) },
            { title: "", hint: "share of the selected total", width: "72px", number: true,
                order: null, cell: (row) => percentText(row.total, this.total ?? 0) },
            ...sureColumns(unit, hasHalf),
            { title: "time", hint: "the total over time", width: SPARK_COLUMN, order: null,
                cell: (row) => sparkline(row.spark) },
        ];
    }
}

/** @param {number} others */
const othersText = (others) => (others ? `and ${numberText(others)} other${others === 1 ? "" : "s"}` : "");

/**
 * What the rows do not show.
 *
 * @param {TraceRows} traces
 * @param {number} count of traces that are not listed
 * @param {number} total
 */
export function restTexts({ without, notListed }, count, total) {
    const texts = [];

    if (without)
        texts.push(`${percentText(without, total)} of the total is in no trace.`);
    if (count)
        texts.push(`${numberText(count)} trace${count === 1 ? "" : "s"} with fewer samples `
            + `${count === 1 ? "is" : "are"} not listed: ${percentText(notListed, total)} of the total. `
            + "'beamflame report --trace ID' selects one of them.");
    return texts;
}
