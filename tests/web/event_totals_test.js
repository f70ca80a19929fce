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
    assert.deepEqual(eventTotals(recording).map(({ share }) => share), [0.8, 0.05]);
});
