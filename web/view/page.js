// SPDX-License-Identifier: Apache-2.0
/*
 * The page. An action of the user changes the state, and each change of the state is shown.
 *
 *      controls, heatmap, graph, tables, keys ── set() ──> State ── show() ──> Model ──> all of them
 */
import { byId, button, fill, scrollByKeys } from "#view/dom";
import { DEFAULTS } from "#view/defaults";
import { Link } from "#view/link";
import { State } from "#view/state";
import { Model } from "#analysis/model";
import { ThemeSwitch, kindColour } from "#view/theme";
import { whyUnseen } from "#analysis/coverage";
import { foldedText } from "#analysis/folded_text";
import { cellMsOf } from "#analysis/heatmap_cells";
import { scaleOfView, scalesOf } from "#analysis/heatmap_scales";
import { KINDS } from "#analysis/kinds";
import { WAITING } from "#analysis/root_texts";
import { wholeSpan } from "#analysis/time_axis";
import { canFoldWaiting } from "#analysis/waiting";
import { Controls } from "#view/controls";
import { EventStrip } from "#view/event_strip";
import { GraphControls } from "#view/graph_controls";
import { FlameGraph } from "#view/flamegraph";
import { Picture } from "#view/flame_draw";
import { savePng, saveSvg, saveText } from "#view/export";
import { Heatmap } from "#view/heatmap";
import { Overview } from "#view/overview";
import { ScaleButtons } from "#view/scale_buttons";
import { selectionText } from "#view/selection_text";
import { Tables } from "#view/tables";
import { timeName, timeOfNode } from "#view/time_ticks";
import { Lanes } from "#view/lanes";
import { hasTime, showHeader, showNotice, showWarnings } from "#view/header";
import { showChips, showCompare } from "#view/chips";
import { showLegend } from "#view/legend";
import { showPath } from "#view/path";
import { matchedText, statusText } from "#view/status";
import { frameContent, frameSentence, showTooltip } from "#view/tooltip";
import { frameActions } from "#view/frame_actions";
import { openMenu } from "#view/menu";
import { showHelp } from "#view/help";
import { keep, kept } from "#view/kept";
import { listenToKeys } from "#view/keys";
import { amountText } from "#view/number_text";

/** @typedef {import("../types.js").Range} Range */
/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Scale} Scale */
/** @typedef {import("../types.js").Tree} Tree */
/** @typedef {import("../types.js").View} View */
/** @typedef {import("./flamegraph.js").Place} Place */

const ALL = "all";
const NOTE_MS = 300; /* without another move of the heatmap, before the address has its place */
const DRAGGED = "beamflame-dragged"; /* kept once the user has selected a time */

export class Page {
    /** @param {Recording} recording */
    constructor(recording) {
        this.recording = recording;
        this.model = new Model(recording);
        this.link = new Link(recording);
        this.state = new State(this.link, (view) => this.show(view));
        this.tooltip = byId("tooltip");
        this.theme = new ThemeSwitch(() => this.recolour());
        /** @type {import("./controls.js").Set} */
        this.set = (changes, typed) => this.state.set(changes, typed);
        this.events = new EventStrip(byId("events"), this.model.events(),
            (event) => this.chooseEvent(event));
        this.controls = new Controls(byId("choices"), recording, this.set);
        this.graphControls = new GraphControls(byId("graph-choices"), recording, this.set, {
            view: () => this.view, sandwich: () => this.sandwich(),
            togglePanel: () => this.set({ panel: this.tables.panel.shown(this.view)
                ? "none" : "functions" }),
            toggleLanes: () => this.lanes.toggle(this.view),
        });
        this.graph = this.makeGraph();
        this.heatmap = this.makeHeatmap();
        this.scales = scalesOf(recording);
        this.overview = this.scales.length > 1 ? this.makeOverview() : null;
        this.lanes = new Lanes(recording, (lanes, shown) => {
            this.heatmap.showLanes(lanes);
            this.graphControls.showLanes(shown);
        }, this.set);
        this.tables = new Tables(recording, this.model, { view: () => this.view, set: this.set,
            colourOf: (kind) => kindColour(this.theme.theme, kind),
            showCpuOf: (process) => this.showCpuOf(process) });
        byId("times").hidden = !recording.header.parts.some(hasTime);
        showHeader(byId("about"), recording);
        showWarnings(byId("warnings"), recording);
        this.showActions();
        listenToKeys(this);
        this.recolour();
    }

