// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the folded stacks that a page shows for each of several choices, as a JSON list of texts.
 * Standard input has the choices as a JSON list. A field that a choice leaves out has the value
 * with which the page opens.
 *
 * usage: node stacks.js PAGE
 */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

import { Model } from "../../web/analysis/model.js";
import { readRecording } from "../../web/recording/recording.js";
import { DEFAULTS } from "../../web/view/defaults.js";
import { foldedText } from "../../web/analysis/folded_text.js";

const recording = await readRecording(await readFile(process.argv[2], "utf8"));
const model = new Model(recording), first = { ...DEFAULTS, ...recording.header.choice };
const choices = JSON.parse(await text(process.stdin));

console.log(JSON.stringify(choices.map((choice) =>
    foldedText(model.trees({ ...first, ...choice })[0]))));
