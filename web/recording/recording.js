// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a recording from the data block of the page (format: src/output/html/html.c). Values and metrics
 * of samples are decoded at their first use, because not every view needs them.
 */
import { bytesOf, Columns } from "#recording/columns";

/** @import { Numbers } from "#recording/columns" */
/** @import { Recording, Header, Frames, Processes, Samples, Target, RecordedEvent } from "../types.js" */

/**
 * The content of the page's #header: the Header, and the sizes needed to read the columns.
 * @typedef {Header & {
 *     targets: Target[], events: RecordedEvent[], columns: [string, number, number][],
 *     counts: { samples: number, strings: number, frames: number, stacks: number,
 *               ancestors: number, processes: number, threads: number,
 *               traces: number, tracesNotListed: number },
 * }} PageHeader
 */

/** Values of Frames.kind: Erlang functions, and BIFs that Erlang code calls. */
const FRAME_ERLANG = 1, FRAME_BIF = 2;

/** Indexes of values of event gc (src/profile/events.h). */
const GC_RECLAIMED = 2, GC_HEAP_BEFORE = 4, GC_HEAP_AFTER = 5;

/** @type {Target} */
const NO_TARGET = { pid: 0, node: "", host: "", otpRelease: "", erts: "", flavor: "", executable: "",
                    container: "", schedulers: 0, processes: 0 };
/** @type {RecordedEvent} */
const NO_EVENT = { name: "", values: [], summaries: [] };

/* ---- tables ---- */

/** Texts by number; [0] is "". @param {Columns} columns @param {string} name @param {number} count */
function readTexts(columns, name, count) {
    const texts = new TextDecoder().decode(columns.get(name)).split("\0");
    if (texts.length !== count + 1)
        throw new Error(`the page is damaged: it has not all ${name} of its recording`);
    texts.pop();
    texts.unshift("");
    return texts;
}

/**
 * Read 32-bit columns of one table. Return them by name.
 * @template {string} K
 * @param {Columns} columns @param {string} table @param {number} count @param {K[]} names
 * @returns {Record<K, Uint32Array>}
 */
function readTable(columns, table, count, names) {
    const read = /** @type {Record<K, Uint32Array>} */ ({});
    for (const name of names)
        read[name] = columns.chained(`${table}.${name}`, new Uint32Array(count + 1), 1);
    return read;
}

/**
 * True for a function of Elixir. Its name is written as in Elixir ("Enum.map/2"). The name of an
 * Erlang function begins with a lower-case letter or a quote (atom_mfa_format() of src/beam/atom.c).
 * @param {string} symbol @param {number} kind
 */
function isElixir(symbol, kind) {
    return (kind === FRAME_ERLANG || kind === FRAME_BIF) && /^[A-Z]/.test(symbol);
}

/** @param {Columns} columns @param {number} count @param {string[]} strings @returns {Frames} */
function readFrames(columns, count, strings) {
    const table = readTable(columns, "frame", count, ["symbol", "module", "file", "line", "build"]);
    const kind = columns.chained("frame.kind", new Uint8Array(count + 1), 1);
    const elixir = kind.map((of, i) => isElixir(strings[table.symbol[i]], of) ? 1 : 0);
    const unnamed = columns.chained("frame.unnamed", new Uint8Array(count + 1), 1);
    return { ...table, kind, elixir, unnamed };
}

/** @param {Columns} columns @param {number} count @returns {Processes} */
function readProcesses(columns, count) {
    const table = readTable(columns, "process", count, ["target", "pid", "name", "label",
        "labelIsDetail", "initialCall", "application", "parent", "ancestors"]);
    return { ...table, same: columns.distances("process.same", new Uint32Array(count + 1)) };
}

/** @param {Columns} columns @param {number} count @returns {Recording["threads"]} */
function readThreads(columns, count) {
    const table = readTable(columns, "thread", count, ["target", "tid", "name", "number"]);
    return { ...table, kind: columns.chained("thread.kind", new Uint8Array(count + 1), 1) };
}

