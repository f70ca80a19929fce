// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of the table of VMs: each metric at the start and at the end of the selected time, its
 * change, and its highest value, as in src/output/summary/node_table.c.
 */
import { processName } from "#analysis/process_names";
import { targetText } from "#analysis/root_texts";
import { firstSince } from "#analysis/time_axis";

/** @typedef {import("../types").Recording} Recording */
/** @typedef {import("../types").NodeSeries} NodeSeries */
/** @typedef {import("../types").NodeRow} NodeRow */
/** @typedef {import("../types").Range} Range */

const SPARK_POINTS = 48;

/** @type {Record<string, string>} */
const WHOLES = {
    rss: "RSS", carriers: "carriers of all allocators", blocks: "blocks of all allocators",
    atoms: "atoms", processes: "processes", ports: "ports", tables: "ETS tables",
    table_bytes: "memory of ETS tables", table_objects: "objects in ETS tables",
    port_queue: "queues of ports",
};

/**
 * @param {Recording} recording
 * @param {Range | null} range null: the whole time
 * @returns {NodeRow[]}
 */
export function nodeRows(recording, range) {
    const { parts } = recording.header;
    const { from, to } = range ?? { from: parts[0].from, to: parts[parts.length - 1].to };

    return recording.nodeMetrics.map((series, index) => {
        const first = placeAt(series, from), last = placeAt(series, to);
        const values = series.values.subarray(first, last + 1);
        const start = series.values[first], end = series.values[last];

        return { index, ...named(recording, series), unit: series.unit, start, end,
            change: end - start, highest: values.reduce((a, b) => Math.max(a, b)),
            spark: sparkOf(series, from, to) };
    });
}

/**
 * The place of the reading that holds at a time; before the first reading, of the first.
 *
 * @param {NodeSeries} series
 * @param {number} time ms
 */
function placeAt({ times }, time) {
    return Math.max(0, firstSince(times, Math.floor(time) + 1) - 1); /* times are whole ms */
}

/**
 * Values at equal distances of time.
 *
 * @param {NodeSeries} series
 * @param {number} from
 * @param {number} to
 */
function sparkOf(series, from, to) {
    const step = (to - from) / SPARK_POINTS;

    return Float32Array.from({ length: SPARK_POINTS }, (_, i) =>
        series.values[placeAt(series, from + (i + 0.5) * step)]);
}

/**
 * "blocks of binary_alloc", "table cache, <0.85.0> cart"; and the node, if there are several.
 *
 * @param {Recording} recording
 * @param {NodeSeries} series
 */
function named(recording, series) {
    const { strings, targets } = recording;
    const node = targets.length > 2 ? targetText(recording, series.target) : "";
    const of = strings[series.of] || "?", id = strings[series.id];
    let name = `${series.name} of ${of}`;

    if (!series.of && !series.id)
        return { name: WHOLES[series.name] ?? series.name, node, id: "" };
    if (series.name === "table_bytes")
        name = `table ${of}`;
    else if (series.name === "table_objects")
        name = `objects in table ${of}`;
    else if (series.name === "port_queue")
        name = `queue of ${id} ${of}`;
    return { name: name + ownerText(recording, series.owner), node, id };
}

/**
 * @param {Recording} recording
 * @param {number} owner
 */
function ownerText(recording, owner) {
    if (!owner)
        return "";
    const { name, pid } = processName(recording, recording.processes.same[owner]);

    return `, ${[pid, name].filter(Boolean).join(" ")}`;
}
