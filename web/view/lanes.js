// SPDX-License-Identifier: Apache-2.0
/* The lanes below the heatmap: when they are made, and whether they are shown. */
import { makeLanes } from "#analysis/lanes";

/** @typedef {import("../types.js").Lane} Lane */
/** @typedef {import("../types.js").View} View */

/* With more samples than this, lanes are made when the page has been usable for a while. */
const LARGE = 200000, LATER_MS = 400;
/* Least width and height of the window for lanes by default, px. */
const ROOMY_WIDTH = 700, ROOMY_HEIGHT = 800;

export class Lanes {
    /**
     * @param {import("../types.js").Recording} recording
     * @param {(lanes: Lane[], shown: boolean | null) => void} onshow null: the recording has none
     * @param {import("./controls.js").Set} set
     */
    constructor(recording, onshow, set) {
        this.onshow = onshow;
        this.set = set;
        /** @type {Lane[]} */
        this.list = [];
        /** @type {Lane[]} */
        this.none = [];
        /** @type {View | null} */
        this.view = null;
        this.made = false;
        this.steps = makeLanes(recording);
        this.delay = recording.samples.count > LARGE ? LATER_MS : 0;
    }

    /** Make a lane in a task of its own, so that the page responds meanwhile. */
    step() {
        const { value, done } = this.steps.next();

        if (value)
            this.list.push(value);
        this.made = Boolean(done);
        if (!done)
            setTimeout(() => this.step());
        else if (this.view)
            this.show(this.view);
    }

    /** Show the lanes of a view. The first call begins to make them. @param {View} view */
    show(view) {
        const isShown = this.isShown(view);

        if (!this.view)
            setTimeout(() => this.step(), this.delay);
        this.view = view;
        if (this.made)
            this.onshow(isShown ? this.list : this.none, this.list.length ? isShown : null);
    }

    /** @param {View} view */
    isShown({ lanes }) {
        return lanes === "auto" ? innerWidth >= ROOMY_WIDTH && innerHeight >= ROOMY_HEIGHT
            : lanes === "shown";
    }

    /** @param {View} view */
    toggle(view) {
        if (this.list.length)
            this.set({ lanes: this.isShown(view) ? "none" : "shown" });
    }
}