    get view() {
        return this.state.view;
    }

    /** The ranges after "Clear all": both sides on a page that compares recordings, else none. */
    get wholeTime() {
        const { range, against } = this.recording.header.compares
            ? this.link.baseOf(this.view.event) : DEFAULTS;

        return { range, against };
    }

    showActions() {
        this.undo = button("\u21b6", () => this.state.undo(),
            { className: "plain", title: "undo (u)", "aria-label": "undo" });
        this.redo = button("\u21b7", () => this.state.redo(),
            { className: "plain", title: "redo (U)", "aria-label": "redo" });
        this.save = button("\u2913", () => this.exportMenu(), { className: "plain",
            title: "save, print (p)", "aria-label": "save or print", "aria-haspopup": "menu" });
        fill(byId("page-actions"), this.undo, this.redo, this.save,
            button("\u25d0", () => this.theme.toggle(),
                { className: "plain", title: "dark or light (d)", "aria-label": "dark or light" }),
            button("?", () => this.help(),
                { className: "plain", title: "keys and pointer (?)", "aria-label": "help" }));
    }

    makeGraph() {
        return new FlameGraph(byId("flamegraph"), {
            onzoom: (zoom) => this.zoomOrUnfold(zoom),
            onspan: (place) => this.selectSpan(place),
            onmenu: (place, x, y) => this.frameMenu(place, x, y),
            onhover: (place, x, y) => showTooltip(this.tooltip, place ? frameContent(
                this.recording, this.pictureOf(place), place.node, KINDS,
                (side) => this.halvesOf(place, side)) : [], x, y),
            onfocus: (place) => this.say(frameSentence(this.pictureOf(place), place.node,
                this.halvesOf(place))),
        });
    }

    makeHeatmap() {
        return new Heatmap(byId("heatmap"), {
            onselect: (which, range) => {
                keep(DRAGGED, "1");
                this.heatmap.comparesNext = false;
                this.set({ [which]: range });
            },
            onclear: () => this.set(this.wholeTime),
            onhover: (text, x, y) => showTooltip(this.tooltip, text ? [text] : [], x, y),
            amountText: (amount) => amountText(amount, this.model.weights(this.view).unit),
            whyUnseen: (from, to) => whyUnseen(this.recording, this.view, from, to),
            onsay: (text) => this.say(text),
            onwindow: (window) => this.moved(window),
        }, this.recording.header);
    }

    /** The overview and the scales, which only long recordings have. */
    makeOverview() {
        const buttons = new ScaleButtons(byId("scales"), this.scales, (scale) => this.set({ scale }));
        const strip = new Overview(byId("overview"), this.recording.header,
            (middle) => this.heatmap.moveTo(middle));

        byId("whole").hidden = false;
        return { buttons, strip };
    }

    /** The heatmap of a long recording shows another time. @param {Range} window */
    moved(window) {
        if (!this.overview)
            return;
        this.overview.strip.setWindow(window);
        clearTimeout(this.noting);
        this.noting = setTimeout(() => {
            const { edge } = this.heatmap;

            this.heatmap.at = edge;
            if (edge !== this.view.at)
                this.state.note({ at: edge });
        }, NOTE_MS);
    }

    /** @param {Place} place */
    pictureOf(place) {
        return this.graph.parts[place.part].picture;
    }

    /** @param {Place} place @param {0 | 1} [side] */
    halvesOf(place, side = 0) {
        return this.model.halves(this.view, this.pictureOf(place).tree, place.node, side);
    }

    /** Send a text to screen readers. @param {string} text */
    say(text) {
        byId("said").textContent = text;
    }

    /* ---- showing ---- */

    /** @param {View} view */
    show(view) {
        const trees = this.model.trees(view);

        showTooltip(this.tooltip, [], 0, 0);
        this.events.show(view.event);
        this.controls.show(view);
        showNotice(byId("notice"), this.state.problems, () => {
            this.state.problems = [];
            byId("notice").hidden = true;
        });
        showChips(byId("chips"), view, this.recording, this.model.idle(view), this.wholeTime,
            this.set);
        showCompare(byId("chips"), view, this.heatmap);
        this.showGraph(view, trees);
        const shown = trees[trees.length - 1];

        byId("status").textContent = statusText(this.recording.header, view, trees,
            this.model.counted(view), (side) => this.model.halves(view, shown, 0, side));
        scrollByKeys(byId("status"));
        this.showNothing(view, trees);
        if (this.undo && this.redo) {
            this.undo.disabled = !this.state.canUndo;
            this.redo.disabled = !this.state.canRedo;
        }
        this.showRest(view);
    }

