// SPDX-License-Identifier: Apache-2.0
/* Idle processes of event wall are left out of graphs. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../../web/analysis/model.js";
import { foldedText } from "../../web/analysis/folded_text.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const SAMPLES = [
    { time: 100, event: "wall", stack: "gen_server:loop/7", process: "shop", status: "idle",
        value: 90, msgq: 3 },
    { time: 200, event: "wall", stack: "gen:do_call/4", process: "cart", status: "blocked",
        value: 6, msgq: 1 },
    { time: 300, event: "wall", stack: "a:loop/0", process: "a", status: "waiting", value: 3 },
    { time: 400, event: "wall", stack: "a:run/0", process: "a", status: "running", value: 1 },
    { time: 500, event: "sched", stack: "gen_server:loop/7", process: "shop", status: "idle",
        value: 50 },
];
const WAITING = 3, IDLE = 4;
const shown = (changes) => {
    const model = new Model(makeRecording(SAMPLES)), choice = { ...CHOICE, ...changes };

    return { lines: foldedText(model.trees(choice)[0]).trimEnd().split("\n"),
        idle: model.idle(choice) };
};

test("graphs of wall leave idle processes out, and know how much that is", () => {
    const { lines, idle } = shown({ event: "wall" });

    assert.deepEqual(lines, ["a:loop/0 3", "a:run/0 1", "gen:do_call/4 6"]);
    assert.deepEqual(idle, { idle: 90, whole: 100 });
    assert.deepEqual(shown({ event: "wall", range: { from: 150, to: 1000 } }).idle,
        { idle: 0, whole: 10 });
    assert.deepEqual(shown({ event: "wall", weight: "samples" }).lines.length, 3);
});

test("they show idle processes on demand", () => {
    for (const changes of [{ idle: true }, { statuses: [0, 1, WAITING, IDLE] }]) {
        const { lines, idle } = shown({ event: "wall", ...changes });

        assert.equal(lines.length, 4);
        assert.ok(lines.includes("gen_server:loop/7 90"));
        assert.equal(idle, null);
    }
});

test("status waiting selects idle and blocked, too", () => {
    assert.deepEqual(shown({ event: "wall", statuses: [WAITING] }).lines,
        ["a:loop/0 3", "gen:do_call/4 6", "gen_server:loop/7 90"]);
    assert.deepEqual(shown({ event: "wall", statuses: [IDLE] }).lines, ["gen_server:loop/7 90"]);
});

test("metrics and other events have their idle processes", () => {
    assert.deepEqual(shown({ event: "wall", weight: "msgq" }).lines,
        ["gen:do_call/4 1", "gen_server:loop/7 3"]);
    assert.deepEqual(shown({ event: "sched" }).lines, ["gen_server:loop/7 50"]);
});
