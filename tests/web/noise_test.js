// SPDX-License-Identifier: Apache-2.0
/* How much of a change chance explains. The expected values are those of tests/unit/function_changes_test.c:
 * half of the interval of 100 samples is 21.6, of none 3.69. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { poissonHalf } from "../../web/analysis/counted.js";
import { Model } from "../../web/analysis/model.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const PARTS = [{ from: 0, to: 10000, frequency: 0 }, { from: 15000, to: 25000, frequency: 0 }];
const SUMMARY = { hits: 80, lost: 0, spanNs: 1e10, coveredNs: 1e8, windows: 40, sums: [8000], errors: [0] };
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${a} is not ${b}`);

/** 40 windows with two samples of 100 in each part; part 1 has "b" and "new", part 0 "a" and "b". */
function compared(summaries, per = "time") {
    const samples = PARTS.flatMap(({ from }, part) => Array.from({ length: 40 }, (_, i) =>
        [part ? "new" : "a", "b"].map((stack) => ({ time: from + i * 250, event: "gc", stack, value: 100,
            process: "p" }))).flat());
    const recording = makeRecording(samples, PARTS);

    recording.header.compares = true;
    recording.events[1].summaries = summaries;
    return new Model(recording).functions({ ...CHOICE, event: "gc", per, range: PARTS[1], against: PARTS[0] });
}

const noiseOf = (rows, name) => rows.find((row) => row.name === name).against.noise;

test("the change of an event without windows has the noise of its samples", () => {
    const half = 100 * poissonHalf(40);

    near(noiseOf(compared([null, null]), "b"), Math.hypot(half, half));
    near(noiseOf(compared([null, null]), "new"), Math.hypot(half, 100 * poissonHalf(0)));
});

test("the noise of an event in windows has the errors of both totals", () => {
    const half = 100 * poissonHalf(40), error = 1e5 * 1.96 / 2;
    const sure = noiseOf(compared([SUMMARY, SUMMARY]), "b");
    const unsure = noiseOf(compared([SUMMARY, { ...SUMMARY, errors: [1e5] }]), "b");

    near(sure, Math.hypot(half, half));
    assert.ok(unsure > error && unsure < error * 1.01, String(unsure));
    assert.equal(noiseOf(compared([SUMMARY, { ...SUMMARY, errors: [null] }]), "b"), Infinity);
});

test("by share, only the error of the second total counts, as a factor of the change", () => {
    const shares = (errors) => noiseOf(compared([{ ...SUMMARY, errors: [1e9] }, { ...SUMMARY, errors }],
        "total"), "new");
    const change = 4000, whole = 8000;

    near(shares([1e5]), Math.hypot(shares([0]), change * 1e5 * 1.96 / whole));
});

test("a side without samples of a function missed as much as its windows can hide", () => {
    const little = { ...SUMMARY, coveredNs: 1e7 }; /* a hit stands for ten times as many */
    const [often, seldom] = [SUMMARY, little].map((old) => noiseOf(compared([old, SUMMARY]), "new"));
    const half = 100 * poissonHalf(40);

    near(often, Math.hypot(half, 100 * poissonHalf(0)));
    near(seldom, Math.hypot(half, 1000 * poissonHalf(0)));
});
