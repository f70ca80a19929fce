// SPDX-License-Identifier: Apache-2.0
/* Processes of event wall that wait are one frame, if they are folded. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { foldedText } from "../../web/analysis/folded_text.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const SAMPLES = [
    { time: 100, event: "wall", stack: "gen:do_call/4", process: "cart", status: "blocked", value: 6 },
    { time: 200, event: "wall", stack: "a:loop/0;a:get/1", process: "a", status: "waiting", value: 30 },
    { time: 300, event: "wall", stack: "b:loop/0", process: "bb", status: "waiting", value: 40 },
    { time: 400, event: "wall", stack: "a:loop/0;a:run/0", process: "a", status: "running", value: 1 },
    { time: 500, event: "sched", stack: "a:loop/0", process: "a", status: "waiting", value: 50 },
];
const FOLDED = { ...CHOICE, event: "wall", foldWaiting: true };
const made = () => new Model(makeRecording(SAMPLES));
const lines = (changes) =>
    foldedText(made().trees({ ...FOLDED, ...changes })[0]).trimEnd().split("\n");

test("waiting processes are one frame without a process, in each grouping", () => {
    const others = ["[blocked];cart;gen:do_call/4 6", "[running];a;a:loop/0;a:run/0 1"];

    assert.deepEqual(lines({ groupBy: ["status", "name"] }), [...others, "[waiting] 70"]);
    assert.deepEqual(lines({ groupBy: ["name"] }),
        ["[waiting] 70", "a;a:loop/0;a:run/0 1", "cart;gen:do_call/4 6"]);
    assert.deepEqual(lines({ groupBy: ["none"] }),
        ["[waiting] 70", "a:loop/0;a:run/0 1", "gen:do_call/4 6"]);
    assert.deepEqual(lines({ form: "callers" }),
        ["[waiting] 70", "a:run/0;a:loop/0 1", "gen:do_call/4 6"]);
    assert.deepEqual(lines({ groupBy: ["node", "status"] }).at(-1), "shop@web;[waiting] 70");
});

test("their functions are one row, with the sum of all", () => {
    const rows = made().functions(FOLDED), row = rows.find(({ name }) => name === "[waiting]");

    assert.deepEqual([row.self, row.total, row.samples, row.frame], [70, 70, 2, 0]);
    assert.deepEqual(rows.map(({ name, total }) => [name, total]).sort(), [["[waiting]", 70],
        ["a:loop/0", 1], ["a:run/0", 1], ["gen:do_call/4", 6]]);
});

test("what is selected is not folded, nor are other events and metrics", () => {
    const whole = (changes) => ({ ...changes, foldWaiting: false });

    for (const changes of [{ statuses: [3] }, { processes: [2] }, { include: "a:loop" },
        { weight: "msgq" }, { event: "sched" }])
        assert.deepEqual(lines(changes), lines(whole(changes)), JSON.stringify(changes));
});

test("filters see what is folded", () => {
    assert.deepEqual(lines({ groupBy: ["name"], exclude: "b:loop|^cart$" }),
        ["[waiting] 30", "a;a:loop/0;a:run/0 1"]);
    assert.deepEqual(lines({ groupBy: ["status", "name"], exclude: "^bb$" }).at(-1), "[waiting] 30");
});

test("the search marks no time in which only a folded process matches", () => {
    const timesOf = (search) => {
        const model = made(), choice = { ...FOLDED, search }, { cellMs } = model.cells(choice);

        return [...model.marks(choice).keys()].filter((cell) => model.marks(choice)[cell])
            .map((cell) => cell * cellMs);
    };

    assert.deepEqual(timesOf("a:loop"), [400]);
    assert.deepEqual(timesOf("b:loop"), []);
});