/** @param {Columns} columns @param {number} count @returns {Recording["stacks"]} */
function readStacks(columns, count) {
    return {
        parent: columns.distances("stack.distance", new Uint32Array(count + 1)),
        frame: columns.chained("stack.frame", new Uint32Array(count + 1), 1),
    };
}

/* ---- samples ---- */

/**
 * Numbers that never decrease.
 * @param {Columns} columns @param {string} name @param {number} count
 */
function readGrowing(columns, name, count) {
    const read = new Uint32Array(count), numbers = columns.numbers(name);
    for (let i = 0, last = 0; i < count; i++)
        read[i] = last += numbers.next();
    return read;
}

/**
 * The indexes of samples, sorted by process, then by time.
 * @param {Uint32Array} process @param {number} processes
 */
function orderByProcess(process, processes) {
    const next = new Uint32Array(processes + 2), order = new Uint32Array(process.length);
    for (const id of process)
        next[id + 1]++;
    for (let id = 1; id <= processes; id++)
        next[id] += next[id - 1];
    process.forEach((id, i) => order[next[id]++] = i);
    return order;
}

/** @param {Columns} columns @param {Uint32Array} order */
function readSampleStacks(columns, order) {
    const stacks = new Uint32Array(order.length), numbers = columns.numbers("stack");
    const leaves = columns.numbers("leaf"), stackOf = [0];
    for (const i of order) {
        const number = numbers.next();
        if (number)
            stacks[i] = stackOf[number];
        else
            stackOf.push(stacks[i] = stackOf[stackOf.length - 1] + leaves.signed());
    }
    return stacks;
}

/**
 * The parts of hits that have several samples: sample second[i] is of the same hit as first[i], the
 * event's sample before it.
 * @param {Columns} columns @param {Uint8Array} event @returns {Samples["parts"]}
 */
function readParts(columns, event) {
    const numbers = columns.numbers("part"), first = [], second = [];
    for (let at = 0; !numbers.ended();) {
        second.push(at += numbers.next());
        first.push(event.lastIndexOf(event[at], at - 1));
    }
    return { first: Uint32Array.from(first), second: Uint32Array.from(second) };
}

/** The metrics of the samples' processes. */
class Metrics {
    /**
     * @param {Columns} columns @param {Header["metrics"]} list
     * @param {{ process: Uint32Array, stack: Uint32Array }} samples @param {Uint32Array} order
     * @param {number} stacks how many
     */
    constructor(columns, list, samples, order, stacks) {
        this.columns = columns;
        this.names = list.map(({ name }) => name);
        this.samples = samples;
        this.order = order;
        this.stacks = stacks;
        this.known = this.readKnown();
        this.get = kept((index) => this.read(index));
    }

    /** By sample: bit i is 1 if metric i is known. */
    readKnown() {
        const { process } = this.samples, known = new Uint32Array(process.length);
        const numbers = this.columns.numbers("known");
        let of = 0, newest = 0;
        for (const i of this.order) {
            if (process[i] !== of)
                newest = 0;
            of = process[i];
            if (of)
                known[i] = newest ^= numbers.next();
        }
        return known;
    }

    /** The values of a metric by sample; NaN: unknown. @param {number} index */
    read(index) {
        const values = new Float64Array(this.known.length).fill(NaN);
        switch (this.names[index]) {
        case "heap": return this.readHeap(index, values);
        case "stack": return this.readStackSizes(index, values);
        case "young":
        case "mbuf": return this.each(index, values, (i, numbers) => values[i] = numbers.next());
        }
        return this.readChanges(index, values);
    }

    /**
     * Call `take` for each sample with a known value of the metric, process by process.
     * @param {number} index @param {Float64Array} values
     * @param {(i: number, numbers: Numbers) => void} take
     */
    each(index, values, take) {
        const numbers = this.columns.numbers(`metric ${index}`), { known } = this;
        for (const i of this.order)
            if (known[i] >> index & 1)
                take(i, numbers);
        return values;
    }

