// SPDX-License-Identifier: Apache-2.0
/*
 * The data types that the viewer's modules exchange. Data flows one way through the directories:
 *
 *   recording/   decodes the page's data block into columns          Recording
 *   analysis/    weights.js: the weight of each sample               Weights
 *                grouping.js: the root frames of each sample         Roots
 *                selection.js: the selected samples                  Uint32Array of sample indexes
 *                tree.js: the merged stacks of these samples         Tree
 *                heatmap_cells.js, process_rows.js, function_rows.js: other views of these samples
 *                node_rows.js: the metrics of the VMs
 *                process_names.js: the name of a process             ProcessName
 *                model.js: all of this for a Choice; each result is computed once
 *   view/        draws the results, and turns the user's actions into a Choice
 *
 *      weigh(recording, choice): Weights
 *      group(recording, choice, weights): Roots
 *      select(recording, choice, roots, range): Uint32Array             samples of all events
 *      buildTree(recording, choice, weights, roots, sides): Tree        each form but sandwich
 *      buildSandwich(recording, choice, weights, roots, sides): Sandwich
 *      buildTimeTree(recording, choice, weights, roots, samples): TimeTree   time_order.js
 *      matchTree(tree, pattern): Match                                  search.js
 *      heatmapCells(recording, choice, weights, samples, cellMs): Cells
 *      coveredCells(recording, choice, cells): Float32Array | null      coverage.js
 *      countedOf(recording, weights, part): Counted | null              counted.js
 *      makeLanes(recording): Generator<Lane | null>                     lanes.js
 *      eventTotals(recording): EventTotal[]                             event_totals.js
 *      rowIntervals(recording, weights, samples, part): RowIntervals | null
 *      markCells(recording, cells, weights, roots, samples, pattern): Uint8Array
 *      processRows(recording, weights, samples, intervals): ProcessRow[]
 *      traceRows(recording, weights, samples, intervals): TraceRows
 *      delaysOf(recording, processes, range): Delays | null             delays.js
 *      nodeRows(recording, range): NodeRow[]
 *      functionRows(recording, choice, weights, sides, intervals): FunctionRow[]
 *      callCounts(recording, samples, part): Map<string, CallCount>     call_counts.js
 *      functionCallers(recording, choice, weights, sides, row): FunctionCaller[]
 *      treeRows(tree, open): TreeRow[]                                  call_tree.js
 *      lineRows(recording, choice, weights, sides, intervals): LineRow[]
 *      readPattern(text): Pattern                                       pattern.js
 *      weightsOf(recording, event), GROUP_KEYS                          the available options
 *
 * `sides` holds the result of select() for `range` and, in a comparison, for `against`.
 *
 * Ids are those of the recording: indexes into its tables; 0 is "none" (src/profile/profile.h).
 * The page must show the same numbers and names as `beamflame report`: each module computes what
 * the C file named in its comment computes.
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
    targets: Target[]; /* [0]: none */
    events: RecordedEvent[]; /* [0]: none */
    /* By event, the times in which it could be seen: [from, to, from, to...] in ms on the axis, in
     * order; null: all the time. [0]: in which the recorder ran. */
    spans: (Float64Array | null)[];
    /* The same of the times in which an event was recorded. */
    recorded: (Float64Array | null)[];
    samples: Samples;
    traces: Traces;
    nodeMetrics: NodeSeries[];
}

export interface Frames {
    symbol: Uint32Array; module: Uint32Array; file: Uint32Array; line: Uint32Array;
    kind: Uint8Array; /* enum frame_kind: 1 Erlang, 2 BIF, 3 runtime, 4 native, 5 kernel, 6 mark */
    elixir: Uint8Array; /* 1: an Erlang function or BIF whose module has an Elixir name: "Enum" */
    build: Uint32Array; /* string id of the build id of its file; 0: not known */
    unnamed: Uint8Array; /* 1: no name is known: the symbol is an offset in the file */
}

/* Node n is a call of frame[n], and its caller is node parent[n] < n. Node 0 is the empty stack. */
export interface Stacks { parent: Uint32Array; frame: Uint32Array }

/* A process has a new entry each time one of its names changes; `same` is its first entry. */
export interface Processes {
    same: Uint32Array; target: Uint32Array; pid: Uint32Array; name: Uint32Array; label: Uint32Array;
    labelIsDetail: Uint32Array; /* 1: the label does not name the process in groups */
    initialCall: Uint32Array; application: Uint32Array; parent: Uint32Array;
    ancestors: Uint32Array; /* the nearest one, in Recording.ancestors */
}

