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
        const { event, sums } = total, compares = sums.length > 1, value = valueText(total);

        return element("button", { type: "button", role: "tab", "aria-controls": "graph",
            title: sums.map((_, part) => hitsText(total, part)).filter(Boolean).join("; "),
            onclick: () => this.onchoose(event) },
        element("b", {}, event), " ", ...compares ? [value, ...sums.map((_, part) => element("small", {},
            element("span", { className: `letter ${part ? "side-b" : "side-a"}` }, sideOf(total, part)),
            `${sumOf(total, part)}, ${coverageText(total, part)}`))]
            : [element("span", {}, `${value}${sumOf(total, 0)}`),
                element("small", {}, coverageText(total, 0))]);
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

/** "wait " of event sched; "" where the value needs no name. @param {EventTotal} total */
const valueText = ({ value, unit }) => ([unit, "time", "count", ""].includes(value) ? "" : `${value} `);

/** "A " and "B " in a comparison. @param {EventTotal} total @param {number} part */
const sideOf = ({ sums }, part) => (sums.length > 1 ? `${"AB"[part] ?? ""} ` : "");

/** "2.2 s \u00b1 1.1 s". @param {EventTotal} total @param {number} part */
function sumOf({ unit, sums, counted }, part) {
    const known = counted[part];

    return known ? sumText(known, unit) : amountText(sums[part], unit);
}

/** True if the total says nothing. @param {Counted | null} counted */
const isUnsure = (counted) => counted !== null && !isSure(counted);

/** "8.1 % of the time \u26a0". @param {EventTotal} total @param {number} part */
function coverageText({ counted, shares }, part) {
    const share = shares[part], warning = isUnsure(counted[part]) ? " \u26a0" : "";

    if (counted[part]?.event === "wall")
        return `${percentText(share, 1)} of the processes${warning}`;
    return (share > 0.9995 ? "all of the time" : `${percentText(share, 1)} of the time`) + warning;
}

/** @param {EventTotal} total @param {number} part */
function hitsText(total, part) {
    const counted = total.counted[part];

    if (!counted)
        return "";
    return sideOf(total, part) + (counted.event === "wall"
        ? `from ${numberText(counted.windows)} sweeps`
        : `from ${numberText(counted.hits)} hits in ${numberText(counted.windows)} windows`)
        + (isUnsure(counted) ? `; ${UNSURE}` : "");
}
