// SPDX-License-Identifier: Apache-2.0
/*
 * The shapes that the viewer's modules hand to each other. Data flows one way, from room to room:
 *
 *   recording/   the file's data block becomes columns               Recording
 *   analysis/    weights.js: what each sample counts                 Weights
 *                grouping.js: the root frames of each sample         Roots
 *                selection.js: the samples that are wanted           Uint32Array of them
 *                tree.js: their stacks, merged                       Tree
 *                heatmap_cells.js, process_rows.js, function_rows.js: the same samples, elsewhere
 *                process_names.js: what a process is called          ProcessName
 *                model.js: all of this for a Choice, each thing made once
 *   view/        draws it, and turns what the user does into a Choice
 *
 *      weigh(recording, choice): Weights
 *      group(recording, choice, weights): Roots
 *      select(recording, choice, roots, range): Uint32Array             of all events
 *      buildTree(recording, choice, weights, roots, sides): Tree        choice.form but sandwich
 *      buildSandwich(recording, choice, weights, roots, sides): Sandwich
 *      matchTree(tree, pattern): Match                                  search.js
 *      heatmapCells(recording, weights, samples, cellMs): Cells
 *      markCells(recording, cells, weights, roots, samples, pattern): Uint8Array
 *      processRows(recording, weights, samples): ProcessRow[]
 *      functionRows(recording, choice, weights, sides): FunctionRow[]
 *      functionCallers(recording, choice, weights, sides, row): FunctionCaller[]
 *      readPattern(text): Pattern                                       pattern.js
 *      eventsOf(recording), weightsOf(recording, event), GROUP_KEYS     what there is to choose
 *
 * `sides` are what select() gives for `range` and, where something is compared, for `against`.
 *
 * Ids are those of the recording: indexes into its tables, 0 being "none" (src/profile/profile.h).
 * A page knows what a recording knows, so it must tell what `beamflame report` tells: what each
 * module computes is that of the C file that it names.
 */

/* ---- what was recorded ---- */

export interface Recording {
    header: Header;
    strings: string[]; /* of string id; [0] is "" */
    frames: Frames;
    stacks: Stacks;
    processes: Processes;
    ancestors: { up: Uint32Array; name: Uint32Array };
    threads: {
        target: Uint32Array; tid: Uint32Array; name: Uint32Array;
        kind: Uint8Array; /* enum scheduler_kind */
        number: Uint32Array;
    };
    targets: Target[]; /* [0] stands for none */
    events: RecordedEvent[]; /* [0] stands for none */
    samples: Samples;
}

export interface Frames {
    symbol: Uint32Array; module: Uint32Array; file: Uint32Array; line: Uint32Array;
    kind: Uint8Array; /* enum frame_kind: 1 Erlang, 2 BIF, 3 runtime, 4 native, 5 kernel, 6 mark */
    elixir: Uint8Array; /* 1: Erlang code that was written in Elixir (or another language of it) */
}

/* Node n is frame[n] under node parent[n] < n; 0 is the root of all. */
export interface Stacks { parent: Uint32Array; frame: Uint32Array }

/* A new entry where a name changed; `same` is the first entry of that very process. */
export interface Processes {
    same: Uint32Array; target: Uint32Array; pid: Uint32Array; name: Uint32Array; label: Uint32Array;
    initialCall: Uint32Array; application: Uint32Array; parent: Uint32Array;
    ancestors: Uint32Array; /* the nearest */
}

export interface Target {
    pid: number; node: string; host: string; /* "": the header's */
    otpRelease: string; erts: string; flavor: string;
    executable: string; container: string; schedulers: number; processes: number;
}

export interface RecordedEvent {
    name: string;
    values: { name: string; unit: Unit }[];
    /* What was counted besides samples; null if nothing was (src/profile/event_summary.h). */
    summary: { hits: number; lost: number; spanNs: number; coveredNs: number; windows: number;
               sums: number[]; errors: (number | null)[] } | null;
}
export type Unit = "count" | "ns" | "words" | "bytes";

export interface Header {
    /* One recording, or those that are compared: each has its own stretch of the time axis. */
    parts: {
        name: string; from: number; to: number; /* ms on the axis */
        startRealtime: number; /* ms since 1970; 0: not known */
        hostname: string; kernel: string; command: string; occasion: string; frequency: number;
        cpus: number; event: string; cut: boolean;
        cpuAccount: string; /* a sentence where samples and CPU time differ, else "" */
        losses: { name: string; sentence: string; count: number }[]; /* those that are not 0 */
        totals: Record<string, number>; /* samples, erlangSamples, completeStacks, leftOut... */
    }[];
    version: string; /* of beamflame */
    choice: Partial<Choice>; /* what the command line asked for: what the page shows first */
    compares: boolean; /* the parts are the two sides of a comparison */
    statuses: string[]; activities: string[]; /* names by number */
    metrics: { name: string; unit: Unit }[]; /* by number */
}

/* Columns, in order of time; not known is NaN in those of floats. */
export interface Samples {
    count: number;
    time: Uint32Array; /* whole ms on the axis, rounded down */
    event: Uint8Array; stack: Uint32Array; process: Uint32Array; thread: Uint32Array;
    detail: Uint32Array; status: Uint8Array; activity: Uint8Array;
    complete: Uint8Array; /* SAMPLE_COMPLETE */
    named: Uint8Array; /* SAMPLE_NAMED */
    value(index: number): Float64Array; /* of the event's values; 0 where an event has fewer */
    metric(index: number): Float64Array; /* unpacked when it is first asked for, then kept */
}

