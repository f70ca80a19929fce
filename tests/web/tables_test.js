// SPDX-License-Identifier: Apache-2.0
/* The cells of the heatmap, and the rows of both tables. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { poissonHalf } from "../../web/analysis/counted.js";
import { callCounts, functionOfEvent } from "../../web/analysis/call_counts.js";
import { functionCallers, functionRows } from "../../web/analysis/function_rows.js";
import { group } from "../../web/analysis/grouping.js";
import { nodeRows } from "../../web/analysis/node_rows.js";
import { cellMsOf, heatmapCells, markCells } from "../../web/analysis/heatmap_cells.js";
import { readPattern } from "../../web/analysis/pattern.js";
import { processName } from "../../web/analysis/process_names.js";
import { processRows } from "../../web/analysis/process_rows.js";
import { select } from "../../web/analysis/selection.js";
import { weigh } from "../../web/analysis/weights.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const given = (recording, changes = {}) => {
    const choice = { ...CHOICE, ...changes }, weights = weigh(recording, choice);
    const roots = group(recording, choice, weights);
    const samples = (range) => select(recording, choice, roots, range);

    return { recording, choice, weights, roots, samples: samples(choice.range),
        against: choice.against && samples(choice.against) };
};
const NONE = [null, null]; /* no intervals */
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${a} is not ${b}`);
const row = (rows, name) => rows.find((candidate) => candidate.name === name);

const FRAMES = [
    { time: 10, stack: "a;b;c", value: 5 }, { time: 20, stack: "a;b;a;c", value: 3 },
    { time: 1030, stack: "d;c", value: 10 }, { time: 1510, stack: "a;b", value: 2 },
];

test("heatmap cells between recordings are gaps", () => {
    const parts = [{ from: 0, to: 1100, frequency: 0 }, { from: 1500, to: 2000, frequency: 0 }];
    const { recording, choice, weights, roots, samples } = given(makeRecording(FRAMES, parts));
    const cells = heatmapCells(recording, choice, weights, samples, 20);

    assert.deepEqual([cells.columns, cells.rows, cells.start, cells.least, cells.greatest],
        [2, 50, 0, 0, 10]);
    assert.deepEqual([0, 1, 2, 51, 75].map((cell) => cells.of[cell]), [5, 3, 0, 10, 2]);
    assert.deepEqual([54, 55, 74, 75].map((cell) => Number.isNaN(cells.of[cell])),
        [false, true, true, false]);
    const marks = markCells(recording, CHOICE, cells, weights, roots, samples, readPattern("^b$"));

    assert.deepEqual([...marks.keys()].filter((cell) => marks[cell]), [0, 1, 75]);
});

test("events of calls count those of the functions that frames show", () => {
    assert.deepEqual(["call:shop:price/2", "call:Shop.Cart.add/1", "bif:erlang:md5/1",
        "nif:Elixir.Shop.Nif:add/2", "cpu", "probe:erts_schedule"].map(functionOfEvent),
    ["shop:price/2", "Shop.Cart.add/1", "erlang:md5/1", "Shop.Nif.add/2", "", ""]);
});

test("functions have the calls of the selected samples, exact or with an interval", () => {
    const recording = makeRecording([{ stack: "a:b/1;c:d/2", value: 60 },
        { event: "call:c:d/2", stack: "c:d/2", value: 20, process: "p" },
        { event: "call:c:d/2", stack: "c:d/2", value: 10, process: "q" },
        { event: "call:a:b/1", stack: "a:b/1", value: 5, process: "p" }]);
    const summaryOf = (sum, error) => ({ sums: [sum], errors: [error] });
    const countsOf = (changes) => {
        const { choice, weights, samples } = given(recording, changes);

        return functionRows(recording, choice, weights, [samples, null], NONE)
            .map(({ name, total, calls }) => [name, total, calls]);
    };

    recording.events[2].summaries = [summaryOf(30, 0)];
    recording.events[3].summaries = [summaryOf(5, 2)];
    assert.deepEqual(countsOf({}), [["a:b/1", 60, { calls: 5, half: 3.92 }],
        ["c:d/2", 60, { calls: 30, half: 0 }]]);
    const ofP = Uint32Array.from([1]);

    assert.deepEqual([...callCounts(recording, ofP, 0)],
        [["c:d/2", { calls: 20, half: 0 }], ["a:b/1", { calls: 0, half: NaN }]]);
});

test("the darkest colours begin at the 99th percentile of the cells", () => {
    const values = Array.from({ length: 100 }, (_, i) => ({ time: 20 * i, value: i === 50 ? 1e6 : 1 + i }));
    const { recording, choice, weights, samples } = given(makeRecording(values));

    assert.equal(heatmapCells(recording, choice, weights, samples, 20).greatest, 100);
});

test("a cell of event wall is about as long as the time between sweeps", () => {
    const recording = makeRecording([{ event: "wall" }, { event: "gc" }]);
    const sizes = (period) => ["wall", "gc"].map((event, id) => {
        recording.spans[id + 1] = Float64Array.from({ length: 40 },
            (_, i) => (i >> 1) * period + i % 2);
        return cellMsOf(recording, { ...CHOICE, event });
    });

    assert.deepEqual([10, 20, 51, 60, 3000].map(sizes),
        [[20, 20], [20, 20], [50, 20], [100, 20], [1000, 20]]);
});

test("the functions table counts a recursive function once", () => {
    const { recording, choice, weights, samples } = given(makeRecording(FRAMES));
    const rows = functionRows(recording, choice, weights, [samples, null], NONE);

    assert.deepEqual(rows.map(({ name, self, total, samples: count }) => [name, self, total, count])
        .sort(), [["a", 0, 10, 3], ["b", 2, 10, 3], ["c", 18, 18, 3], ["d", 0, 10, 1]]);
    assert.deepEqual(functionCallers(recording, choice, weights, [samples, null], row(rows, "c"))
        .map(({ name, total }) => [name, total]), [["d", 10], ["b", 5], ["a", 3]]);
    assert.deepEqual(functionCallers(recording, choice, weights, [samples, null], row(rows, "a"))
        .map(({ name, total }) => [name, total]), [["", 10]]);
});

test("functions of two ranges have their change and its noise", () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ time: i * 10,
        stack: i < 100 ? "same" : i < 190 ? "same" : "fresh", value: 2 }));
    const { recording, choice, weights, samples, against } = given(makeRecording(many),
        { range: { from: 1000, to: 2000 }, against: { from: 0, to: 1000 } });
    const rows = functionRows(recording, choice, weights, [samples, against], NONE);
    const same = row(rows, "same").against, fresh = row(rows, "fresh").against;

    assert.deepEqual([same.total, same.change, fresh.total, fresh.change], [200, -20, 0, 20]);
    near(same.noise, Math.hypot(2 * poissonHalf(100), 2 * poissonHalf(90)));
    near(fresh.noise, Math.hypot(2 * poissonHalf(10), 2 * poissonHalf(0)));
    assert.ok(Math.abs(same.change) < same.noise && fresh.change > fresh.noise);
});

test("heavy samples have more noise than light ones", () => {
    const values = [1, 3, 2, 2];
    const { recording, choice, weights, samples, against } = given(makeRecording(values.map(
        (value, i) => ({ time: i * 1000, stack: "a", value }))),
        { range: { from: 0, to: 2000 }, against: { from: 2000, to: 4000 } });
    const noiseOf = (by) => row(functionRows(recording, choice, by, [samples, against], NONE), "a")
        .against.noise;

    /* Two samples with weights 1 and 3 are as certain as 1.6 samples of equal weight. */
    near(noiseOf(weights), Math.hypot(4 * poissonHalf(1.6) / 1.6, 4 * poissonHalf(2) / 2));
    near(noiseOf({ ...weights, unit: "samples" }), Math.hypot(poissonHalf(4), poissonHalf(4)));
});

test("a hit with two samples counts once in both tables", () => {
    const hit = (time, ...values) => values.map((value, i) => ({ time, event: "sched", value,
        process: "cart", stack: i ? "a;[runnable]" : "a;[waiting]", ofHit: i > 0 }));
    const { recording, choice, weights, samples } = given(makeRecording([...hit(1, 5, 2),
        ...hit(2, 4, 1), ...hit(1001, 3), ...hit(1002, 0, 7)]));
    const rows = functionRows(recording, choice, weights, [samples, null], NONE);

    assert.deepEqual(rows.map(({ name, total, samples: count }) => [name, total, count]).sort(),
        [["[runnable]", 10, 3], ["[waiting]", 12, 3], ["a", 22, 4]]);
    const [cart] = processRows(recording, weights, samples);

    assert.deepEqual([cart.total, cart.samples], [22, 4]);
});

test("a hit weighs 1 sample, at the first of its samples whose status is selected", () => {
    const recording = makeRecording([
        { time: 1, event: "sched", status: "waiting", process: "cart", stack: "a;[waiting]" },
        { time: 1, event: "sched", status: "runnable", process: "cart", stack: "a;[runnable]", ofHit: true },
        { time: 2, event: "sched", status: "runnable", process: "cart", stack: "a;[runnable]" }]);
    const totalOf = (statuses) => {
        const { choice, weights, samples } = given(recording, { weight: "samples", statuses });

        return row(functionRows(recording, choice, weights, [samples, null], NONE), "a").total;
    };

    assert.deepEqual([[], [2], [3]].map(totalOf), [2, 2, 1]);
});

test("the noise of hits with two samples is that of their sums", () => {
    const hit = (time) => [3, 4].map((value, i) => ({ time, event: "sched", value, process: "cart",
        stack: i ? "a;[runnable]" : "a;[waiting]", ofHit: i > 0 }));
    const { recording, choice, weights, samples, against } = given(makeRecording(
        [...hit(1), ...hit(1001)]), { range: { from: 1000, to: 2000 }, against: { from: 0, to: 1000 } });
    const rows = functionRows(recording, choice, weights, [samples, against], NONE);

    near(row(rows, "a").against.noise, Math.hypot(7 * poissonHalf(1), 7 * poissonHalf(1)));
});

test("the processes table sums all events of a process", () => {
    const { recording, weights, samples } = given(makeRecording([
        { time: 0, process: "cart", stack: "a", value: 5, reductions: 100, msgq: 3, memory: 900 },
        { time: 10, process: "cart", event: "wall", status: "waiting", value: 30, reductions: 150 },
        { time: 20, process: "user", event: "wall", status: "running", value: 20, msgq: 0 },
        { time: 90, process: "cart", event: "wall", status: "running", value: 10, msgq: 7 },
        { time: 95, stack: "idle", value: 50 },
    ]));
    const rows = processRows(recording, weights, samples), cart = row(rows, "cart");

    assert.equal(rows.length, 2);
    assert.deepEqual([cart.pid, cart.total, cart.samples, cart.cpuNs, cart.reductions, cart.msgq,
        cart.memory], ["<0.4.0>", 5, 1, 5, 50, 7, 900]);
    assert.deepEqual([...cart.statuses], [0, 0.25, 0, 0.75, 0, 0]);
    assert.equal(cart.spark[0], 5);
    assert.deepEqual([row(rows, "user").total, row(rows, "user").memory], [0, NaN]);
});

test("a process has the same name everywhere", () => {
    const recording = makeRecording([{ process: "cart", stack: "shop:buy/1;lists:map/2" },
        { process: "user", stack: "io:format/1" }]);
    const { processes: { name }, targets } = recording;

    assert.deepEqual(processName(recording, 1), { name: "cart", pid: "<0.4.0>", node: "" });
    name[1] = 0; /* only its stack can name the process now */
    targets.push({ node: "shop@db", host: "", pid: 101 });
    assert.deepEqual(processName(recording, 1),
        { name: "shop:buy/1", pid: "<0.4.0>", node: "shop@web" });
    const { weights, samples } = given(recording);

    assert.deepEqual(processRows(recording, weights, samples).map((made) => made.name),
        ["shop:buy/1", "user"]);
});

test("a label that is a detail is shown beside the pid and names no group", () => {
    const recording = makeRecording([{ process: "cart", stack: "shop:buy/1" },
        { process: "user", stack: "shop:buy/1" }]);
    const { processes: { name, label, labelIsDetail }, strings } = recording;
    const roots = (groupBy) => {
        const { texts, text, of } = given(recording, { groupBy }).roots;

        return [0, 1].map((sample) => texts[text[of[sample]]]);
    };

    for (const process of [1, 2]) {
        name[process] = 0;
        label[process] = strings.push(`peer ${process}`) - 1;
    }
    labelIsDetail[2] = 1;
    assert.deepEqual(roots(["name"]), ["peer 1", "shop:buy/1"]);
    assert.deepEqual(roots(["pid"]), ["peer 1 <0.4.0>", "peer 2 <0.4.0>"]);
    assert.deepEqual([1, 2].map((process) => processName(recording, process).name),
        ["peer 1", "peer 2"]);
});

test("metrics of the VM have their change in the selected time", () => {
    const recording = makeRecording([{ process: "cart", stack: "a" }]);
    const owner = 1, of = recording.strings.push("cache") - 1;
    const series = { target: 1, unit: "bytes", of: 0, id: 0, owner: 0,
        times: Float64Array.of(0, 2000, 5000), values: Float64Array.of(10, 70, 30) };
    const shown = (range) => nodeRows(recording, range).map((made) =>
        [made.name, made.start, made.end, made.change, made.highest]);

    recording.nodeMetrics = [{ ...series, name: "rss" },
        { ...series, name: "table_bytes", of, id: of, owner },
        { ...series, name: "blocks", of, times: Float64Array.of(4000), values: Float64Array.of(5) }];
    assert.deepEqual(shown(null), [["RSS", 10, 30, 20, 70],
        ["table cache, <0.4.0> cart", 10, 30, 20, 70], ["blocks of cache", 5, 5, 0, 5]]);
    assert.deepEqual(shown({ from: 2500, to: 4900 })[0], ["RSS", 70, 70, 0, 70]);
    const [{ spark }] = nodeRows(recording, { from: 0, to: 4000 });

    assert.deepEqual([spark[0], spark[23], spark[24], spark[47]], [10, 10, 70, 70]);
});
