/** What documents have under one name, as GET /knowledge-bases/{kb}/metadata tells. */
export interface Field {
  name: string;
  /** string, number, boolean, time or list; "mixed" where documents differ. */
  type: string;
  /** Documents that have it. */
  documents: number;
  /** The most frequent values. */
  values: { value: string | number | boolean; documents: number }[];
}

export const OPERATORS = {
  eq: "is",
  ne: "is not",
  lt: "is less than",
  le: "is at most",
  gt: "is more than",
  ge: "is at least",
  in: "is one of",
  contains: "contains",
  exists: "exists",
} as const;

export type Operator = keyof typeof OPERATORS;

export interface Condition {
  key: number;
  field: string;
  op: Operator;
  /** As typed; for `in` values between commas, for exists "true" or "false". */
  value: string;
}

/**
 * The filter that conditions stand for, as the server takes it; undefined
 * where there are none. Conditions without a field are not finished yet and
 * left out.
 */
export function filterOf(conditions: Condition[], all: boolean, fields: Field[]): unknown {
  const parts = conditions
    .filter(({ field }) => field.trim() !== "")
    .map(({ field, op, value }) => {
      const type = fields.find(({ name }) => name === field.trim())?.type ?? "mixed";
      return { field: field.trim(), op, value: valueOf(op, value, type) };
    });
  if (parts.length < 2) return parts[0];
  return all ? { and: parts } : { or: parts };
}

function valueOf(op: Operator, value: string, type: string): unknown {
  if (op === "exists") return value !== "false";
  if (op === "in") {
    const items = value.split(",").map((item) => item.trim());
    return items.filter((item) => item !== "").map((item) => typed(item, type));
  }
  return typed(value.trim(), type);
}

/** A text field's "2020" stays text; where nobody knows the type, what looks like a number is one. */
function typed(value: string, type: string): string | number | boolean {
  const number = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value);
  if (number && (type === "number" || type === "mixed")) return Number(value);
  if ((value === "true" || value === "false") && (type === "boolean" || type === "mixed")) return value === "true";
  return value;
}

/** Reads a filter written as JSON; undefined for nothing. Throws what is wrong with it. */
export function parseFilter(text: string): unknown {
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The filter is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error('The filter has to be an object such as {"field": "year", "op": "ge", "value": 2020}.');
  }
  return value;
}

/** One list of the fields of several knowledge bases. */
export function mergeFields(lists: Field[][]): Field[] {
  const byName = new Map<string, Field>();
  for (const field of lists.flat()) {
    const known = byName.get(field.name);
    if (!known) {
      byName.set(field.name, { ...field, values: [...field.values] });
      continue;
    }
    if (known.type !== field.type) known.type = "mixed";
    known.documents += field.documents;
    for (const { value, documents } of field.values) {
      const same = known.values.findIndex((other) => other.value === value);
      if (same < 0) known.values.push({ value, documents });
      else known.values[same] = { value, documents: known.values[same]!.documents + documents };
    }
  }
  return [...byName.values()].sort((a, b) => a.name.localeCompare(b.name));
}
