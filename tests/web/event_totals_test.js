// SPDX-License-Identifier: Apache-2.0
/* The totals of the tabs of events. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { eventTotals } from "../../web/analysis/event_totals.js";
import { makeRecording } from "./made_recording.js";

const SAMPLES = [{ time: 10, value: 5 }, { time: 20, value: 3, event: "gc" },
    { time: 1500, value: 2 }, { time: 1600, value: 7, event: "gc" }];
const PARTS = [{ from: 0, to: 1000, frequency: 0 }, { from: 1500, to: 2500, frequency: 0 }];

test("each event has its total in each part of the recording", () => {
    assert.deepEqual(eventTotals(makeRecording(SAMPLES, PARTS)).map(({ event, sums }) =>
        [event, sums]), [["cpu", [5, 2]], ["gc", [3, 7]]]);
});

test("the share of an event is that of its windows, else of the recorder", () => {
    const recording = makeRecording(SAMPLES);

    recording.spans = [Float64Array.of(0, 8000), null, Float64Array.of(0, 250, 500, 750)];
    assert.deepEqual(eventTotals(recording).map(({ shares }) => shares), [[0.8], [0.05]]);
});

test("an event whose probes were never attached was not seen", () => {
    const recording = makeRecording(SAMPLES);

    recording.spans = [null, null, Float64Array.of()];
    assert.deepEqual(eventTotals(recording).map(({ shares }) => shares), [[1], [0]]);
});

test("an event is not seen while the recorder stands still", () => {
    const recording = makeRecording(SAMPLES);

    recording.spans = [Float64Array.of(0, 8000), Float64Array.of(0, 5000, 7000, 10000), null];
    assert.deepEqual(eventTotals(recording).map(({ shares }) => shares), [[0.6], [0.8]]);
});

test("each part of a comparison has its own interval and share", () => {
    const recording = makeRecording(SAMPLES, PARTS), [, , gc] = recording.events;
    const summary = { hits: 40, lost: 0, spanNs: 1000, coveredNs: 250, windows: 5, sums: [12],
        errors: [2] };

    recording.header.compares = true;
    recording.spans = [Float64Array.of(0, 900, 1500, 2000), null, Float64Array.of(0, 250)];
    gc.summaries = [summary, { ...summary, coveredNs: 2, errors: [null] }];
    const [cpu, { counted, shares }] = eventTotals(recording);

    assert.deepEqual([cpu.counted, cpu.shares], [[null, null], [0.9, 0.5]]);
    assert.deepEqual([counted.map(({ half }) => half), shares], [[3.92, NaN], [0.25, 0.002]]);
});
