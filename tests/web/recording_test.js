// SPDX-License-Identifier: Apache-2.0
/* Reads the page of a perf-script text, and damaged pages. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { readRecording } from "../../web/recording/recording.js";

const BUILD = process.env.BEAMFLAME_BUILD ?? "build";
const PERF = `\
main 20/21 [000] 1.000000: 10 cycles:
\t 10 f (/x)
\t 20 main (/x)

main 20/22 [001] 1.250900: 30 cycles:
\t 10 g (/x)
\t 20 main (/x)

main 20/21 [001] 2.000000: 5 cycles:
\t 12 Enum.map/2 (/tmp/perf-20.map)

main 20/21 [001] 2.000000: 7 cycles:
\t 10 f (/x)
\t 20 main (/x)
`;

const folder = mkdtempSync(join(tmpdir(), "beamflame-test-"));
after(() => rmSync(folder, { recursive: true }));

writeFileSync(join(folder, "x.perf"), PERF);
execFileSync(join(BUILD, "beamflame"),
    ["report", "-q", join(folder, "x.perf"), "-o", join(folder, "x.html")]);
const page = readFileSync(join(folder, "x.html"), "utf8");

test("samples have their stacks, threads and events", async () => {
    const { samples, strings, frames, stacks, threads, events } = await readRecording(page);
    const symbols = (stack) =>
        stack ? [...symbols(stacks.parent[stack]), strings[frames.symbol[stacks.frame[stack]]]] : [];

    assert.equal(samples.count, 4);
    assert.deepEqual([...samples.time], [0, 250, 1000, 1000]);
    assert.deepEqual([...samples.value(0)], [10, 30, 5, 7]);
    assert.deepEqual([...samples.thread].map((id) => threads.tid[id]), [21, 22, 21, 21]);
    assert.deepEqual([...samples.event].map((id) => events[id].name), Array(4).fill("cycles"));
    assert.deepEqual([...samples.stack].map(symbols).map((names) => names.slice(-2).join(";")),
        ["main;f", "main;g", "main;Enum.map/2", "main;f"]);
    assert.ok([...samples.metric(0)].every(Number.isNaN));
    assert.deepEqual([...frames.elixir].map((is, id) => is && strings[frames.symbol[id]])
        .filter(Boolean), ["Enum.map/2"]);
});

test("damaged pages are refused", async () => {
    const without = (what) => readRecording(page.replace(what, ""));

    await assert.rejects(without(/<script [^>]*id="header">[^<]*/), /damaged: it has no header/);
    await assert.rejects(without(/(?<=id="recording">[^<]{40})[^<]*/), /damaged: of its recording/);
    await assert.rejects(without(/\["leaf", \d+, \d+\], /), /damaged/);
});
