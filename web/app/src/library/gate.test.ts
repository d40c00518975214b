import { expect, test } from "vitest";
import { Gate } from "./gate";

test("no more than the width run at once, in order, and a failure lets the next one in", async () => {
  const gate = new Gate(2);
  const order: number[] = [];
  const finish: (() => void)[] = [];
  const tasks = [0, 1, 2, 3].map((n) =>
    gate.run(async () => {
      order.push(n);
      await new Promise<void>((resolve) => (finish[n] = resolve));
      if (n === 0) throw new Error("failed");
      return n;
    }),
  );
  await Promise.resolve();
  expect(order).toEqual([0, 1]);
  finish[0]!();
  await expect(tasks[0]).rejects.toThrow("failed");
  expect(order).toEqual([0, 1, 2]);
  finish[2]!();
  expect(await tasks[2]).toBe(2);
  expect(order).toEqual([0, 1, 2, 3]);
  finish[1]!();
  finish[3]!();
  expect(await Promise.all(tasks.slice(1))).toEqual([1, 2, 3]);
});
