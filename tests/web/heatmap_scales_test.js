// SPDX-License-Identifier: Apache-2.0
/* The scales of the heatmap, and the overview of a long recording. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { scaleOfView, scalesOf } from "../../web/analysis/heatmap_scales.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const MINUTE = 60000, HOUR = 60 * MINUTE;
const lasting = (to, samples = []) => makeRecording(samples, [{ from: 0, to, frequency: 0 }]);

/** Values of the cells that are not 0, by cell. */
const filled = ({ of }) => Object.fromEntries([...of.entries()].filter(([, value]) => value));

test("a recording has the scales of its length, and opens with one that shows it whole", () => {
    for (const [ms, scales, auto] of [[8000, ["second"], "second"], [10 * MINUTE, ["second"], "second"],
        [10 * MINUTE + 1, ["second", "minute"], "minute"], [HOUR, ["second", "minute"], "minute"],
        [6 * HOUR, ["second", "minute", "hour"], "minute"],
        [24 * HOUR, ["second", "minute", "hour"], "hour"],
        [9999 * HOUR, ["second", "minute", "hour"], "hour"]]) {
        const recording = lasting(ms);

        assert.deepEqual([scalesOf(recording), scaleOfView(recording, { scale: "auto" })],
            [scales, auto], `${ms} ms`);
    }
    assert.equal(scaleOfView(lasting(HOUR), { scale: "second" }), "second");
    assert.equal(scaleOfView(lasting(HOUR), { scale: "hour" }), "minute");
});

test("columns of a minute have cells of a second, those of an hour cells of a minute", () => {
    const model = new Model(lasting(2.5 * HOUR, [{ time: 0, value: 3 }, { time: 999, value: 4 },
        { time: MINUTE + 2000, value: 5 }, { time: HOUR + 2 * MINUTE, value: 6 }]));
    const minutes = model.cells(CHOICE, "minute"), hours = model.cells(CHOICE, "hour");

    assert.deepEqual([minutes.rows, minutes.columns, minutes.cellMs, minutes.columnMs],
        [60, 150, 1000, MINUTE]);
    assert.deepEqual(filled(minutes), { 0: 7, 62: 5, 3720: 6 });
    assert.deepEqual([hours.rows, hours.columns, hours.cellMs, hours.columnMs],
        [60, 3, MINUTE, HOUR]);
    assert.deepEqual(filled(hours), { 0: 7, 1: 5, 62: 6 });
    assert.deepEqual([149, 150].map((cell) => Number.isNaN(hours.of[cell])), [false, true]);
});

test("the overview has one row, of about as many bins as a window has pixels", () => {
    const model = new Model(lasting(HOUR, [{ time: 10, value: 2 }, { time: 2999, value: 1 },
        { time: HOUR - 1, value: 4 }]));
    const overview = model.overview(CHOICE);

    assert.deepEqual([overview.rows, overview.columns, overview.columnMs], [1, 1200, 3000]);
    assert.deepEqual(filled(overview), { 0: 3, 1199: 4 });
});
