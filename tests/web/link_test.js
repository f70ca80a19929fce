// SPDX-License-Identifier: Apache-2.0
/* The views of links. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Link } from "../../web/view/link.js";
import { makeRecording } from "./made_recording.js";

const SAMPLES = [{ time: 10, stack: "a:b/1" }, { time: 20, stack: "c:d/0", event: "gc" },
    { time: 30, stack: "c:d/0", event: "wall" }];

test("a link has what differs from the defaults of its event", () => {
    const link = new Link(makeRecording(SAMPLES, undefined, ["a".repeat(32), "b".repeat(32)]));

    for (const fragment of ["", "event=gc", "event=wall&group=pid", "event=gc&range=10-20&idle=1",
        `trace=${"a".repeat(32)}%2C${"b".repeat(32)}&panel=traces`,
        "include=a%26b&hidden=%255E%252C&zoom=0%2Ca%253Ab%252F1"]) {
        const { view, problems } = link.read(`#${fragment}`);

        assert.deepEqual([link.write(view), problems], [fragment, []]);
    }
    assert.deepEqual(link.read(`trace=${"A".repeat(32)}`).view.traces, ["a".repeat(32)]);
    assert.equal(link.read("weight=wall").view.event, "wall");
    assert.equal(link.read("event=gc&weight=cpu").view.event, "cpu");
});

test("what the recording does not have is named and left out", () => {
    const link = new Link(makeRecording(SAMPLES));

    for (const wrong of ["event=alloc", "weight=zzz", "group=colour", "range=5-5", "range=a",
        "range=10000-10001", "process=99", "status=99", "scheduler=7",
        `trace=${"c".repeat(32)}`, "trace=12", "idle=2", "form=cube",
        "focus=x:y/0", "include=(", "hidden=(", "zoom=2,a", "panel=", "colour=red"]) {
        const { view, problems } = link.read(`${wrong}&search=b`);

        assert.deepEqual([link.write(view), problems], ["search=b", [wrong]]);
    }
});

test("an event is shown in its own way, unless the command line says how", () => {
    const recording = makeRecording(SAMPLES), shown = (event) => {
        const { form, groupBy, erlangOnly, weight } = new Link(recording).baseOf(event);

        return [form, String(groupBy), erlangOnly, weight];
    };

    recording.header.choice = { groupBy: ["name"] };
    assert.deepEqual(["cpu", "wall", "gc"].map(shown), [["stacks", "name", false, "cpu"],
        ["stacks", "status,name", false, "time"], ["callers", "none", true, "time"]]);
    recording.header.choice = { groupBy: ["pid"], weight: "samples" };
    assert.deepEqual(["wall", "gc"].map(shown), [["stacks", "pid", false, "samples"],
        ["callers", "pid", true, "samples"]]);
});