    /**
     * @param {View} view
     * @param {Tree[]} trees
     */
    showGraph(view, trees) {
        const matches = this.model.matches(view);
        const tab = this.tables.panel.show(view);
        const signed = (Boolean(view.against) || view.change) && view.form !== "time";

        this.graphControls.show(view, matchedText(matches, trees), tab !== null);
        this.graph.show(trees.map((tree, i) => ({
            upwards: trees.length === 2 ? i === 0 : !view.icicle,
            base: view.form === "sandwich" ? rowOf(tree, view.focus) : 0,
            picture: new Picture(tree, matches?.[i] ?? null, tree.time ? timeName(tree) : ALL,
                signed) })), view.zoom);
        const { parts } = this.graph;
        const zoomed = parts[view.zoom?.part ?? parts.length - 1] ?? parts[0];

        showPath(byId("path"), zoomed.picture, view.zoom,
            (node, side) => this.model.halves(view, zoomed.picture.tree, node, side),
            (zoom) => this.zoom(zoom));
        showLegend(byId("legend"), this.graph.parts.map(({ picture }) => picture), signed,
            view.against ? ["more in A", "more in B"] : ["release", "growth"],
            this.theme.theme);
    }

    /**
     * Show tables and heatmap in a later task, so that the graph responds at once.
     *
     * @param {View} view
     */
    showRest(view) {
        clearTimeout(this.pending);
        this.pending = setTimeout(() => {
            const { model } = this, scale = scaleOfView(this.recording, view);

            byId("hint").hidden = kept(DRAGGED) !== null || view.range !== null;
            this.heatmap.show(model.cells(view, scale), model.marks(view, scale), view.range,
                view.against, view.at);
            this.showOverview(view, scale);
            this.tables.show(view);
            this.lanes.show(view);
        });
    }

    /**
     * @param {View} view
     * @param {Scale} scale
     */
    showOverview(view, scale) {
        this.overview?.buttons.show(scale, (one) => cellMsOf(this.recording, view, one));
        this.overview?.strip.show({ cells: this.model.overview(view), range: view.range,
            against: view.against });
    }

    /**
     * @param {View} view
     * @param {Tree[]} trees
     */
    showNothing(view, trees) {
        const nothing = byId("nothing");

        nothing.hidden = trees.some((tree) => tree.samples[0][0] || tree.samples[1]?.[0]);
        if (!nothing.hidden)
            nothing.textContent = nothingText(view, this.model.hasSamples(view));
    }

    recolour() {
        this.graph.setTheme(this.theme.theme);
        this.heatmap.setTheme(this.theme.theme);
        this.show(this.view);
    }

    /* ---- actions of the user ---- */

    /** Show an event in its own way. The selection stays. @param {string} event */
    chooseEvent(event) {
        const { weight, change, groupBy, form, foldRecursion, foldWaiting, erlangOnly } =
            this.link.baseOf(event);

        if (event !== this.view.event)
            this.set({ event, weight, change, groupBy, form, foldRecursion, foldWaiting, erlangOnly,
                focus: "" });
    }

    /** Select the time of a frame; of node 0, all of the time. @param {Place} place */
    selectSpan(place) {
        const { tree } = this.pictureOf(place);
        const which = tree.time?.side === "A" ? "against" : "range";
        const whole = which === "range" ? this.wholeTime.range
            : this.wholeTime.against ?? wholeSpan(this.recording);

        this.set({ [which]: place.node ? timeOfNode(tree, place.node) : whole });
    }

    /** Show the CPU time of a process, of the selected time. @param {number} process */
    showCpuOf(process) {
        const { range, panel } = this.view;

        this.set({ ...this.link.baseOf("cpu"), range, panel, processes: [process] });
    }

    /**
     * @param {Place} place
     * @param {number} x
     * @param {number} y
     */
    frameMenu(place, x, y) {
        const picture = this.pictureOf(place);

        showTooltip(this.tooltip, [], 0, 0);
        openMenu(picture.nameOf(place.node), this.actionsOf(place), x, y);
    }