/* ---- what is wanted ---- */

export interface Range { from: number; to: number } /* ms: from one until before the other */

export interface Choice {
    event: string;
    weight: string;  /* "" (the event's first value), a value of it, "samples", "cpu", "wall", or a metric */
    change: boolean; /* of the metric, since the process' sample before */
    groupBy: string[]; /* as --group-by; [] and ["none"] give no root frames */
    range: Range | null;
    against: Range | null; /* the range that is compared with: the graph is range - against */
    per: "total" | "time" | "none"; /* what both sides of a comparison are made equal by */
    include: string; exclude: string; /* regular expressions, "" for none (-I, -X) */
    processes: number[]; /* Processes.same; [] is all */
    statuses: number[]; schedulers: number[]; /* thread ids; [] is all */
    form: "stacks" | "callers" | "sandwich"; /* callers: merged from the leaf */
    focus: string; /* the function of sandwich */
    icicle: boolean; /* root at the top */
    foldRecursion: boolean; /* runs of one function are one frame */
    hidden: string[]; /* regular expressions: frames left out, their callees go to the caller */
    search: string;
}

/* What is wanted, and where in it one looks. */
export interface View extends Choice {
    zoom: { part: number; path: string[] } | null; /* names from the frame after the root on */
    panel: "auto" | "none" | "functions" | "processes"; /* auto: functions, where there is room */
}

/* ---- what is shown ---- */

export interface Weights {
    of: Float64Array; /* by sample; negative: release */
    unit: Unit | "samples";
    name: string;
    unknown: number; /* samples of processes whose metric was not known */
}

/* Root frames of samples, as nodes of a tree: of[sample] is the innermost one, 0 if there is none;
 * node n shows texts[text[n]], parent[n] stands outside of it. */
export interface Roots {
    of: Uint32Array; parent: Uint32Array; text: Uint32Array; texts: string[];
    outer: Uint32Array; /* by node: that of its chain which stays outermost in each form; 0: none */
}

/*
 * Merged stacks. Node 0 is everything; children of a node are first[n] .. first[n] + children[n] - 1,
 * sorted by text; parents come before children. Sides: 0 is `range`, 1 `against`.
 */
export interface Tree {
    count: number;
    parent: Uint32Array; first: Uint32Array; children: Uint32Array; depth: Uint16Array;
    name: Uint32Array; /* into names */
    frame: Uint32Array; /* a frame of it, for module, file and line; 0: a root frame */
    kind: Uint8Array; /* of Kind */
    self: [Float64Array, Float64Array | null]; total: [Float64Array, Float64Array | null];
    samples: [Float64Array, Float64Array | null]; /* how many samples are in total */
    names: string[];
    scale: number; /* what side 1 is multiplied by to compare it with side 0; 1 without a side 1 */
    weights: Weights;
}
export type Sides = [Uint32Array, Uint32Array | null];

/* Around choice.focus: node 0 of both is all that it is in, and their one child is the function
 * itself: in `callers` its callers are the children, in `callees` whom it calls. Where it calls
 * itself, the outermost call is the one that is meant, so that no sample counts twice. */
export interface Sandwich { callers: Tree; callees: Tree }

/* A regular expression as -I has it; `problem` says what is wrong, "" if nothing is. One that is
 * "" or wrong has no `test`. */
export interface Pattern { test: ((text: string) => boolean) | null; problem: string }

/* Kinds of frames, for colours: those of the recording, told further (kinds.js names them). */
export type Kind = 0 /* root */ | 1 /* Erlang */ | 2 /* BIF */ | 3 /* runtime */ | 4 /* native */
    | 5 /* kernel */ | 6 /* mark */ | 7 /* Elixir */ | 8 /* garbage collection */;

/* By node, 1 where it matches, and how many nodes do; by side, not scaled, what has a match and what
 * all is: of growth and release, both. */
export interface Match {
    of: Uint8Array; count: number;
    amounts: { matched: number; whole: number }[];
}

/* 20 ms by 50 rows a second by default; NaN: no sample was possible there (a gap). */
export interface Cells {
    cellMs: number; rows: number; columns: number; start: number; /* ms of the first column */
    of: Float64Array; /* column by column, offset 0 first */
    least: number; greatest: number;
}

export interface ProcessRow {
    process: number; /* Processes.same */
    name: string; pid: string; node: string; /* process_names.js */
    total: number; samples: number; cpuNs: number; reductions: number;
    msgq: number; memory: number; /* newest known; NaN if not */
    statuses: Float64Array; /* share by status */
    spark: Float32Array; /* weight over time */
}

export interface FunctionRow {
    name: string; kind: Kind; frame: number; /* one of it, for module, file and line */
    self: number; total: number;
    samples: number; /* in total */
    /* The other side, scaled. `change`: of the total, from it to this side; `noise`: what the change
     * stays within at 95 of 100 comparisons where nothing has changed. */
    against: { self: number; total: number; samples: number; change: number; noise: number } | null;
}
export interface FunctionCaller { name: string; kind: Kind; total: number } /* most first */
