// SPDX-License-Identifier: Apache-2.0
/* Reads what was recorded, and shows it; or says why that can't be. */
import { readRecording } from "#recording/recording";
import { byId } from "#view/dom";
import { Page } from "#view/page";

try {
    const recording = await readRecording(document);

    byId("recording").remove(); /* its text is not needed any more, and is large */
    new Page(recording);
    byId("opening").hidden = true;
} catch (error) {
    byId("opening").textContent = `This recording can't be shown: ${
        error instanceof Error ? error.message : error}`;
    throw error;
}
