import { expect, test } from "vitest";
import { type Condition, type Field, filterOf, mergeFields, parseFilter } from "./filter";

const fields: Field[] = [
  { name: "year", type: "number", documents: 3, values: [{ value: 2020, documents: 2 }] },
  { name: "code", type: "string", documents: 1, values: [] },
  { name: "final", type: "boolean", documents: 1, values: [] },
];
const condition = (field: string, op: Condition["op"], value: string): Condition => ({ key: 0, field, op, value });

test("conditions become the server's filter, with values of the field's type", () => {
  expect(filterOf([], true, fields)).toBeUndefined();
  expect(filterOf([condition(" ", "eq", "x")], true, fields)).toBeUndefined();
  expect(filterOf([condition("year", "ge", " 2020 ")], true, fields)).toEqual({ field: "year", op: "ge", value: 2020 });
  expect(
    filterOf([condition("code", "eq", "007"), condition("final", "eq", "true"), condition("year", "in", "2020, ,2021"), condition("what", "exists", "false")], true, fields),
  ).toEqual({
    and: [
      { field: "code", op: "eq", value: "007" },
      { field: "final", op: "eq", value: true },
      { field: "year", op: "in", value: [2020, 2021] },
      { field: "what", op: "exists", value: false },
    ],
  });
  expect(filterOf([condition("a", "eq", "-1.5e3"), condition("a", "contains", "1.2.3")], false, fields)).toEqual({
    or: [
      { field: "a", op: "eq", value: -1500 },
      { field: "a", op: "contains", value: "1.2.3" },
    ],
  });
});

test("JSON is taken as it is, and what is wrong with it is told", () => {
  expect(parseFilter(" ")).toBeUndefined();
  expect(parseFilter('{"year":{"ge":2020}}')).toEqual({ year: { ge: 2020 } });
  expect(() => parseFilter("{")).toThrow("not JSON");
  expect(() => parseFilter("[1]")).toThrow("has to be an object");
});

test("the fields of several knowledge bases are one list", () => {
  expect(mergeFields([fields, [{ name: "year", type: "string", documents: 4, values: [{ value: 2020, documents: 1 }, { value: "x", documents: 3 }] }]])).toEqual([
    fields[1],
    fields[2],
    { name: "year", type: "mixed", documents: 7, values: [{ value: 2020, documents: 3 }, { value: "x", documents: 3 }] },
  ]);
});
