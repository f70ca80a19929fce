// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the rows of the table of functions that a page shows for each of several choices, as a JSON
 * list of lists of [name, total, half of its interval, samples, noise of its change]; half is null if
 * it is unknown, and noise also if nothing is compared.
 * Standard input has the choices as a JSON list, as for stacks.js.
 *
 * usage: node functions.js PAGE
 */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

import { Model } from "../../web/analysis/model.js";
import { readRecording } from "../../web/recording/recording.js";
import { DEFAULTS } from "../../web/view/defaults.js";

const recording = await readRecording(await readFile(process.argv[2], "utf8"));
const model = new Model(recording), first = { ...DEFAULTS, ...recording.header.choice };
const choices = JSON.parse(await text(process.stdin));

console.log(JSON.stringify(choices.map((choice) =>
    model.functions({ ...first, ...choice }).map(({ name, total, half, samples, against }) =>
        [name, total, half, samples, against?.noise ?? null]))));
