// SPDX-License-Identifier: Apache-2.0
/* The table of processes. Picking one selects its samples; with Ctrl it is added or removed. */
import { delayContent } from "#view/delay_text";
import { element, fill } from "#view/dom";
import { amountText, changeText, numberText, percentText } from "#view/number_text";
import { pickedWith } from "#view/picked";
import { SPARK_COLUMN, sparkline } from "#view/sparkline";
import { sureColumns, totalCell } from "#view/sure_columns";
import { Table } from "#view/table";

/** @typedef {import("../types.js").ProcessRow} ProcessRow */
/** @typedef {import("../types.js").Weights} Weights */

export class ProcessTable {
    /**
     * @param {(processes: number[]) => void} onpick
     * @param {(process: number) => void} onshow show what a process ran
     * @param {string[]} statuses names by number
     */
    constructor(onpick, onshow, statuses) {
        this.onshow = onshow;
        this.statuses = statuses;
        /** @type {number[]} */
        this.picked = [];
        this.table = new Table("Processes", {
            key: (row) => String(row.process), text: (row) => processText(row),
            onpick: (row, more) => onpick(pickedWith(this.picked, row.process, more)), onfocus: () => {},
        });
        /** @type {string | null} */
        this.kind = null; /* of the columns */
        this.hasHalf = false;
        this.delays = element("div", { className: "foot", "aria-live": "polite" });
        this.element = element("div", { className: "table-with-foot" },
            this.table.element, this.delays);
    }

    /**
     * @param {ProcessRow[]} rows
     * @param {Weights} weights
     * @param {number} whole the weight that is 100 %
     * @param {number[]} picked
     * @param {boolean} hasHalf totals have intervals
     * @param {import("../types.js").Delays | null} delays of the picked processes
     */
    show(rows, weights, whole, picked, hasHalf, delays) {
        const kind = JSON.stringify([weights.unit === "samples", hasHalf]);

        this.weights = weights;
        this.hasHalf = hasHalf;
        if (kind !== this.kind) {
            this.kind = kind;
            this.table.setColumns(this.columns(), 1);
        }
        this.whole = whole;
        this.picked = picked;
        this.table.show(rows, new Set(picked.map(String)));
        fill(this.delays, ...delays ? delayContent(delays, this.namesOf(picked), this.onshow) : []);
    }

    /** @param {number[]} picked */
    namesOf(picked) {
        return this.table.all.filter(({ process }) => picked.includes(process))
            .map(({ name }) => name).join(", ");
    }

    /** @returns {import("./table.js").Column<ProcessRow>[]} */
    columns() {
        const known = (/** @type {number} */ number, /** @type {string} */ text) =>
            (Number.isNaN(number) ? "" : text);

        return [
            { title: "process", width: "minmax(220px, 1fr)", order: (row) => row.name,
                cell: (row) => processCell(row) },
            { title: "total", hint: "of the chosen weight", width: "116px", number: true,
                order: (row) => row.total,
                cell: (row) => totalCell(row, this.weights?.unit ?? "samples") },
            { title: "", hint: "share of the selected total", width: "72px",
                number: true, order: null, cell: (row) => percentText(row.total, this.whole ?? 0) },
            ...sureColumns(this.weights?.unit ?? "samples", this.hasHalf),
            { title: "growth", hint: "of memory and binaries, from its first to its newest sample in "
                + "the selected time", width: "92px", number: true, order: (row) => row.growth,
                cell: (row) => known(row.growth,
                    row.growth ? changeText(row.growth, "bytes") : "") },
            { title: "memory", hint: "at its newest sample", width: "92px", number: true,
                order: (row) => row.memory,
                cell: (row) => known(row.memory, amountText(row.memory, "bytes")) },
            { title: "queue", hint: "messages, at its newest sample", width: "80px", number: true,
                order: (row) => row.msgq, cell: (row) => known(row.msgq, numberText(row.msgq)) },
            { title: "status", hint: "shares of its samples", width: "62px", order: null,
                cell: (row) => this.statusBar(row) },
            { title: "time", hint: "the total over time", width: SPARK_COLUMN,
                order: null, cell: (row) => sparkline(row.spark) },
            { title: "CPU", width: "78px", number: true, order: (row) => row.cpuNs,
                cell: (row) => (row.cpuNs ? amountText(row.cpuNs, "ns") : "") },
            { title: "reductions", width: "116px", number: true, order: (row) => row.reductions,
                cell: (row) => known(row.reductions, numberText(row.reductions)) },
        ];
    }

    /** @param {ProcessRow} row */
    statusBar(row) {
        const bar = element("span", { className: "shares" });
        /** @type {string[]} */
        const told = [];

        row.statuses.forEach((share, status) => {
            const part = element("i", { className: `status-${status}` });

            if (!(share > 0))
                return;
            part.style.flexGrow = String(share);
            bar.append(part);
            told.push(`${this.statuses[status]} ${percentText(share, 1)}`);
        });
        bar.title = told.join(", ") || "not seen";
        bar.setAttribute("role", "img");
        bar.setAttribute("aria-label", bar.title);
        return bar;
    }
}

/**
 * A process in a cell of a table, and a text behind it.
 *
 * @param {import("#analysis/process_names").ProcessName} process
 * @param {string} [more]
 */
export function processCell(process, more = "") {
    const { name, pid, node } = process;

    return element("span", { className: "process",
        title: [processText(process), more].filter(Boolean).join(" ") },
    element("span", { className: "name" }, name), element("span", { className: "faint" }, pid),
    element("span", { className: "name node faint" }, node),
    more ? element("span", { className: "faint" }, more) : null);
}

/** "worker <0.90.0> shop@web". @param {import("#analysis/process_names").ProcessName} process */
export function processText({ name, pid, node }) {
    return [name, pid, node].filter(Boolean).join(" ");
}
