import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { coalesce } from "./coalesce";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("one call runs at once, a burst twice, a steady stream all along", () => {
  const run = vi.fn();
  const call = coalesce(100, run);
  call();
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(run).toHaveBeenCalledTimes(1);

  for (let i = 0; i < 10; i++) call();
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(99);
  expect(run).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(1000);
  expect(run).toHaveBeenCalledTimes(3);

  run.mockClear();
  for (let i = 0; i < 100; i++) {
    call();
    vi.advanceTimersByTime(10);
  }
  vi.advanceTimersByTime(100);
  expect(run).toHaveBeenCalledTimes(11);
});
