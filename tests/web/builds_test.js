// SPDX-License-Identifier: Apache-2.0
/* Native functions without a name in a comparison of two recordings. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const A = { from: 0, to: 100 }, B = { from: 100, to: 200 };

/** [name, A, B, change] of the functions of two stacks, the first one recorded in A. */
function rowsOf(before, after, compares = true) {
    const recording = makeRecording([{ time: 50, stack: before }, { time: 150, stack: after }],
        [{ ...A, frequency: 0 }, { ...B, frequency: 0 }]);

    recording.header.compares = compares;
    return new Model(recording).functions({ ...CHOICE, range: B, against: A })
        .map(({ name, total, against }) => [name, against.total, total, against.change]).sort();
}

test("an offset is the same function in one build only", () => {
    assert.deepEqual(rowsOf("*m%1;*a+0x8%1", "*m%2;*a+0x8%2"),
        [["a+0x8", 0, 1, NaN], ["a+0x8", 1, 0, NaN], ["m", 1, 1, 0]]);
    assert.deepEqual(rowsOf("*a+0x8%1", "*a+0x8%1"), [["a+0x8", 1, 1, 0]]);
});

test("an offset that one recording lacks is compared if the other has its build", () => {
    assert.deepEqual(rowsOf("*m%1;*a+0x8%1", "*m%1"), [["a+0x8", 1, 0, -1], ["m", 1, 1, 0]]);
});

test("two times of one recording are compared by name", () => {
    assert.deepEqual(rowsOf("*a+0x8%1", "*a+0x8%2", false), [["a+0x8", 1, 1, 0]]);
});