export interface Target {
    pid: number; node: string; host: string; /* "": the header's hostname */
    otpRelease: string; erts: string; flavor: string;
    executable: string; container: string; schedulers: number; processes: number;
}

export interface RecordedEvent {
    name: string;
    values: { name: string; unit: Unit }[];
    /* The counters of the event besides its samples, by part of the recording, or null
     * (src/profile/event_summary.h). */
    summaries: (EventSummary | null)[];
}
export interface EventSummary {
    hits: number; lost: number; spanNs: number; coveredNs: number; windows: number;
    sums: number[]; errors: (number | null)[];
}
export type Unit = "count" | "ns" | "words" | "bytes";

export interface Header {
    /* One recording, or the two that are compared. Each has its own range of the time axis. */
    parts: {
        name: string; from: number; to: number; /* ms on the axis */
        startRealtime: number; /* ms since 1970; 0: unknown */
        hostname: string; kernel: string; command: string; occasion: string; frequency: number;
        cpus: number; event: string; cut: boolean;
        cpuAccount: string; /* a sentence if samples and CPU time differ, else "" */
        losses: { name: string; sentence: string; count: number }[]; /* with a count above 0 */
        totals: Record<string, number>; /* samples, erlangSamples, completeStacks, leftOut... */
    }[];
    version: string; /* of beamflame */
    rowWindowNs: number; /* time of a window of Samples.window */
    choice: Partial<Choice>; /* selected on the command line: what the page shows first */
    compares: boolean; /* true if the parts are the two sides of a comparison */
    statuses: string[]; activities: string[]; /* names by number */
    metrics: { name: string; unit: Unit }[]; /* by number */
    nodeMetrics: { name: string; unit: Unit }[]; /* the same */
    moments: Moment[]; /* in order of time */
}

/* What a user has marked while the recording was made; time in ms on the axis. */
export interface Moment { time: number; label: string }

/* Columns, in order of time. An unknown value is NaN in a column of floats. */
export interface Samples {
    count: number;
    time: Uint32Array; /* whole ms on the axis, rounded down */
    event: Uint8Array; stack: Uint32Array; process: Uint32Array; thread: Uint32Array;
    detail: Uint32Array; status: Uint8Array; activity: Uint8Array;
    complete: Uint8Array; /* SAMPLE_COMPLETE */
    named: Uint8Array; /* SAMPLE_NAMED */
    exact: Uint8Array; /* SAMPLE_EXACT */
    window: Uint32Array; /* row_interval_window_at(), from 0 on */
    /* Pairs of samples that are the parts of one hit, in order of time. */
    parts: { first: Uint32Array; second: Uint32Array };
    value(index: number): Float64Array; /* by index of the event's values; 0: no such value */
    metric(index: number): Float64Array; /* decoded at the first call, then kept */
}

/* The traces of the samples. A sample without one has place 0. */
export interface Traces {
    ids: string[]; /* by place, most samples first; [0] is "" */
    of: Uint32Array; /* by sample, its place; ids.length: not listed; empty if no sample has a trace */
    notListed: number; /* how many traces */
}

/* A metric of a VM, or of an allocator, table or port of it, in order of time. A value holds until the
 * next one (src/profile/node_metrics.h). */
export interface NodeSeries {
    target: number; name: string; unit: Unit;
    of: number; id: number; /* string ids: "ets_alloc"; "#Ref<0.1.2.3>" */
    owner: number; /* a process */
    times: Float64Array; values: Float64Array; /* whole ms on the axis */
}

/* ---- what is selected ---- */

export interface Range { from: number; to: number } /* ms, without `to` itself */

export interface Choice {
    event: string;
    weight: string;  /* "" (the event's first value), a value of it, "samples", "cpu", "wall", or a metric */
    change: boolean; /* weigh the change of the metric since the process' previous sample */
    groupBy: string[]; /* as --group-by; [] and ["none"] give no root frames */
    range: Range | null;
    against: Range | null; /* the range to compare with: the graph shows range - against */
    per: "total" | "time" | "none"; /* what the sides of a comparison are scaled by */
    include: string; exclude: string; /* regular expressions, "" for none (-I, -X) */
    processes: number[]; /* Processes.same; [] is all */
    traces: string[]; /* ids; [] is all */
    statuses: number[]; schedulers: number[]; /* thread ids; [] is all */
    idle: boolean; /* graphs of event wall show idle processes */
    foldWaiting: boolean; /* processes of event wall that wait are one frame (waiting.js) */
    form: "stacks" | "callers" | "sandwich" | "time"; /* callers: merged from the leaf; time: in
                                                       * order of time */
    focus: string; /* the function of sandwich */
    icicle: boolean; /* root at the top */
    foldRecursion: boolean; /* directly recursive calls are one frame */
    erlangOnly: boolean; /* C code and BIFs are a part of the Erlang function that calls them */
    hidden: string[]; /* regular expressions: a hidden frame's callees move to its caller */
    search: string;
}