    /**
     * Other metrics are stored as changes since the process' previous known value.
     * @param {number} index @param {Float64Array} values
     */
    readChanges(index, values) {
        const { process } = this.samples;
        let of = 0, newest = 0;
        return this.each(index, values, (i, numbers) => {
            newest = (process[i] === of ? newest : 0) + numbers.signed();
            of = process[i];
            values[i] = newest;
        });
    }

    /**
     * Stack sizes are stored as changes since the previous sample with the same stack.
     * @param {number} index @param {Float64Array} values
     */
    readStackSizes(index, values) {
        const newest = new Float64Array(this.stacks + 1), { stack } = this.samples;
        return this.each(index, values, (i, numbers) =>
            values[i] = newest[stack[i]] += numbers.signed());
    }

    /**
     * Heap sizes are stored as differences from young + old + mbuf.
     * @param {number} index @param {Float64Array} values
     */
    readHeap(index, values) {
        const parts = ["young", "old", "mbuf"].map((name) => this.get(this.names.indexOf(name)));
        return this.each(index, values, (i, numbers) =>
            values[i] = parts.reduce((sum, part) => sum + (part[i] || 0), numbers.signed()));
    }
}

/** The values of samples. Their meaning depends on the event. */
class Values {
    /** @param {Columns} columns @param {Uint8Array} event @param {RecordedEvent[]} events */
    constructor(columns, event, events) {
        this.columns = columns;
        this.event = event;
        this.events = events;
        this.get = kept((index) => this.read(index));
    }

    /** A value by sample; 0 for an event without this value. @param {number} index */
    read(index) {
        const { event, events } = this, newest = new Float64Array(events.length);
        const values = new Float64Array(event.length);
        const has = events.map((of) => index < of.values.length);
        const gc = index === GC_RECLAIMED
            ? events.findIndex(({ name }, id) => name === "gc" && has[id]) : -1;
        const before = gc > 0 ? this.get(GC_HEAP_BEFORE) : values;
        const after = gc > 0 ? this.get(GC_HEAP_AFTER) : values;
        const numbers = this.columns.numbers(`value ${index}`);
        for (let i = 0; i < values.length; i++)
            if (event[i] === gc)
                values[i] = before[i] - after[i] + numbers.signed();
            else if (has[event[i]])
                values[i] = newest[event[i]] += numbers.signed();
        return values;
    }
}

/**
 * A function that calls `make` once for each index and keeps the result.
 * @param {(index: number) => Float64Array} make
 */
function kept(make) {
    /** @type {Float64Array[]} */
    const made = [];
    return (/** @type {number} */ index) => made[index] ??= make(index);
}

/**
 * The processes of samples, and the order of their columns.
 * @param {Columns} columns @param {PageHeader["counts"]} counts
 */
function readOrder(columns, { samples, processes }) {
    const process = columns.chained("process", new Uint32Array(samples), 0);
    return { process, order: orderByProcess(process, processes) };
}

/**
 * @param {Columns} columns @param {PageHeader} header @param {RecordedEvent[]} events
 * @param {ReturnType<typeof readOrder>} by
 * @returns {Samples}
 */
function readSamples(columns, header, events, { process, order }) {
    const { samples: count, stacks } = header.counts;
    const stack = readSampleStacks(columns, order);
    const metrics = new Metrics(columns, header.metrics, { process, stack }, order, stacks);
    /** @param {string} name */
    const bytes = (name) => columns.ordered(name, new Uint8Array(count), order);
    /** @param {string} name */
    const ids = (name) => columns.ordered(name, new Uint32Array(count), order);
    const numbers = columns.numbers("event"), event = new Uint8Array(count).map(() => numbers.next());
    return {
        count, event, process, stack, parts: readParts(columns, event),
        time: readGrowing(columns, "time", count),
        thread: ids("thread"), detail: ids("detail"),
        status: bytes("status"), activity: bytes("activity"), complete: bytes("complete"),
        named: bytes("named"), exact: bytes("exact"), window: readGrowing(columns, "window", count),
        value: new Values(columns, event, events).get,
        metric: metrics.get,
    };
}

