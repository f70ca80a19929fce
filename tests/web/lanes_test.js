// SPDX-License-Identifier: Apache-2.0
/* The lanes below the heatmap. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { makeLanes } from "../../web/analysis/lanes.js";
import { laneText, markText } from "../../web/view/lane_draw.js";
import { markAt, placedMarks } from "../../web/view/lane_marks.js";
import { makeRecording } from "./made_recording.js";

const PARTS = [{ from: 0, to: 2000, frequency: 100 }];
const lanes = (recording) => [...makeLanes(recording)].filter((lane) => lane !== null);
const lane = (recording, name) => lanes(recording).find((made) => made.name === name);

/** Rounded values of the bins that are not 0, by index. */
const filled = (values) => Object.fromEntries([...values].map((value, i) =>
    [i, Math.round(value * 1e6) / 1e6]).filter(([, value]) => value));

test("there are only lanes for which the recording has data", () => {
    assert.deepEqual(lanes(makeRecording([{ event: "gc", time: 5, value: 0 }], PARTS)), []);
});

test("the schedulers' CPU time is a share of what all of them have, by what they do", () => {
    const cpu = { event: "cpu", thread: 1, value: 10e6 };
    const recording = makeRecording([{ ...cpu, time: 0 }, { ...cpu, time: 50, status: "blocked" },
        { ...cpu, time: 99, activity: 1 }, { ...cpu, time: 100, activity: 2 }, { ...cpu, time: 1999 },
        { ...cpu, time: 1999, thread: 0 }], PARTS);

    recording.header.statuses = recording.header.statuses.with(-1, "garbage_collecting");
    recording.threads.kind = Uint8Array.of(0, 1);
    recording.targets[0].schedulers = 0;
    recording.targets[1].schedulers = 2;
    const { binMs, most, parts } = lane(recording, "schedulers");

    assert.deepEqual([binMs, most], [100, 1]);
    assert.deepEqual(parts.map(({ name, values }) => [name, filled(values)]), [
        ["processes", { 0: 0.05, 19: 0.05 }], ["garbage collection", { 0: 0.05 }],
        ["other work", { 0: 0.05 }], ["busy waiting", { 1: 0.05 }]]);
    assert.equal(laneText(lane(recording, "schedulers"), 120), "schedulers: busy waiting 5.0 %");
});

test("memory is the sum of the VMs', each from its readings on", () => {
    const recording = makeRecording([], PARTS);
    const series = (target, times, values, of = 0) => ({ target, name: "rss", unit: "bytes", of, id: 0,
        owner: 0, times: Float64Array.from(times), values: Float64Array.from(values) });

    recording.nodeMetrics = [series(1, [100, 1000], [50, 70]), series(2, [0], [5]),
        series(2, [0], [999], 1)];
    const { parts: [{ values }], most, binMs } = lane(recording, "memory");

    assert.deepEqual([values[0], values[1000 / binMs - 1], values[1000 / binMs], most],
        [55, 55, 75, 75]);
});

test("queues and pauses have the highest value of each bin", () => {
    const recording = makeRecording([{ event: "gc", time: 10, value: 3e6, msgq: 7 },
        { event: "gc", time: 12, value: 2e6, msgq: 9 }, { event: "cpu", time: 1600, value: 9e9, msgq: 2 },
        { event: "cpu", time: 1700 }, { event: "gc", time: 1800, value: 4e6 }], PARTS);

    recording.events.find(({ name }) => name === "gc").values.push({ name: "count", unit: "count" });
    recording.samples.value = (index) => Float64Array.from(index ? [3, 1, 0, 0, 0]
        : [3e6, 2e6, 9e9, 1, 4e6]);
    assert.deepEqual(filled(lane(recording, "longest queue").parts[0].values), { 0: 9, 3: 2 });
    assert.deepEqual(filled(lane(recording, "longest GC pause").parts[0].values), { 0: 2e6 });
});

/** A recording of collections {time, pause in ms, ...}. */
function collections(samples, parts = PARTS) {
    const recording = makeRecording(samples.map((sample) => ({ event: "gc", ...sample })), parts);

    recording.events[1].values.push({ name: "count", unit: "count" });
    recording.samples.value = (index) => Float64Array.from(samples, ({ pause }) => (index ? 1 : pause * 1e6));
    return recording;
}

test("a mark of a collection says its process and kind, and has the time that it took", () => {
    const recording = collections([{ time: 130, pause: 95, process: "cart", old: 0, thread: 1 },
        { time: 131, pause: 3, process: "cart", old: 5 }, { time: 300, pause: 2, process: "shop", old: 7 },
        { time: 400, pause: 1, process: "shop" }]);

    recording.threads.kind = Uint8Array.of(1, 2);
    const { form, most, marks, ...pauses } = lane(recording, "longest GC pause");

    assert.deepEqual([form, most], ["marks", 95e6]);
    assert.deepEqual(marks, [
        { time: 130, value: 95e6, text: "cart <0.4.0>, major on a dirty scheduler",
            range: { from: 20, to: 140 } },
        { time: 300, value: 2e6, text: "shop <0.4.0>, minor", range: { from: 280, to: 320 } },
        { time: 400, value: 1e6, text: "shop <0.4.0>", range: { from: 380, to: 420 } }]);
    assert.equal(markText(pauses, marks[0]),
        "GC pause of 95.0 ms: cart <0.4.0>, major on a dirty scheduler");
});

test("the highest mark in a few pixels is drawn, and found at the pointer", () => {
    const pauses = lane(collections([{ time: 0, pause: 1 }, { time: 20, pause: 3 }, { time: 40, pause: 2 },
        { time: 1000, pause: 1 }, { time: 1060, pause: 2 }, { time: 1900, pause: 9 }]), "longest GC pause");
    const scene = { cells: { start: 0, columnMs: 1000 }, columnWidth: 64, left: 0, width: 100 };
    const timesOf = (placed) => placed.map(({ mark }) => mark.time);

    assert.deepEqual(timesOf(placedMarks(pauses, scene)), [20, 1000, 1060]);
    assert.deepEqual(timesOf(placedMarks(pauses, { ...scene, left: 4 })), [1000, 1060]);
    assert.deepEqual(timesOf(placedMarks(pauses, { ...scene, left: 60 })), [1000, 1060, 1900]);
    assert.equal(markAt(pauses, scene, 60).time, 1000);
    assert.equal(markAt(pauses, scene, 40), undefined);
});

test("a long recording has wide bins", () => {
    const hours = 10 * 3600000;
    const recording = makeRecording([{ time: 5, msgq: 1 }, { time: hours - 1, msgq: 4 }],
        [{ from: 0, to: hours, frequency: 100 }]);
    const { binMs, count, parts: [{ values }] } = lane(recording, "longest queue");

    assert.deepEqual([binMs, count, values[0], values[count - 1]], [30000, 1200, 1, 4]);
});
