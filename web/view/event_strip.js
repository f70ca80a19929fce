// SPDX-License-Identifier: Apache-2.0
/* A tab for each recorded event, with its total, how sure that is, and how much of it was seen. */
import { isSure } from "#analysis/counted";
import { element, fill } from "#view/dom";
import { sumText } from "#view/counted_text";
import { amountText, numberText, percentText } from "#view/number_text";

/** @typedef {import("../types.js").EventTotal} EventTotal */
/** @typedef {import("../types.js").Counted} Counted */

const UNSURE = "windows are too few or too short: raise --budget or record longer";

/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export class EventStrip {
    /**
     * @param {HTMLElement} place
     * @param {EventTotal[]} totals
     * @param {(event: string) => void} onchoose
     */
    constructor(place, totals, onchoose) {
        this.onchoose = onchoose;
        this.tabs = totals.map((total) => this.tab(total));
        this.chosen = 0;
        place.hidden = !totals.length;
        fill(place, ...this.tabs);
        place.addEventListener("keydown", (event) => this.key(event));
    }

    /** @param {EventTotal} total */
    tab(total) {
        const { event, counted } = total, coverage = coverageText(total);
        const isFew = counted && !isSure(counted);

        return element("button", { type: "button", role: "tab", "aria-controls": "graph",
            title: [hitsText(counted), isFew ? UNSURE : ""].filter(Boolean).join("; "),
            onclick: () => this.onchoose(event) },
        element("b", {}, event), " ", element("span", {}, totalText(total)),
        coverage ? element("small", {}, isFew ? `${coverage} \u26a0` : coverage) : null);
    }

    /** @param {string} event */
    show(event) {
        const chosen = this.tabs.findIndex((tab) => tab.firstChild?.textContent === event);

        this.tabs.forEach((tab, i) => {
            tab.setAttribute("aria-selected", String(i === chosen));
            tab.tabIndex = i === Math.max(0, chosen) ? 0 : -1;
        });
        if (chosen >= 0 && chosen !== this.chosen)
            this.tabs[chosen].scrollIntoView({ block: "nearest", inline: "nearest" });
        this.chosen = Math.max(0, chosen);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const step = STEPS[event.key];

        if (step === undefined || event.ctrlKey || event.metaKey || event.altKey)
            return;
        const next = Math.min(Math.max(0, this.chosen + step), this.tabs.length - 1);

        this.tabs[next].focus();
        this.tabs[next].click();
        event.preventDefault();
    }
}

/** "2.2 s \u00b1 1.1 s", "wait 2.2 s", "A 6.6 s, B 7.1 s". @param {EventTotal} total */
function totalText(total) {
    const { value, unit } = total, isPlain = [unit, "time", "count", ""].includes(value);

    return (isPlain ? "" : `${value} `) + sumsText(total);
}

/** @param {EventTotal} total */
function sumsText({ unit, sums, counted }) {
    if (counted)
        return sumText(counted, unit);
    return sums.map((sum, part) => (sums.length > 1 ? `${"AB"[part] ?? ""} ` : "")
        + amountText(sum, unit)).join(", ");
}

/** "" in a comparison. @param {EventTotal} total */
function coverageText({ counted, share, sums }) {
    if (sums.length > 1)
        return "";
    if (counted?.event === "wall")
        return `${percentText(share, 1)} of the processes`;
    return share > 0.9995 ? "all of the time" : `${percentText(share, 1)} of the time`;
}

/** @param {Counted | null} counted */
function hitsText(counted) {
    if (!counted)
        return "";
    return counted.event === "wall" ? `from ${numberText(counted.windows)} sweeps`
        : `from ${numberText(counted.hits)} hits in ${numberText(counted.windows)} windows`;
}
