// SPDX-License-Identifier: Apache-2.0
/*
 * The fragment of the page's address. It contains a view, so that the view can be sent as a link:
 * "#event=gc&group=name,status&range=1000-2500". It has the fields that differ from the defaults of
 * its event.
 */
import { functionsOf, textsOf } from "#analysis/functions";
import { GROUP_KEYS } from "#analysis/grouping";
import { scalesOf } from "#analysis/heatmap_scales";
import { readPattern } from "#analysis/pattern";
import { weightsOf } from "#analysis/weights";
import { eventOfWeight, firstEvent, viewOfEvent } from "#view/defaults";

/** @typedef {import("../types.js").View} View */
/** @typedef {import("../types.js").Range} Range */
/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {{ write(value: any): string, read(text: string): any }} Form `read` returns undefined
 *     for a text that is no value, or throws */

/** @type {Form} */
const TEXT = { write: String, read: (text) => text };
const FLAG = { write: (/** @type {boolean} */ value) => (value ? "1" : "0"),
    read: (/** @type {string} */ text) => (/^[01]$/.test(text) ? text === "1" : undefined) };
const NUMBER = { write: String,
    read: (/** @type {string} */ text) => (/^\d+$/.test(text) ? Number(text) : undefined) };
const NUMBERS = { write: (/** @type {number[]} */ list) => list.join(","),
    read: (/** @type {string} */ text) => (/^(\d+(,\d+)*)?$/.test(text)
        ? text.split(",").filter(Boolean).map(Number) : undefined) };
const TEXTS = { write: (/** @type {string[]} */ list) => list.map(encodeURIComponent).join(","),
    read: (/** @type {string} */ text) => text.split(",").filter(Boolean)
        .map(decodeURIComponent) };
/* Ids can be pasted as other programs write them. */
const TRACES = { write: (/** @type {string[]} */ list) => list.join(","),
    read: (/** @type {string} */ text) => text.toLowerCase().split(",").filter(Boolean) };
const RANGE = {
    write: (/** @type {Range | null} */ range) => (range ? `${range.from}-${range.to}` : ""),
    read: (/** @type {string} */ text) => {
        const found = /^(\d+)-(\d+)$/.exec(text);

        if (!text)
            return null;
        return found && Number(found[1]) < Number(found[2])
            ? { from: Number(found[1]), to: Number(found[2]) } : undefined;
    },
};
const ZOOM = {
    write: (/** @type {View["zoom"]} */ zoom) =>
        (zoom ? [zoom.part, ...zoom.path.map(encodeURIComponent)].join(",") : ""),
    read: (/** @type {string} */ text) => {
        const [part, ...path] = text.split(",");

        if (!text)
            return null;
        return path.length && /^[01]$/.test(part)
            ? { part: Number(part), path: path.map(decodeURIComponent) } : undefined;
    },
};

/** @param {...string} names */
const oneOf = (...names) => ({ write: String,
    read: (/** @type {string} */ text) => (names.includes(text) ? text : undefined) });

/** @type {[keyof View, string, Form][]} */
const FIELDS = [
    ["event", "event", TEXT], ["weight", "weight", TEXT], ["change", "change", FLAG],
    ["groupBy", "group", TEXTS], ["range", "range", RANGE], ["against", "against", RANGE],
    ["per", "per", oneOf("time", "total", "none")], ["include", "include", TEXT],
    ["exclude", "exclude", TEXT], ["processes", "process", NUMBERS],
    ["traces", "trace", TRACES],
    ["statuses", "status", NUMBERS], ["schedulers", "scheduler", NUMBERS],
    ["idle", "idle", FLAG], ["foldWaiting", "foldwaiting", FLAG],
    ["form", "form", oneOf("stacks", "callers", "sandwich", "time")], ["focus", "focus", TEXT],
    ["icicle", "icicle", FLAG], ["foldRecursion", "fold", FLAG],
    ["erlangOnly", "erlang", FLAG], ["hidden", "hidden", TEXTS],
    ["search", "search", TEXT], ["zoom", "zoom", ZOOM],
    ["panel", "panel", oneOf("auto", "none", "functions", "lines", "tree",
        "processes", "traces", "vm")],
    ["lanes", "lanes", oneOf("auto", "none", "shown")],
    ["scale", "scale", oneOf("auto", "second", "minute", "hour")], ["at", "at", NUMBER],
];

