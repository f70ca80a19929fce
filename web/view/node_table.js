// SPDX-License-Identifier: Apache-2.0
/* The table of VMs: what has grown in the selected time. */
import { element } from "#view/dom";
import { changeText, figureText } from "#view/number_text";
import { SPARK_COLUMN, sparkline } from "#view/sparkline";
import { Table } from "#view/table";

/** @typedef {import("../types.js").NodeRow} NodeRow */

/** @type {import("./table.js").Column<NodeRow>[]} */
const COLUMNS = [
    { title: "metric", width: "minmax(200px, 1fr)", order: (row) => row.name,
        cell: (row) => element("span", { className: "process",
            title: [row.name, row.id, row.node].filter(Boolean).join(" ") },
        element("span", { className: "name" }, row.name),
        element("span", { className: "name node faint" }, row.node)) },
    { title: "change", hint: "in the selected time", width: "92px", number: true,
        order: (row) => Math.abs(row.change),
        cell: (row) => (row.change ? changeText(row.change, row.unit) : "") },
    { title: "start", width: "92px", number: true, order: (row) => row.start,
        cell: (row) => figureText(row.start, row.unit) },
    { title: "end", width: "92px", number: true, order: (row) => row.end,
        cell: (row) => figureText(row.end, row.unit) },
    { title: "highest", width: "92px", number: true, order: (row) => row.highest,
        cell: (row) => figureText(row.highest, row.unit) },
    { title: "time", hint: "the values over time", width: SPARK_COLUMN, order: null,
        cell: (row) => sparkline(row.spark) },
];

export class NodeTable {
    constructor() {
        this.table = new Table("VM", { key: (row) => String(row.index),
            text: (row) => [row.name, row.id, row.node].join(" "), onpick: () => {},
            onfocus: () => {} });
        this.table.setColumns(COLUMNS, 1);
        this.element = this.table.element;
    }

    /** @param {NodeRow[]} rows */
    show(rows) {
        this.table.show(rows, new Set());
    }
}
