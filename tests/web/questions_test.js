// SPDX-License-Identifier: Apache-2.0
/* What the tables answer: which line it is, who delays a process, which process grows. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { delaysOf } from "../../web/analysis/delays.js";
import { lineRows } from "../../web/analysis/line_rows.js";
import { processRows } from "../../web/analysis/process_rows.js";
import { weigh } from "../../web/analysis/weights.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const all = (recording) => Uint32Array.from({ length: recording.samples.count }, (_, i) => i);
const lines = (recording, changes = {}) => {
    const choice = { ...CHOICE, ...changes };

    return lineRows(recording, choice, weigh(recording, choice), [all(recording), null], [null, null])
        .map(({ place, name, self, total }) => [place, name, self, total]).sort();
};

const LINES = [{ stack: "a@1;b@5;*memcpy", value: 3 }, { stack: "a@1;b@6;a@1;b@5", value: 4 },
    { stack: "a@2", value: 5 }];

test("lines of a function are apart, and a line counts once in a stack", () => {
    assert.deepEqual(lines(makeRecording(LINES)), [["a.erl:1", "a", 0, 7], ["a.erl:2", "a", 5, 5],
        ["b.erl:5", "b", 4, 7], ["b.erl:6", "b", 0, 4]]);
});

test("with Erlang functions only, C code counts to the line that calls it", () => {
    assert.deepEqual(lines(makeRecording(LINES), { erlangOnly: true })[2], ["b.erl:5", "b", 7, 7]);
});

test("a sandwich has the lines of its function only", () => {
    assert.deepEqual(lines(makeRecording(LINES), { form: "sandwich", focus: "b" })
        .map(([place]) => place), ["b.erl:5", "b.erl:6"]);
});

test("the same line of builds in two folders is one line", () => {
    const recording = makeRecording([{ stack: "a@1" }, { stack: "a@1" }]);
    const { frames, stacks, strings, samples } = recording;
    const other = strings.push("/build/2/a.erl") - 1;
    const twice = (column) => Uint32Array.of(...column, column[1]);

    Object.assign(frames, { symbol: twice(frames.symbol), file: twice(frames.file),
        line: twice(frames.line), module: twice(frames.module), kind: Uint8Array.of(0, 1, 1),
        elixir: new Uint8Array(3) });
    frames.file[2] = other;
    Object.assign(stacks, { parent: Uint32Array.of(0, 0, 0), frame: Uint32Array.of(0, 1, 2) });
    samples.stack[1] = 2;
    assert.deepEqual(lines(recording), [["a.erl:1", "a", 2, 2]]);
});

const MS = 1e6;
const delays = (samples, processes, range = null) => {
    const recording = makeRecording(samples);
    const { ns, count, cpuNs, ran } = delaysOf(recording, processes, range) ?? {};

    return ns === undefined ? null
        : [ns / MS, count, cpuNs, ran.map(({ name, ns: time }) => [name, time])];
};
const cpu = (time, process, thread, value) => ({ time, process, thread, value, event: "cpu" });
const LATE = { time: 100, process: "late", thread: 1, delay: 40 * MS, event: "sched", exact: true };

test("who ran on the scheduler while a process was in its run queue", () => {
    const samples = [LATE, cpu(59, "before", 1, 7), cpu(60, "hog", 1, 8), cpu(80, "elsewhere", 2, 9),
        cpu(85, "", 1, 2), cpu(90, "hog", 1, 5), cpu(99, "other", 1, 1), cpu(100, "late", 1, 6)];

    assert.deepEqual(delays(samples, [1]), [40, 1, 16, [["hog", 13], ["other", 1]]]);
    assert.equal(delays(samples, [2]), null);
    assert.equal(delays(samples, [1], { from: 0, to: 100 }), null);
});

test("CPU time counts once if two processes waited for the scheduler at a time", () => {
    const samples = [LATE, { ...LATE, process: "late too", time: 110 }, cpu(75, "hog", 1, 8),
        cpu(105, "hog", 1, 4)];

    assert.deepEqual(delays(samples, [1, 2]), [80, 2, 12, [["hog", 12]]]);
});

test("a delay that stands for others is left out, and none begins before its window", () => {
    assert.equal(delays([{ ...LATE, exact: false }], [1]), null);
    const recording = makeRecording([LATE, cpu(65, "hog", 1, 8), cpu(95, "hog", 1, 4)]);

    recording.spans[1] = Float64Array.of(0, 50, 70, 120);
    const { ns, ran } = delaysOf(recording, [1], null);

    assert.deepEqual([ns / MS, ran.map(({ ns: time }) => time)], [30, [4]]);
});

test("without event cpu it is not known who ran", () => {
    assert.deepEqual(delays([LATE], [1]), [40, 1, null, []]);
});

test("growth is that of memory and binaries between known values", () => {
    const recording = makeRecording([{ process: "a", memory: NaN }, { process: "a", memory: 100, binaries: 5 },
        { process: "b", memory: 50 }, { process: "a", memory: 400, binaries: 25 }, { process: "b", memory: 30 },
        { process: "c", memory: NaN }]);
    const rows = processRows(recording, weigh(recording, CHOICE), all(recording), null);

    assert.deepEqual(rows.map(({ growth }) => growth), [320, -20, NaN]);
});
