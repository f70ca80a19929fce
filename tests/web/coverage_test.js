// SPDX-License-Identifier: Apache-2.0
/* When events could be seen, and how sure their sums are. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { countedOf, isSure, poissonHalf } from "../../web/analysis/counted.js";
import { common, coveredCells, whyUnseen } from "../../web/analysis/coverage.js";
import { heatmapCells } from "../../web/analysis/heatmap_cells.js";
import { weigh } from "../../web/analysis/weights.js";
import { readRecording } from "../../web/recording/recording.js";
import { sumText } from "../../web/view/counted_text.js";
import { CHOICE, makeRecording } from "./made_recording.js";

const BUILD = process.env.BEAMFLAME_BUILD ?? "build";
const folder = mkdtempSync(join(tmpdir(), "beamflame-test-"));
after(() => rmSync(folder, { recursive: true }));

const SAMPLES = [{ time: 10, stack: "a", event: "gc" }, { time: 130, stack: "a", event: "wall" }];
const PARTS = [{ from: 0, to: 1000, frequency: 0 }];
const recordingWith = (spans) => ({ ...makeRecording(SAMPLES, PARTS), spans });
const GC = { ...CHOICE, event: "gc" }, WALL = { ...CHOICE, event: "wall" };
const cellsOf = (recording, choice) =>
    heatmapCells(recording, choice, weigh(recording, choice), Uint32Array.of(0, 1), 20);

test("a page has the spans of its recording", async () => {
    execFileSync(join(BUILD, "tests", "seeds"), [folder]);
    execFileSync(join(BUILD, "beamflame"),
        ["report", "-q", join(folder, "files", "00.bfr"), "-o", join(folder, "x.html")]);
    const { spans, recorded, events } =
        await readRecording(readFileSync(join(folder, "x.html"), "utf8"));
    const id = (name) => events.findIndex((event) => event.name === name);
    const of = (name) => spans[id(name)];

    assert.deepEqual([...spans[0]], [0, 1000, 1200, 1500]);
    assert.deepEqual([...of("gc")], [0, 200, 500, 1500]);
    assert.deepEqual([...of("msg")], []);
    assert.equal(of("cpu"), null);
    assert.equal(spans.length, events.length);
    assert.deepEqual([...recorded[id("gc")]], [0, 200, 500, 1500]);
    assert.equal(recorded[id("msg")], null);
});

test("two lists of spans have their overlaps in common", () => {
    assert.deepEqual(common([0, 10, 20, 30, 40, 50], [5, 25, 28, 41]), [5, 10, 20, 25, 28, 30, 40, 41]);
    assert.deepEqual(common([0, 10], [10, 20]), []);
    assert.deepEqual(common([], [10, 20]), []);
});

test("cells have the share of time in which the event could be seen", () => {
    const recording = recordingWith([[0, 100, 200, 1000], [0, 10, 90, 210, 995, 1000], null]);
    const { covered } = cellsOf(recording, GC);
    const about = (cell) => Math.round(covered[cell] * 1000) / 1000;

    assert.deepEqual([0, 1, 3, 4, 5, 9, 10, 11, 49].map(about),
        [0.5, 0, 0, 0.5, 0, 0, 0.5, 0, 0.25]);
    assert.deepEqual([4, 5, 9, 10, 49].map((cell) => cellsOf(recording, WALL).covered[cell]),
        [1, 0, 0, 1, 1]);
    assert.equal(cellsOf(recordingWith([null, null, null]), GC).covered, null);
    assert.ok(cellsOf(recordingWith([null, [], null]), GC).covered.every((share) => share === 0));
});

test("spans outside of the page's time are left out", () => {
    const recording = recordingWith([null, [-50, 5, 990, 5000], null]);
    const { covered } = cellsOf(recording, GC);

    assert.equal(covered.length, 50);
    assert.deepEqual([covered[0], covered[48], covered[49]], [0.25, 0, 0.5]);
});

test("the reason tells why an event was not seen", () => {
    const recording = recordingWith([[0, 500, 600, 1000], [100, 200, 300, 400], [0, 1, 50, 51]]);
    const why = (choice, from) => whyUnseen(recording, choice, from, from + 20);

    assert.equal(why(GC, 520), "the recording was paused, or the recorder or the machine stood still");
    assert.equal(why(GC, 20), "not attached yet");
    assert.equal(why(GC, 240), "outside of windows");
    assert.equal(why(GC, 190), "");
    assert.equal(why(WALL, 20), "between two sweeps");
    recording.recorded[recording.events.findIndex(({ name }) => name === "gc")] =
        Float64Array.of(50, 250);
    assert.equal(why(GC, 20), "the event was not recorded then");
    assert.equal(why(GC, 350), "the event was not recorded then");
    assert.equal(why(GC, 205), "outside of windows");
});

/* 95 % of Poisson counts with a mean of 10 are 4 to 17; the exact limits of 0 are 0 to 3.7. */
test("few samples have wide intervals", () => {
    assert.ok(Math.abs(poissonHalf(0) - 3.69) < 0.05);
    assert.ok(Math.abs(10 + poissonHalf(10) - 18.39) < 0.05);
    assert.ok(Math.abs(10000 + poissonHalf(10000) - 10197.8) < 1);
});

test("only totals of windows are uncertain", () => {
    const recording = makeRecording(SAMPLES, PARTS);
    const weights = weigh(recording, GC), [, gc] = recording.events;
    const summary = { hits: 40, lost: 0, spanNs: 1000, coveredNs: 250, windows: 5, sums: [800],
        errors: [50] };

    assert.equal(countedOf(recording, weights, 0), null);
    gc.summaries = [{ ...summary, windows: 0, coveredNs: 1000 }];
    assert.equal(countedOf(recording, weights, 0), null);
    gc.summaries = [summary];
    assert.equal(countedOf(recording, weigh(recording, { ...GC, weight: "samples" }), 0), null);
    const counted = countedOf(recording, weights, 0);

    assert.deepEqual([counted.sum, counted.half, counted.share], [800, 98, 0.25]);
    assert.equal(counted.unseen, 12);
    assert.equal(sumText({ ...counted, sum: 0, half: 0 }, "ns"), "0 ns, at most 12 hits");
    assert.equal(sumText({ ...counted, sum: 0, half: 0, unseen: 0 }, "ns"), "0 ns");
    assert.equal(sumText(counted, "ns"), "800 ns \u00b1 98 ns");
    gc.summaries = [{ ...summary, errors: [null] }];
    assert.ok(Number.isNaN(countedOf(recording, weights, 0).half));
    assert.deepEqual([counted, { sum: 10, half: 11 }, { sum: 10, half: NaN }].map(isSure),
        [true, false, false]);
});