    /** @param {Place} place */
    actionsOf(place) {
        return frameActions(this.pictureOf(place).tree, place.node,
            { view: () => this.view, set: this.set, zoom: () => this.graph.zoomTo(place) });
    }

    /** Run the action of a key in the menu of the focused frame. @param {string} key */
    frameKey(key) {
        const place = this.graph.focused;

        if (place)
            this.actionsOf(place).find((action) => action?.key === key)?.run();
    }

    /** Show the sandwich of the focused frame, else of the previous focus. */
    sandwich() {
        const place = this.graph.focused, tree = place && this.pictureOf(place).tree;
        const focus = tree && tree.frame[place.node] ? tree.names[tree.name[place.node]]
            : this.view.focus;

        this.set({ form: "sandwich", focus,
            panel: focus || this.tables.panel.shown(this.view) ? this.view.panel : "functions" });
    }

    /**
     * Zoom the graph even if the state already has this zoom: the wheel moves the graph without the
     * state.
     *
     * @param {View["zoom"]} zoom
     */
    zoom(zoom) {
        this.graph.aimAt(zoom, true);
        this.set({ zoom });
    }

    /** Zoom to a frame; that of the folded waiting processes unfolds. @param {View["zoom"]} zoom */
    zoomOrUnfold(zoom) {
        if (zoom?.path.at(-1) === WAITING && this.model.foldsWaiting(this.view))
            this.set({ foldWaiting: false, zoom: this.view.form === "stacks" ? zoom : null });
        else
            this.zoom(zoom);
    }

    /** Show finer or coarser cells. @param {1 | -1} step -1: finer */
    stepScale(step) {
        const at = this.scales.indexOf(scaleOfView(this.recording, this.view)) + step;

        if (this.scales[at])
            this.set({ scale: this.scales[at] });
    }

    /** Fold processes of event wall that wait, or show them one by one. */
    toggleWaiting() {
        if (canFoldWaiting(this.recording, this.view))
            this.set({ foldWaiting: !this.view.foldWaiting });
    }

    escape() {
        if (this.view.zoom || this.graph.isZoomed)
            this.zoom(null);
        else if (this.view.search)
            this.set({ search: "" });
    }

    /** Offer files of what is shown. */
    exportMenu() {
        const box = this.save?.getBoundingClientRect(), { graph, model, view } = this;
        const name = `beamflame-${view.event || "stacks"}`;

        openMenu("Save what is shown", [
            { text: "Graph as SVG", key: "s", run: () => saveSvg(`${name}.svg`, graph) },
            { text: "Graph as PNG", key: "p", run: () => savePng(`${name}.png`, graph) },
            { text: "Folded stacks", key: "f", run: () => saveText(`${name}.folded`,
                foldedText(model.trees({ ...view, form: "stacks", foldWaiting: false })[0])) },
            { text: "Selection as text", key: "t", run: () => saveText(`${name}.txt`,
                selectionText([document.title, byId("status").innerText,
                    ...Array.from(document.querySelectorAll("#chips .chip"),
                        (chip) => chip.firstChild?.textContent ?? "")],
                model.functions(view), model.weights(view), model.whole(view))) },
            null,
            { text: "Print", key: "Ctrl+P", run: () => print() },
        ], box?.left ?? 0, box?.bottom ?? 0);
    }

    help() {
        showHelp(this.recording.header.version);
    }
}

/**
 * Why the graph is empty.
 *
 * @param {View} view
 * @param {boolean} hasSamples of the event
 */
function nothingText({ event, form, focus }, hasSamples) {
    if (!hasSamples)
        return `The recording has no samples of event ${event}.`;
    if (form === "time")
        return "No process is seen here over time. Events cpu, wall, sched and gc have times; remove a "
            + "filter, or choose one of them.";
    return form === "sandwich" && !focus
        ? "Choose a function: click it in the table of functions, or press s on a frame."
        : "No samples are selected. Remove a filter, or press u.";
}

/**
 * The row of the sandwich's function. The rows before it are root frames: node, growth or release.
 *
 * @param {Tree} tree
 * @param {string} name
 */
function rowOf(tree, name) {
    let node = 0;

    while (tree.children[node] && tree.names[tree.name[node]] !== name)
        node = tree.first[node];
    return tree.depth[node];
}