/**
 * @param {Columns} columns @param {PageHeader["counts"]} counts
 * @param {ReturnType<typeof readOrder>} by
 * @returns {Recording["traces"]}
 */
function readTraces(columns, counts, { order }) {
    if (!columns.has("traces"))
        return { ids: [""], of: new Uint32Array(0), notListed: 0 };
    return { ids: readTexts(columns, "traces", counts.traces), notListed: counts.tracesNotListed,
        of: columns.ordered("trace", new Uint32Array(counts.samples), order) };
}

/**
 * By event, times in ms: in which it could be seen ("spans"; [0]: in which the recorder ran), or was recorded.
 * @param {Columns} columns @param {"spans" | "recorded"} what @param {number} events
 * @returns {Recording["spans"]}
 */
function readSpans(columns, what, events) {
    return Array.from({ length: events }, (_, event) => {
        const name = `${what} ${event}`, times = [];
        if (!columns.has(name))
            return null;
        for (let numbers = columns.numbers(name), at = 0; !numbers.ended();)
            times.push((at += numbers.next()) / 1000);
        return Float64Array.from(times);
    });
}

/**
 * Metrics of the VMs over time. Each series has at least one reading.
 * @param {Columns} columns @param {Header["nodeMetrics"]} metrics @returns {Recording["nodeMetrics"]}
 */
function readNodeMetrics(columns, metrics) {
    const name = "node metrics", series = [];
    if (!columns.has(name))
        return [];
    for (const numbers = columns.numbers(name); !numbers.ended();) {
        const [target, metric, of, id, owner, count] =
            Array.from({ length: 6 }, () => numbers.next());
        const times = new Float64Array(count), values = new Float64Array(count);
        for (let i = 0, time = 0, value = 0; i < count; i++) {
            times[i] = time += numbers.next();
            values[i] = value += numbers.signed();
        }
        series.push({ target, ...metrics[metric], of, id, owner, times, values });
    }
    return series;
}

/* ---- all of it ---- */

/**
 * The text of a script element of an open page, or of the text of a page's file.
 * @param {Document | string} page @param {string} id
 */
function scriptText(page, id) {
    const text = typeof page === "string"
        ? page.match(new RegExp(`<script [^>]*id="${id}">([^<]*)</script>`))?.[1]
        : page.getElementById(id)?.textContent;
    if (!text)
        throw new Error(`the page is damaged: it has no ${id}`);
    return text;
}

/**
 * @param {Document | string} page the open page, or the text of its file
 * @returns {Promise<Recording>}
 */
export async function readRecording(page) {
    /** @type {PageHeader} */
    const header = JSON.parse(scriptText(page, "header"));
    const { counts } = header, events = [NO_EVENT, ...header.events];
    const columns = await Columns.unpack(header.columns, bytesOf(scriptText(page, "recording")));
    const strings = readTexts(columns, "strings", counts.strings);
    const by = readOrder(columns, counts), samples = readSamples(columns, header, events, by);
    return {
        header, strings, events, samples,
        frames: readFrames(columns, counts.frames, strings),
        stacks: readStacks(columns, counts.stacks),
        processes: readProcesses(columns, counts.processes),
        ancestors: readTable(columns, "ancestor", counts.ancestors, ["up", "name"]),
        threads: readThreads(columns, counts.threads),
        targets: [NO_TARGET, ...header.targets],
        spans: readSpans(columns, "spans", events.length),
        recorded: readSpans(columns, "recorded", events.length),
        traces: readTraces(columns, counts, by),
        nodeMetrics: readNodeMetrics(columns, header.nodeMetrics),
    };
}