/* The time of a column of the heatmap (heatmap_scales.js). */
export type Scale = "second" | "minute" | "hour";

/* A Choice, and how the page shows it. */
export interface View extends Choice {
    lanes: "auto" | "none" | "shown"; /* auto: in a large window */
    scale: "auto" | Scale; /* of the heatmap; auto: by the length of the recording */
    at: number; /* left edge of a long recording's heatmap, ms on the axis; 0: the start */
    zoom: { part: number; path: string[] } | null; /* names of frames, from the root's child on */
    panel: "auto" | "none" | "functions" | "lines" | "tree" | "processes" | "traces"
        | "vm"; /* auto: functions in a wide window */
}

/* ---- what is shown ---- */

export interface Weights {
    of: Float64Array; /* by sample; negative: a release */
    unit: Unit | "samples";
    name: string;
    event: number; value: number; /* the value of the event that it is; -1: none */
    unknown: number; /* samples of processes with an unknown metric */
}

/* The root frames of samples, as nodes of a tree. of[sample] is the sample's innermost root frame,
 * or 0 for none. Node n shows texts[text[n]], and parent[n] is the next root frame outwards. A node
 * with its outer ones is a chain. */
export interface Roots {
    of: Uint32Array; parent: Uint32Array; text: Uint32Array; texts: string[];
    /* By node: the innermost node of its chain that stays at the root in each form; 0: none. */
    outer: Uint32Array;
}

/*
 * Merged stacks. Node 0 is the whole. The children of node n are first[n] .. first[n] + children[n]
 * - 1: root frames, then functions, each sorted by text. Parents come before their children. Side 0 is
 * `range`, side 1 `against`.
 */
export interface Tree {
    count: number;
    parent: Uint32Array; first: Uint32Array; children: Uint32Array; depth: Uint16Array;
    name: Uint32Array; /* into names */
    frame: Uint32Array; /* one frame of the node, for module, file and line; 0: a root frame */
    kind: Uint8Array; /* values of Kind */
    self: [Float64Array, Float64Array | null]; total: [Float64Array, Float64Array | null];
    /* Number of samples in `self` and in `total`. A hit with several samples counts once. */
    ownSamples: [Float64Array, Float64Array | null];
    samples: [Float64Array, Float64Array | null];
    names: string[];
    groups: Uint32Array; /* by sample, its group of equal stacks */
    ends: () => Int32Array; /* by group, the node at which its stack ends; -1: none */
    scale: number; /* multiply side 1 by this to compare it with side 0; 1 without a side 1 */
    weights: Weights;
    /* Only of a tree in order of time. `start` is by node, in ns from `from` (ms on the axis) on. Its own
     * clock starts at `clock` (ms on the axis). */
    time?: { start: Float64Array; from: number; clock: number; subject: string;
             side: "" /* nothing is compared */ | "A" | "B"; isCut: boolean };
}
export type TimeTree = Tree & Required<Pick<Tree, "time">>;
export type Sides = [Uint32Array, Uint32Array | null];

/* The callers and callees of the function choice.focus. Node 0 of both trees is all stacks with the
 * function. The function is its child, below the root frames that stay at the root (Roots.outer).
 * The function's children are its callers in `callers`, its callees in `callees`. In a recursive
 * stack the function is its outermost call, so that no sample counts twice. */
export interface Sandwich { callers: Tree; callees: Tree }

/* A regular expression with the syntax of -I. `problem` says why the expression is invalid, or is
 * "". `test` is null for an empty or invalid expression. */
export interface Pattern { test: ((text: string) => boolean) | null; problem: string }

/* Kinds of frames, for colours: the recording's kinds, with two more (kinds.js has their names). */
export type Kind = 0 /* root */ | 1 /* Erlang */ | 2 /* BIF */ | 3 /* runtime */ | 4 /* native */
    | 5 /* kernel */ | 6 /* mark */ | 7 /* Elixir */ | 8 /* garbage collection */;

/* The nodes of a tree that match a search. `amounts` has for each side, not scaled, the weight of
 * the stacks with a match and of all stacks; growth and release are both added. */
export interface Match {
    of: Uint8Array; count: number; /* by node, 1 if it matches; number of these nodes */
    amounts: { matched: number; whole: number }[];
}

/* The cells of a heatmap: a column is a second, a minute or an hour (heatmap_scales.js). A second has
 * 50 rows of 20 ms, fewer for slower sweeps; the others have 60. The overview has one row. */
