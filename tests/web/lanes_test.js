// SPDX-License-Identifier: Apache-2.0
/* The lanes below the heatmap. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { makeLanes } from "../../web/analysis/lanes.js";
import { laneText } from "../../web/view/lane_draw.js";
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

test("a long recording has wide bins", () => {
    const hours = 10 * 3600000;
    const recording = makeRecording([{ time: 5, msgq: 1 }, { time: hours - 1, msgq: 4 }],
        [{ from: 0, to: hours, frequency: 100 }]);
    const { binMs, count, parts: [{ values }] } = lane(recording, "longest queue");

    assert.deepEqual([binMs, count, values[0], values[count - 1]], [30000, 1200, 1, 4]);
});
