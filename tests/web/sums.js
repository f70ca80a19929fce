// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the sums of a page's recording as JSON: for each event, the sum of each of its values and
 * of each metric. If both have the same name, the value counts.
 *
 * usage: node sums.js PAGE
 */
import { readFile } from "node:fs/promises";

import { readRecording } from "../../web/recording/recording.js";

const { events, header, samples } = await readRecording(await readFile(process.argv[2], "utf8"));

const sumOf = (column, event) => {
    let sum = 0;

    for (let i = 0; i < samples.count; i++)
        if (samples.event[i] === event && !Number.isNaN(column[i]))
            sum += column[i];
    return sum;
};

const sums = {};
for (let event = 1; event < events.length; event++) {
    const of = sums[events[event].name] = {};

    header.metrics.forEach(({ name }, i) => { of[name] = sumOf(samples.metric(i), event); });
    events[event].values.forEach(({ name }, i) => { of[name] = sumOf(samples.value(i), event); });
}
console.log(JSON.stringify(sums));
