// SPDX-License-Identifier: Apache-2.0
/* Who ran while the picked processes were in run queues: below the table of processes. */
import { button, element } from "#view/dom";
import { amountText, numberText, percentText } from "#view/number_text";

/** @typedef {import("../types.js").Delays} Delays */

const SHOWN = 5;

/**
 * @param {Delays} delays
 * @param {string} names of the picked processes
 * @param {(process: number) => void} onpick
 * @returns {(Node | string)[]}
 */
export function delayContent({ ns, count, ran, cpuNs }, names, onpick) {
    const times = `${numberText(count)} ${count === 1 ? "time" : "times"}`;
    const head = [element("b", {}, names),
        ` was in run queues for ${amountText(ns, "ns")}, ${times}. `];

    if (cpuNs === null)
        return [...head, "Record event cpu too, and this shows what ran meanwhile."];
    return [...head, `Meanwhile its schedulers used ${amountText(cpuNs, "ns")} of CPU time`,
        ran.length ? ": " : ".",
        ...ran.slice(0, SHOWN).flatMap((process, i) => [i ? ", " : "",
            button([process.name, process.node].filter(Boolean).join(" "), () => onpick(process.process),
                { className: "link", title: "show what it ran" }),
            ` ${percentText(process.ns, cpuNs)}`]),
        ran.length > SHOWN ? `, ${ran.length - SHOWN} others` : ""];
}
