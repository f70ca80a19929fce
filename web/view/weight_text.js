// SPDX-License-Identifier: Apache-2.0
/* The names of weights for people. */

/**
 * "CPU time" of "cpu", "clock periods" of "time" in samples; other names are unchanged.
 *
 * @param {string} name
 * @param {string} unit
 */
export function weightText(name, unit) {
    if (name === "time" && unit === "samples")
        return "clock periods";
    return name === "cpu" ? "CPU time" : name;
}
