// SPDX-License-Identifier: Apache-2.0
/* Makes recordings from short descriptions, for tests of web/analysis. */

/** @typedef {import("../../web/types").Recording} Recording */

export const CHOICE = Object.freeze({
    event: "", weight: "", change: false, groupBy: ["none"], range: null, against: null, per: "none",
    include: "", exclude: "", processes: [], traces: [], statuses: [], schedulers: [], idle: false,
    foldWaiting: false, form: "stacks", focus: "", icicle: false, foldRecursion: false, erlangOnly: false,
    hidden: [], search: "",
});

/** Gives rows ids from 1 on. Rows with the same JSON have the same id. */
class Table {
    constructor() {
        this.rows = [];
        this.ids = new Map();
    }

    add(row) {
        const key = JSON.stringify(row);

        if (!this.ids.has(key))
            this.ids.set(key, this.rows.push(row));
        return this.ids.get(key);
    }

    column(name, Type = Uint32Array) {
        return Type.from([{}, ...this.rows], (row) => row[name] ?? 0);
    }

    columns(...names) {
        return Object.fromEntries(names.map((name) => [name, this.column(name)]));
    }
}

const METRICS = [["reductions", "count"], ["msgq", "count"], ["memory", "bytes"],
    ["binaries", "bytes"], ["old", "words"]];
const STATUSES = ["none", "running", "runnable", "waiting", "idle", "blocked"];

const valuesOf = (event) => (event.startsWith("call:") ? [{ name: "count", unit: "count" }]
    : [{ name: "time", unit: "ns" }, ...event === "sched" ? [{ name: "delay", unit: "ns" }] : []]);

/** A sample with `ofHit` is of the same hit as the sample before it. */
function partsOf(samples) {
    const second = Uint32Array.from(samples.keys()).filter((i) => samples[i].ofHit);

    return { first: second.map((i) => i - 1), second };
}

/**
 * Make a recording of samples {time, stack: "a:b/1;c:d/2", process: "name", value, status, event,
 * activity, ofHit, exact, thread, trace, delay, reductions, msgq, memory, binaries, old}. Fields that are
 * left out have defaults. A frame that begins with '*' is native code: "*a.so+0x12%b1" is unnamed code of
 * build b1; "f@12" is line 12 of src/f.erl. Event sched has a second value, delay. A trace that is not one
 * of `listed` is not listed.
 *
 * @param {object[]} samples
 * @param {object[]} [parts]
 * @param {string[]} [listed] traces
 * @returns {Recording}
 */
export function makeRecording(samples, parts = [{ from: 0, to: 10000, frequency: 0 }],
    listed = []) {
    const strings = new Table(), frames = new Table(), stacks = new Table();
    const processes = new Table(), string = (text) => (text ? strings.add(text) : 0);
    const events = [...new Set(samples.map(({ event = "cpu" }) => event))];
    const erlangFrame = (name, line) => ({ symbol: string(name), kind: 1,
        ...line ? { file: string(`src/${name}.erl`), line: Number(line) } : {} });
    const nativeFrame = (name, build) => ({ symbol: string(name), kind: 4,
        ...build ? { build: string(build), unnamed: Number(name.includes("+0x")) } : {} });
    const stackOf = (text) => text.split(";").filter(Boolean).reduce((parent, name) =>
        stacks.add({ parent, frame: frames.add(name[0] === "*"
            ? nativeFrame(...name.slice(1).split("%")) : erlangFrame(...name.split("@"))) }), 0);
    const processOf = (name) => (name ? processes.add({ name: string(name), target: 1,
        pid: string(`<0.${name.length}.0>`) }) : 0);
    const stack = Uint32Array.from(samples, (sample) => stackOf(sample.stack ?? ""));
    const process = Uint32Array.from(samples, (sample) => processOf(sample.process));
    const traceIds = ["", ...listed];
    const placeOf = (trace) => (traceIds.includes(trace) ? traceIds.indexOf(trace) : traceIds.length);
    const column = (Type, of) => Type.from(samples, of);

    return {
        header: { parts: parts.map((part) => ({ name: "", losses: [], totals: {}, ...part })),
            statuses: STATUSES, activities: ["process", "scheduling", "busy-wait"], choice: {},
            version: "", compares: false, rowWindowNs: 250e6,
            metrics: METRICS.map(([name, unit]) => ({ name, unit })), moments: [] },
        strings: ["", ...strings.rows],
        frames: { ...frames.columns("symbol", "module", "file", "line", "build"),
            unnamed: frames.column("unnamed", Uint8Array), kind: frames.column("kind", Uint8Array), elixir: frames.column("elixir", Uint8Array) },
        stacks: stacks.columns("parent", "frame"),
        processes: { ...processes.columns("target", "pid", "name", "label", "labelIsDetail",
            "initialCall", "application", "parent", "ancestors"),
            same: Uint32Array.from([0, ...processes.rows], (_, id) => id) },
        ancestors: { up: new Uint32Array(1), name: new Uint32Array(1) },
        threads: { target: new Uint32Array(1), tid: new Uint32Array(1), name: new Uint32Array(1),
            kind: new Uint8Array(1), number: new Uint32Array(1) },
        targets: [{ node: "", host: "", pid: 0 }, { node: "shop@web", host: "", pid: 100 }],
        events: [{ name: "", values: [], summaries: [] }, ...events.map((name) =>
            ({ name, values: valuesOf(name), summaries: [] }))],
        spans: ["", ...events].map(() => null),
        recorded: ["", ...events].map(() => null),
        nodeMetrics: [],
        traces: { ids: traceIds, of: column(Uint32Array, ({ trace = "" }) => placeOf(trace)),
            notListed: new Set(samples.map(({ trace = "" }) => trace)
                .filter((trace) => !traceIds.includes(trace))).size },
        samples: {
            count: samples.length, stack, process,
            time: column(Uint32Array, ({ time = 0 }) => time),
            event: column(Uint8Array, ({ event = "cpu" }) => events.indexOf(event) + 1),
            thread: column(Uint32Array, ({ thread = 0 }) => thread), detail: new Uint32Array(samples.length),
            status: column(Uint8Array, ({ status = "running" }) => STATUSES.indexOf(status)),
            activity: column(Uint8Array, ({ activity = 0 }) => activity),
            complete: column(Uint8Array, () => 1), named: column(Uint8Array, () => 0),
            exact: column(Uint8Array, ({ exact = false }) => (exact ? 1 : 0)),
            window: column(Uint32Array, ({ time = 0 }) => time / 250),
            parts: partsOf(samples),
            value: (index) => column(Float64Array, ({ value = 1, delay = 0 }) =>
                (index ? delay : value)),
            metric: (index) => column(Float64Array, (sample) => sample[METRICS[index][0]] ?? NaN),
        },
    };
}
