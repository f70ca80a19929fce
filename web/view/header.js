// SPDX-License-Identifier: Apache-2.0
/* Shows what was recorded, and warnings about missing data. */
import { button, element, fill, scrollByKeys } from "#view/dom";
import { firstSince, samplesOfPart } from "#analysis/time_axis";
import { lossFacts, lostOf, sentenceOf } from "#view/loss_text";
import { amountText, durationText, numberText, percentText } from "#view/number_text";

/** @typedef {import("../types.js").Recording} Recording */
/** @typedef {import("../types.js").Header["parts"][number]} Part */

/* Limits of warnings, as shares. Warn below FEW_COMPLETE complete stacks, and above the other
 * limits for truncated stacks and lost samples. */
const FEW_COMPLETE = 0.95, MANY_TRUNCATED = 0.01, MANY_LOST = 0.001;

/**
 * @param {Element} place
 * @param {Recording} recording
 */
export function showHeader(place, recording) {
    const { header } = recording;

    fill(place, ...header.parts.map((part, index) => element("div", { className: "part" },
        element("h1", {}, header.parts.length > 1
            ? element("span", { className: `letter side-${"ab"[index]}` }, "AB"[index] ?? "")
            : null,
        nameOf(recording, part)),
        ...factsOf(recording, part, index).map((fact) =>
            element("span", { className: "fact", title: fact.hint ?? "" }, fact.text)))));
    for (const part of place.children)
        scrollByKeys(part);
    document.title = `${header.parts.map((part) => nameOf(recording, part)).join(" and ")} `
        + "\u2013 beamflame";
}

/**
 * @param {Recording} recording
 * @param {Part} part
 */
function nameOf({ header, targets }, part) {
    if (header.parts.length > 1 && part.name)
        return part.name;
    if (targets.length === 2)
        return targets[1].node || `pid ${targets[1].pid}`;
    return targets.length > 2 ? `${targets.length - 1} VMs on ${part.hostname}`
        : part.name || "Stacks of another program";
}

/**
 * @param {Recording} recording
 * @param {Part} part
 * @param {number} index of the part
 * @returns {{ text: string, hint?: string }[]}
 */
function factsOf(recording, part, index) {
    const { targets } = recording, vm = targets.length === 2 ? targets[1] : null, { totals } = part;
    const facts = [
        vm?.otpRelease && { text: `OTP ${vm.otpRelease}${vm.erts ? ` (erts ${vm.erts})` : ""}`,
            hint: `${vm.flavor} ${vm.executable}` },
        vm && { text: `pid ${vm.pid}`, hint: `${vm.schedulers} schedulers` },
        part.hostname && { text: part.hostname, hint: `Linux ${part.kernel}` },
        vm?.container && { text: `container ${vm.container}` },
        part.startRealtime && { text: whenText(part.startRealtime) },
        hasTime(part) && { text: durationText(part.to - part.from) },
        part.frequency && { text: `${part.frequency} Hz, ${part.cpus} CPUs`, hint: part.event },
        { text: samplesText(recording, part, index), hint: part.command },
        part.cpuAccount && { hint: part.cpuAccount,
            text: `clock ÷ CPU time ${(totals.cpuSampledNs / totals.cpuAccountedNs).toFixed(2)}` },
        ...(part.frequency ? lossFacts(recording, part) : []),
        part.occasion && { text: `recorded by trigger ${part.occasion}` },
    ];

    return facts.flatMap((fact) => (fact ? [fact] : []));
}

/** False for inputs without times: all of their samples are at the start. @param {Part} part */
export function hasTime({ from, to }) {
    return to - from > 1;
}

/** @param {number} ms since 1970 */
function whenText(ms) {
    return new Date(ms).toISOString().replace("T", " ").slice(0, 19) + " UTC";
}

/**
 * The samples that the page holds of a part, and of how many they were selected. A hit with several
 * samples counts once, as in the summary.
 *
 * @param {Recording} recording
 * @param {Part} part
 * @param {number} index of the part
 */
function samplesText(recording, { totals }, index) {
    const [first, end] = samplesOfPart(recording, index), { second } = recording.samples.parts;
    const held = end - first - (firstSince(second, end) - firstSince(second, first));
    const all = held + (totals.leftOut || 0) + (totals.otherEvents || 0);

    return all > held ? `${numberText(held)} of ${amountText(all, "samples")}`
        : amountText(held, "samples");
}

/**
 * The warnings about missing data.
 *
 * @param {Part} part
 */
function warningsOf(part) {
    const { totals, cut } = part, lost = lostOf(part), found = [];
    const { erlangSamples = 0, completeStacks = 0, truncatedStacks = 0, samples = 0 } = totals;

    if (cut)
        found.push("The recording was cut off: its end is missing.");
    if (lost > MANY_LOST * (samples + lost))
        found.push(`${percentText(lost, samples + lost)} of all samples were lost.`);
    if (erlangSamples && completeStacks < FEW_COMPLETE * erlangSamples)
        found.push(`Only ${percentText(completeStacks, erlangSamples)} of Erlang stacks are `
            + "complete: callers are missing from the others.");
    if (truncatedStacks > MANY_TRUNCATED * erlangSamples)
        found.push(`The middle is missing from ${percentText(truncatedStacks, erlangSamples)} of `
            + "Erlang stacks, which were too deep.");
    return found;
}

/** "A: " in a comparison. @param {Recording["header"]} header @param {number} part */
const ofPart = ({ compares }, part) => (compares ? `${"AB"[part]}: ` : "");

/**
 * @param {HTMLElement} place
 * @param {Recording} recording
 */
export function showWarnings(place, { header, events }) {
    const { parts } = header;
    const found = parts.flatMap((part, index) =>
        warningsOf(part).map((text) => ofPart(header, index) + text));

    for (const { name, summaries } of events)
        for (const [index, summary] of summaries.entries())
            if (summary && summary.lost > MANY_LOST * summary.hits)
                found.push(`${ofPart(header, index)}${percentText(summary.lost, summary.hits)} of the hits of event ${
                    name} were lost.`);
    place.hidden = !found.length;
    if (found.length)
        fill(place, element("details", {}, element("summary", {}, `\u26a0 ${found.join(" ")}`),
            element("ul", {}, ...parts.flatMap((part) => part.losses.map((loss) =>
                element("li", {}, sentenceOf(loss)))))));
}

/**
 * Name the parts of a link that are left out.
 *
 * @param {HTMLElement} place
 * @param {string[]} problems
 * @param {() => void} onclose
 */
export function showNotice(place, problems, onclose) {
    place.hidden = !problems.length;
    fill(place,
        `The link has what this page does not: ${problems.join(", ")}. It is left out.`,
        button("\u00d7", onclose, { className: "plain", title: "close",
            "aria-label": "close" }));
}