export interface Cells {
    cellMs: number; columnMs: number; /* columnMs = rows * cellMs */
    rows: number; columns: number; start: number; /* ms of the first column */
    of: Float64Array; /* weight, column by column, offset 0 first; NaN: not recorded (a gap) */
    covered: Float32Array | null; /* share of the cell in which the event could be seen; null: 1 */
    least: number; greatest: number; /* the weights of the darkest colours */
}

/* The total of an event, estimated from windows or sweeps (counted.js). */
export interface Counted {
    event: string; sum: number; half: number; /* of its 95 % interval; NaN: unknown */
    share: number; /* of the time that windows cover, or of the processes that sweeps read */
    windows: number; hits: number;
    unseen: number; /* hits of a kind that windows may have missed, if they saw none */
}

/* The total of an event by its first value (event_totals.js). */
export interface EventTotal {
    event: string; value: string; unit: Unit;
    sums: number[]; /* of the samples, by part of the recording */
    counted: (Counted | null)[]; /* the same */
    shares: number[]; /* of the time in which it was seen; of event wall: of the processes */
}

/* What VMs did over time, below the heatmap (lanes.js). Bin i begins at start + i * binMs. */
export interface Lane {
    name: string; binMs: number; start: number; count: number; /* ms; number of bins */
    form: "stacked" | "area" | "bars" | "marks";
    unit: "share" | "bytes" | "messages" | "ns";
    parts: LanePart[]; /* several of a stacked lane, else one */
    marks: LaneMark[]; /* of form "marks": the highest of each bin, in order of time */
    most: number; /* the value that the upper edge stands for */
}
/* What happened at a time of a lane. A click selects its range. */
export interface LaneMark { time: number /* ms */; value: number; text: string; range: Range }
export interface LanePart { name: string; values: Float64Array }

/* Half of the 95 % intervals of a node of a tree (row_interval.js). */
export interface Halves { total: number; self: number }

export interface ProcessRow {
    process: number; /* Processes.same */
    name: string; pid: string; node: string; /* process_names.js */
    total: number; half: number; samples: number; cpuNs: number; reductions: number;
    msgq: number; memory: number; /* newest known value, or NaN */
    growth: number; /* bytes of memory and binaries, from its first sample to the newest, or NaN */
    statuses: Float64Array; /* share by status */
    spark: Float32Array; /* weight over time */
}

export interface TraceRow {
    trace: string;
    /* The process with most of the total (process_names.js), and how many others. */
    name: string; pid: string; node: string; others: number;
    total: number; half: number; samples: number;
    spark: Float32Array; /* weight over time */
}
export interface TraceRows {
    rows: TraceRow[];
    without: number; notListed: number; /* weight of samples without a trace, or with one not listed */
}

/* Who ran while processes were in run queues (delays.js). */
export interface Delays {
    ns: number; count: number; /* time in run queues; how often */
    cpuNs: number | null; /* CPU time of their schedulers meanwhile; null: event cpu is missing */
    ran: { process: number; name: string; pid: string; node: string;
           ns: number; /* its part of cpuNs */ }[]; /* most first */
}

export interface NodeRow {
    index: number; /* in Recording.nodeMetrics */
    name: string; id: string; node: string; /* node: "" if there is only one */
    unit: Unit; start: number; end: number; change: number; highest: number;
    spark: Float32Array; /* values over time */
}

export interface Cost {
    self: number; total: number;
    half: number; /* of the interval of `total` */
    samples: number; /* in `total` */
    /* The other side, scaled but for `samples`. `change` is this side's total less the other's.
     * `noise` is the 95 % bound of the change: in 95 of 100 comparisons of equal programs the
     * change is smaller. Both are NaN of a function that is not comparable (builds.js). */
    against: { self: number; total: number; samples: number; change: number; noise: number } | null;
}
export interface FunctionRow extends Cost {
    name: string; kind: Kind; frame: number; /* a frame of it, for module, file and line */
    calls?: CallCount | null; /* null: not counted; absent in other tables than that of functions */
}
/* Calls of a function; half of the 95 % interval: 0: exact, NaN: unknown (call_counts.js). */
export interface CallCount { calls: number; half: number }
/* A node of a tree whose rows can be opened. isOpen: null: it has no callees. half: see Model.totalHalves(). */
export interface TreeRow extends Cost {
    node: number; depth: number; name: string; kind: Kind; isOpen: boolean | null;
}
export interface LineRow extends FunctionRow { place: string } /* "lists.erl:123" */
export interface FunctionCaller { name: string; kind: Kind; total: number } /* most first */
