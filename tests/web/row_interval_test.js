// SPDX-License-Identifier: Apache-2.0
/* Intervals of rows. Samples of one window are alike, so the expected values are those of clusters;
 * tests/e2e/html_test.py compares the intervals of real recordings with those of report. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { poissonHalf } from "../../web/analysis/counted.js";
import { Model } from "../../web/analysis/model.js";
import { isChance, rowIntervals } from "../../web/analysis/row_interval.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const EVENT = "gc", WINDOWS = 40;
const SUMMARY = { hits: 80, lost: 0, spanNs: 1e10, coveredNs: 1e8, windows: WINDOWS, sums: [8000],
    errors: [50] };

/** Two samples of 100 in each window: "a" and "b". More of them are in `more`. */
function recorded(more = [], summary = SUMMARY) {
    const samples = Array.from({ length: WINDOWS }, (_, i) => ["a", "b"].map((stack) =>
        ({ time: i * 250, event: EVENT, stack, value: 100, process: stack }))).flat();
    const recording = makeRecording([...samples, ...more]);

    recording.events[1].summaries = [summary];
    return new Model(recording);
}

const choose = (more) => ({ ...CHOICE, event: EVENT, ...more });
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${a} is not ${b}`);
const rowOf = (rows, name) => rows.find((row) => row.name === name);

test("a row of half of each window has half of the total's interval, and what chance gives", () => {
    const model = recorded(), choice = choose(), [tree] = model.trees(choice);
    const { half } = rowOf(model.functions(choice), "a");
    /* A share of 1/2 of 80 samples has a variance of 80 * 1/4. One of 100 hits was seen. */
    const variance = 80 / 4 * 100 ** 2 * (1 - 0.01), count = 4000 ** 2 / variance;

    near(half, Math.hypot(4000 * poissonHalf(count) / count, 98 / 2));
    near(rowOf(model.processes(choice), "a").half, half);
    assert.deepEqual(model.halves(choice, tree, 1), { total: half, self: half });
    assert.deepEqual(model.halves(choice, tree, 0), { total: 98, self: 0 });
});

test("a row in one window is less sure than one in all", () => {
    const once = Array.from({ length: 40 }, () =>
        ({ time: 9999, event: EVENT, stack: "once", value: 100, process: "once" }));
    const model = recorded(once, { ...SUMMARY, hits: 120, sums: [12000] });
    const { half: ofOnce } = rowOf(model.functions(choose()), "once");
    const { half: ofAll } = rowOf(model.functions(choose()), "a");

    /* Both have 4,000; "once" could as well have had none. */
    assert.ok(ofOnce > 2 * 4000 && ofAll < 4000, `${ofOnce}, ${ofAll}`);
});

/* The 97.5th percentile of Student's t with 4.9 degrees of freedom, from a table: 2.59. */
test("windows that differ make a row unsure, the more so the fewer they are", () => {
    const many = Array.from({ length: 800 }, (_, i) => ({ time: Math.floor(i / 100) * 250,
        event: EVENT, value: 10, stack: i % 100 < (i % 200 < 100 ? 70 : 30) ? "a" : "b" }));
    const recording = makeRecording(many);

    recording.events[1].summaries = [{ ...SUMMARY, hits: 800, windows: 8, errors: [0] }];
    const { half } = rowOf(new Model(recording).functions(choose()), "a");

    /* 700 or 300 of 1,000 in each window, where the share of all is 500. */
    const expected = 2.59 * Math.sqrt(8 * 200 ** 2 * 0.99 * 8 / 7);

    assert.ok(Math.abs(half / expected - 1) < 0.01, `${half} is not ${expected}`);
});

test("a function that calls itself, and its callers, count a sample once", () => {
    const model = recorded(), deep = recorded();

    deep.recording = makeRecording(Array.from({ length: 80 }, (_, i) => ({ event: EVENT, value: 100,
        time: (i >> 1) * 250, stack: i % 2 ? "c;a;d;a" : "c;b", process: "p" })));
    deep.recording.events[1].summaries = [SUMMARY];
    const rows = deep.functions(choose());

    near(rowOf(rows, "a").half, rowOf(model.functions(choose()), "a").half);
    near(rowOf(rows, "c").half, 98);
});

test("two parts of a hit are one sample with the sum of both", () => {
    const parted = Array.from({ length: WINDOWS }, (_, i) => ["p;x", "p;y", "b"].map((stack, part) =>
        ({ time: i * 250, event: EVENT, stack, value: [30, 70, 100][part], ofHit: part === 1,
            process: stack[0] }))).flat();
    const recording = makeRecording(parted);

    recording.events[1].summaries = [SUMMARY];
    const rows = new Model(recording).functions(choose());

    near(rowOf(rows, "p").half, rowOf(recorded().functions(choose()), "a").half);
});

test("a row may be chance if its interval contains 0, or is unknown with few samples", () => {
    const row = (total, half, samples) => isChance({ total, half, samples });

    assert.deepEqual([row(10, 10, 9), row(10, 9, 9), row(10, 0, 1), row(0, 0, 0), row(10, NaN, 4),
        row(10, NaN, 5)], [true, false, false, false, true, false]);
});

test("samples of attached probes are exact", () => {
    const exact = Array.from({ length: 50 }, () =>
        ({ time: 0, event: EVENT, stack: "sure", value: 10, exact: true, process: "sure" }));
    const all = makeRecording(exact), summary = { ...SUMMARY, windows: 0, coveredNs: 1e10, errors: [0] };

    all.events[1].summaries = [{ ...summary, hits: 50, sums: [500] }];
    assert.equal(rowOf(new Model(all).functions(choose()), "sure").half, 0);
    /* Beside windows, a hit that they missed stands for 100: up to 3.7 of them (rule of three). */
    const { half } = rowOf(recorded(exact).functions(choose()), "sure");

    near(half, poissonHalf(0) * 100);
    /* In the windows were no hits: the error of the total is that of its rows. */
    const quiet = makeRecording(exact);

    quiet.events[1].summaries = [{ ...SUMMARY, hits: 50, sums: [1000] }];
    assert.equal(rowOf(new Model(quiet).functions(choose()), "sure").half, 98);
});

test("where all hits were seen and some were sampled, only the sample is chance", () => {
    const model = recorded([], { ...SUMMARY, windows: 0, coveredNs: 1e10, errors: [0], hits: 8000 });
    const count = 4000 ** 2 / (80 / 4 * 100 ** 2);

    near(rowOf(model.functions(choose()), "a").half, 4000 * poissonHalf(count) / count);
});

test("the total of a part of the samples is as unsure as the part", () => {
    const model = recorded(), choice = choose({ include: "^a$" });
    const [{ half }] = model.functions(choice);

    assert.ok(half > 4000 * poissonHalf(40) / 40 * 0.99, String(half));
    assert.equal(model.halves(choice, model.trees(choice)[0], 0).total, half);
});

test("too few windows tell nothing, and events without totals have no interval", () => {
    const range = { from: 0, to: 500 };

    assert.ok(Number.isNaN(recorded().functions(choose({ range }))[0].half));
    for (const [summary, name] of [[null, EVENT], [SUMMARY, "cpu"]]) {
        const { recording } = recorded([], summary);

        recording.events[1].name = name;
        const model = new Model(recording), choice = choose({ event: name });

        assert.equal(rowIntervals(recording, model.weights(choice), model.sides(choice)[0], 0),
            null);
        assert.equal(rowOf(model.functions(choice), "a").half, 0);
    }
});

test("the intervals of rows of the tree are those of its nodes", () => {
    const deep = Array.from({ length: WINDOWS }, (_, i) => ({ time: i * 250 + 1, event: EVENT,
        stack: i % 3 ? "a;c;d" : "a;e", value: 50, process: "a" }));
    const model = recorded(deep), choice = choose(), [tree] = model.trees(choice);
    const nodes = [...Array(tree.count).keys()].filter((node) => node !== 2).reverse();

    assert.ok(tree.count > 5);
    assert.deepEqual([...model.totalHalves(choice, tree, nodes)],
        nodes.map((node) => model.halves(choice, tree, node).total));
    assert.equal(model.totalHalves({ ...choice, against: { from: 0, to: 9 } }, tree, nodes), null);
});