export class Link {
    /** @param {Recording} recording */
    constructor(recording) {
        this.recording = recording;
        this.first = firstEvent(recording);
    }

    /** The view of an event without other fields. @param {string} event */
    baseOf(event) {
        return viewOfEvent(this.recording, event);
    }

    /** A fragment without "#". @param {View} view */
    write(view) {
        const parts = new URLSearchParams();
        const base = { ...this.baseOf(view.event), event: this.first };

        for (const [key, name, form] of FIELDS) {
            const text = form.write(view[key]);

            if (text !== form.write(base[key]))
                parts.set(name, text);
        }
        return parts.toString();
    }

    /**
     * The view of a fragment, and its fields that the view is without: unknown ones, and values
     * that this recording does not have.
     *
     * @param {string} fragment
     * @returns {{ view: View, problems: string[] }}
     */
    read(fragment) {
        const parts = new URLSearchParams(fragment.replace(/^#/, ""));
        const names = new Set(FIELDS.map(([, name]) => name));
        const view = this.baseOf(this.eventIn(parts));
        const problems = [...parts].filter(([name]) => !names.has(name));

        for (const [key, name, form] of FIELDS) {
            const text = parts.get(name), value = text === null ? undefined : readOr(form, text);

            if (text === null || (key === "weight" && text === "wall" && view.event === text))
                continue; /* its own event has no such weight: it is the default */
            if (value !== undefined && this.isKnown(key, value, view.event))
                /** @type {any} */ (view)[key] = key === "event" ? view.event : value;
            else
                problems.push([name, text]);
        }
        return { view, problems: problems.map(([name, text]) => `${name}=${text}`) };
    }

    /** The event of a fragment, the first one if there is none. @param {URLSearchParams} parts */
    eventIn(parts) {
        const event = parts.get("event") ?? "";
        const known = this.isKnown("event", event, "") ? event : this.first;

        return eventOfWeight(this.recording, known, parts.get("weight") ?? "");
    }

    /**
     * True if the recording has what the value names.
     *
     * @param {keyof View} key
     * @param {any} value
     * @param {string} event of the view
     */
    isKnown(key, value, event) {
        const { header, events, processes, threads, traces } = this.recording;
        const below = (/** @type {number} */ count) =>
            value.every((/** @type {number} */ id) => id < count);

        switch (key) {
        case "event":
            return events.some(({ name }, id) => id > 0 && name === value);
        case "weight":
            return !value || weightsOf(this.recording, event).some(({ name }) => name === value);
        case "groupBy":
            return value.every((/** @type {string} */ name) =>
                name === "none" || GROUP_KEYS.includes(name));
        case "range":
        case "against":
            return !value
                || header.parts.some(({ from, to }) => value.from < to && from < value.to);
        case "processes":
            return below(processes.same.length);
        case "traces":
            return value.every((/** @type {string} */ id) => traces.ids.includes(id));
        case "statuses":
            return below(header.statuses.length);
        case "schedulers":
            return below(threads.tid.length);
        case "scale":
            return value === "auto" || scalesOf(this.recording).includes(value);
        case "focus":
            return !value || this.hasFunction(value);
        case "hidden":
            return value.every(isPattern);
        default:
            return !["include", "exclude", "search"].includes(key) || isPattern(value);
        }
    }

    /** @param {string} name */
    hasFunction(name) {
        const { text } = functionsOf(this.recording), id = textsOf(this.recording).ids.get(name);

        return id !== undefined && text.includes(id);
    }
}

/** @param {string} text */
const isPattern = (text) => !readPattern(text).problem;

/**
 * Read a field; undefined if that fails: a link can be cut within an escape.
 *
 * @param {Form} form
 * @param {string} text
 */
function readOr(form, text) {
    try {
        return form.read(text);
    } catch {
        return undefined;
    }
}
