// SPDX-License-Identifier: Apache-2.0
/* The lanes below the heatmap: when they are made, and whether they are shown. */
import { makeLanes } from "#analysis/lanes";

/** @typedef {import("../types.js").Lane} Lane */
/** @typedef {import("../types.js").View} View */

const ROOMY = 700; /* least width and height of the window for lanes by default, px */

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
        this.made = /** @type {boolean | undefined} */ (false);
        this.steps = makeLanes(recording);
        setTimeout(() => this.step());
    }

    /** Make a lane in a task of its own, so that the page responds meanwhile. */
    step() {
        const { value, done } = this.steps.next();

        this.made = done;
        if (value)
            this.list.push(value);
        if (!done)
            setTimeout(() => this.step());
        else if (this.view)
            this.show(this.view);
    }

    /** @param {View} view */
    show(view) {
        const isShown = this.isShown(view);

        this.view = view;
        if (this.made)
            this.onshow(isShown ? this.list : this.none, this.list.length ? isShown : null);
    }

    /** @param {View} view */
    isShown({ lanes }) {
        return lanes === "auto" ? Math.min(innerWidth, innerHeight) >= ROOMY : lanes === "shown";
    }

    /** @param {View} view */
    toggle(view) {
        if (this.list.length)
            this.set({ lanes: this.isShown(view) ? "none" : "shown" });
    }
}
