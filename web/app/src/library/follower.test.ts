import { expect, test } from "vitest";
import type { Job, Status } from "../api/types";
import { Follower } from "./follower";

const idOf = (n: number) => `job_${String(n).padStart(6, "0")}`;

/** A server whose jobs end in their order, some with every pause of the follower. */
function server(jobs: number, perPause: number, limit = 200) {
  const state = new Map<string, Status>();
  for (let n = 0; n < jobs; n++) state.set(idOf(n), "queued");
  const all = [...state.keys()];
  let at = 0;
  let calls = 0;
  const job = (id: string): Job => ({ id, kind: "ingest", status: state.get(id)!, done: 0, total: 0 });
  return {
    state,
    calls: () => calls,
    reader: {
      async one(id: string) {
        calls++;
        return state.has(id) ? job(id) : undefined;
      },
      async after(id: string) {
        calls++;
        const rest = all.filter((other) => other > id && state.has(other));
        const data = rest.slice(0, limit).map(job);
        return { data, next_cursor: rest.length > limit ? data.at(-1)!.id : null };
      },
    },
    async pause() {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      for (let n = 0; n < perPause && at < jobs; n++) if (state.has(all[at]!)) state.set(all[at++]!, "ready");
    },
  };
}

test("20,000 jobs are followed to their ends with few requests", async () => {
  const jobs = 20_000;
  const world = server(jobs, 150);
  const endings = new Map<string, number>();
  await new Promise<void>((done) => {
    const follower = new Follower(
      world.reader,
      (id, job) => {
        if (job?.status !== "ready") return;
        endings.set(id, (endings.get(id) ?? 0) + 1);
        if (endings.size === jobs) done();
      },
      () => {},
      world.pause,
    );
    for (let n = 0; n < jobs; n++) follower.follow(idOf(n));
  });
  expect([...endings.values()].every((times) => times === 1)).toBe(true);
  expect(world.calls()).toBeLessThan(jobs / 20);
});

test("jobs that are far apart are all looked at, however few requests a look has", async () => {
  const world = server(5000, 0, 10);
  const followed = Array.from({ length: 40 }, (_, i) => idOf(i * 120));
  for (const id of followed) world.state.set(id, "ready");
  const told = new Set<string>();
  await new Promise<void>((done) => {
    const follower = new Follower(world.reader, (id) => void (told.add(id).size === followed.length && done()), () => {}, world.pause);
    for (const id of followed) follower.follow(id);
  });
  expect([...told].sort()).toEqual(followed);
});

test("a job that is gone is told so, first or in the middle", async () => {
  const world = server(3, 0);
  world.state.delete(idOf(0));
  world.state.delete(idOf(1));
  world.state.set(idOf(2), "failed");
  const told: [string, Status | undefined][] = [];
  await new Promise<void>((done) => {
    const follower = new Follower(
      world.reader,
      (id, job) => void (told.push([id, job?.status]) === 3 && done()),
      () => {},
      world.pause,
    );
    for (let n = 0; n < 3; n++) follower.follow(idOf(n));
  });
  expect(told).toEqual([
    [idOf(0), undefined],
    [idOf(1), undefined],
    [idOf(2), "failed"],
  ]);
});

test("a server that stays away is asked again, with longer and longer pauses, and that it is back is told", async () => {
  const world = server(1, 1);
  let failures = 8;
  const pauses: number[] = [];
  const lost: unknown[] = [];
  await new Promise<void>((done) => {
    const reader = {
      ...world.reader,
      async one(id: string) {
        if (failures-- > 0) throw new Error("away");
        return world.reader.one(id);
      },
    };
    const pause = async (ms: number) => {
      pauses.push(ms);
      await world.pause();
    };
    new Follower(reader, (_id, job) => void (job?.status === "ready" && setTimeout(done)), (error) => lost.push(error), pause).follow(idOf(0));
  });
  expect(pauses).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(lost.map(String)).toEqual([...Array<string>(8).fill("Error: away"), ""]);
});
