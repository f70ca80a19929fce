// SPDX-License-Identifier: Apache-2.0
// Check Kubernetes objects, a JSON list on standard input, by the types that are generated from
// Kubernetes' own description: unknown fields and wrong types by those of its client for JavaScript,
// what must be there by the schemas of kubernetes-models. Prints each finding.
import { readFileSync } from "node:fs";
import * as client from "@kubernetes/client-node";

const KINDS = {
    ConfigMap: "v1", DaemonSet: "apps/v1", Namespace: "v1", ServiceAccount: "v1",
};
const found = [];

function checkObject(value, type, place) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
        return found.push(`${place}: is no ${type}`);
    const fields = new Map(type.getAttributeTypeMap().map((field) => [field.baseName, field.type]));
    for (const [key, inner] of Object.entries(value))
        if (fields.has(key))
            check(inner, fields.get(key), `${place}.${key}`);
        else
            found.push(`${place}: there is no field ${key}`);
}

function check(value, type, place) {
    const list = /^Array<(.*)>$/.exec(type);
    const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);

    if (list) {
        if (!Array.isArray(value))
            return found.push(`${place}: is no list`);
        value.forEach((item, index) => check(item, list[1], `${place}[${index}]`));
    } else if (map) {
        if (typeof value !== "object" || value === null)
            return found.push(`${place}: is no map`);
        for (const [key, item] of Object.entries(value))
            check(item, map[1], `${place}.${key}`);
    } else if (["string", "number", "boolean"].includes(type)) {
        if (typeof value !== type)
            found.push(`${place}: is no ${type}`);
    } else if (type === "IntOrString") {
        if (!["string", "number"].includes(typeof value))
            found.push(`${place}: is no ${type}`);
    } else if (client[type]) {
        checkObject(value, client[type], place);
    } else {
        found.push(`${place}: the type ${type} is not known to this check`);
    }
}

for (const object of JSON.parse(readFileSync(0, "utf8"))) {
    const { kind, apiVersion } = object;
    const place = `${kind} ${object.metadata?.name}`;

    if (KINDS[kind] !== apiVersion) {
        found.push(`${place}: is of ${apiVersion}, and not of ${KINDS[kind]}`);
        continue;
    }
    check(object, `V1${kind}`, place);
    const models = await import(`kubernetes-models/${apiVersion}`);
    try {
        new models[kind](object).validate();
    } catch (error) {
        found.push(`${place}: ${error.message}`);
    }
}
if (found.length > 0) {
    console.log(found.join("\n"));
    process.exitCode = 1;
}
