// SPDX-License-Identifier: Apache-2.0
/* The table of traces, and samples selected by trace. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { pickedWith } from "../../web/view/picked.js";
import { restTexts } from "../../web/view/trace_table.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const [A, B, C] = ["a", "b", "c"].map((digit) => digit.repeat(32));
const SAMPLES = [
    { time: 0, process: "cart", stack: "a", value: 5, trace: A },
    { time: 10, process: "cart", stack: "b", value: 2, trace: B },
    { time: 20, process: "user", stack: "a", value: 9, trace: A },
    { time: 30, process: "user", stack: "a", value: 20 },
    { time: 40, process: "user", stack: "c", value: 4, trace: C },
    { time: 95, process: "cart", event: "gc", stack: "b", value: 7, trace: B },
];
const model = (samples = SAMPLES) => new Model(makeRecording(samples, undefined, [A, B]));

test("a row of a trace has its weight, and the process with most of it", () => {
    const { rows, without, notListed } = model().traces(CHOICE);

    assert.deepEqual(rows.map(({ trace, name, pid, others, total, samples }) =>
        [trace, name, pid, others, total, samples]),
    [[A, "user", "<0.4.0>", 1, 14, 2], [B, "cart", "<0.4.0>", 0, 2, 1]]);
    assert.deepEqual([without, notListed], [20, 4]);
    assert.deepEqual([rows[0].spark[0], rows[0].spark[47]], [5, 0]);
});

test("a selected trace has its samples of each event, and the table keeps the others", () => {
    const made = model(), { samples: { event } } = made.recording;
    const ofB = { ...CHOICE, traces: [B] };

    assert.deepEqual([...made.samples(ofB)].map((sample) => [sample, event[sample]]),
        [[1, 1], [5, 2]]);
    assert.deepEqual([...made.samples({ ...CHOICE, traces: [A] })], [0, 2]);
    assert.deepEqual([...made.samples({ ...CHOICE, traces: [A, B], processes: [1] })], [0, 1, 5]);
    assert.equal(made.whole(ofB), 2);
    assert.equal(made.traces(ofB), made.traces(CHOICE));
    assert.deepEqual(made.processes(ofB).map(({ name, total }) => [name, total]), [["cart", 2]]);
    assert.deepEqual(made.traces({ ...ofB, event: "gc" }).rows.map(({ trace, total }) =>
        [trace, total]), [[B, 7]]);
});

test("a hit with two samples counts once in its trace", () => {
    const hit = { event: "sched", process: "cart", stack: "a", trace: A };
    const { rows } = model([hit, { ...hit, ofHit: true }, { ...hit, time: 5 }]).traces(CHOICE);

    assert.deepEqual(rows.map(({ samples, total }) => [samples, total]), [[2, 3]]);
});

test("a trace of samples without a process has no name", () => {
    const { rows } = model([{ stack: "a", value: 3, trace: A }]).traces(CHOICE);

    assert.deepEqual(rows.map(({ name, pid, others, total }) => [name, pid, others, total]),
        [["", "", 0, 3]]);
});

test("the rest of the total is named below the table", () => {
    assert.deepEqual(restTexts({ rows: [], without: 0, notListed: 0 }, 0, 35), []);
    const [none, others] = restTexts({ rows: [], without: 20, notListed: 4 }, 1234, 40);

    assert.match(none, /^50.0 % of the total is in no trace\.$/);
    assert.match(others, /^1,234 traces with fewer samples are not listed: 10.0 % of the total\. .*--trace ID/);
});

test("Ctrl adds a row to the picked ones, or removes it", () => {
    assert.deepEqual([pickedWith([], A, false), pickedWith([A], A, false), pickedWith([A, B], A, false),
        pickedWith([A], B, true), pickedWith([A, B], A, true)], [[A], [], [A], [A, B], [B]]);
});
