/**
 * Kills a worker repeatedly while it processes, then compares every user with the contract: the same records, applied one by one in
 * acceptance order.
 */

import { systemClock } from '../../src/platform/time/clock.ts';
import { silentLog } from '../../src/platform/log.ts';
import { isSuppressed } from '../../src/modules/users/people/watermark.ts';
import { listPeople } from '../../src/modules/users/people/people.ts';
import { createProject } from '../../src/modules/administration/create-project.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import {
  type AcceptedRecord,
  type Event,
  type ExpectedPerson,
  type Priority,
  modelOf,
  type User,
} from './accept-order.ts';
import { putRecords } from '../factories/ingest-queue.ts';
import { embeddedAddress, survivor, type Survivor } from './survival.ts';

export type Ordeal = { records: number; kills: number };
export type ProcessingKillResult = {
  records: number;
  kills: number;
  /** Kills while records waited. */
  hits: number;
  people: number;
  /** Users that differ from the contract. Expected to be empty. */
  wrong: string[];
};

const CHUNK = 250;
const PEOPLE = 2_000;
const KILL_AFTER_MS = { least: 30, spread: 400 };

export async function processUnderKills(
  dataDir: string,
  { records, kills }: Ordeal,
): Promise<ProcessingKillResult> {
  const server = await survivor(dataDir);
  await server.start();
  const connection = (): ReturnType<typeof embeddedAddress> => embeddedAddress(dataDir);
  const db = await openDatabase({ connection, clock: systemClock, log: silentLog });
  try {
    const { id: projectId } = await createProject(db, { name: 'Acme' });
    const feeding = feed(db, projectId, records);
    const hits = await killOften(server, { db, projectId, kills });
    const accepted = await feeding;
    while ((await waitingIn(db, projectId)) > 0) await pause(50);
    const { people, wrong } = await compare(db, projectId, modelOf(accepted));
    return { records: accepted.length, kills, hits, people, wrong };
  } finally {
    await db.close();
    await server.stop();
  }
}

/** Feeds both priorities at once, so that a record is often processed before one that was accepted earlier. */
async function feed(db: Database, projectId: number, records: number): Promise<AcceptedRecord[]> {
  const accepted: AcceptedRecord[] = [];
  for (let n = 0; accepted.length < records; n += 1) {
    const priority: Priority = n % 3 === 0 ? 'live' : 'bulk';
    const kind = n % 4 === 1 ? 'users' : 'events';
    const chunk = Array.from({ length: Math.min(CHUNK, records - accepted.length) }, () =>
      kind === 'users' ? randomUser() : randomEvent(priority),
    );
    const first = await putRecords(db, { projectId, priority, kind, records: chunk });
    chunk.forEach((record, i) => accepted.push({ seq: first + i, priority, record }));
  }
  return accepted;
}

const chance = (share: number): boolean => Math.random() < share;
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
const randomUserId = (): string => `u${Math.floor(Math.random() * PEOPLE)}`;

function randomUser(): User {
  const traits: Record<string, unknown> = {
    [pick(['plan', 'company', 'seats', 'city'])]: pick(['a', 'b', 3, null, { x: 1 }]),
  };
  return {
    external_user_id: randomUserId(),
    traits,
    ...(chance(0.3) && { email: pick(['a@x.org', 'b@x.org']) }),
  };
}

/** Copies are drawn within one priority: of two copies in different priorities either may come first. */
function randomEvent(priority: Priority): Event {
  return {
    external_user_id: randomUserId(),
    name: pick(['login', 'export']),
    properties: { priority, n: Math.floor(Math.random() * 1e6) },
    ...(chance(0.2) && { message_id: `${priority}-${Math.floor(Math.random() * 5_000)}` }),
    ...(chance(0.1) && { suppress: true as const }),
  };
}

async function killOften(
  server: Survivor,
  { db, projectId, kills }: { db: Database; projectId: number; kills: number },
): Promise<number> {
  let hits = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    await pause(KILL_AFTER_MS.least + Math.random() * KILL_AFTER_MS.spread);
    if ((await waitingIn(db, projectId)) > 0) hits += 1;
    await server.killServer();
    await server.start();
  }
  return hits;
}

async function waitingIn(db: Database, projectId: number): Promise<number> {
  const rows = await db.query<{ waiting: number }>(
    `SELECT waiting FROM beckon.ingest_queue_state WHERE project_id = $1`,
    [projectId],
  );
  return rows[0]?.waiting ?? 0;
}

async function compare(
  db: Database,
  projectId: number,
  expected: Map<string, ExpectedPerson>,
): Promise<{ people: number; wrong: string[] }> {
  const counts = await db.query<{ id: string; events: number }>(
    `SELECT external_user_id AS id, count(*) AS events FROM beckon.event WHERE project_id = $1 GROUP BY 1`,
    [projectId],
  );
  const events = new Map(counts.map((row) => [row.id, row.events]));
  const people = await listPeople(db, { projectId, after: null, limit: PEOPLE + 1 });
  const wrong = people.flatMap((person) => {
    const should = expected.get(person.userId);
    const is = stateText({
      ...person,
      events: events.get(person.userId) ?? 0,
      isSuppressed: isSuppressed(person),
    });
    return should && is === stateText(asPerson(should)) ? [] : [`${person.userId}: ${is}`];
  });
  const missing = [...expected.keys()].filter((id) => !people.some(({ userId }) => userId === id));
  return { people: people.length, wrong: [...wrong, ...missing.map((id) => `${id}: missing`)] };
}

type PersonState = {
  traits: Map<string, unknown>;
  email: string | null;
  events: number;
  isSuppressed: boolean;
  liveSeq: number | null;
};

function asPerson({ traits, email, events, suppressedSeq, normal }: ExpectedPerson): PersonState {
  const lifts = normal.filter((seq) => seq > suppressedSeq);
  const wasSuppressed = suppressedSeq > 0;
  return {
    traits,
    email,
    events,
    isSuppressed: wasSuppressed && lifts.length === 0,
    liveSeq: wasSuppressed ? (lifts[0] ?? null) : null,
  };
}

function stateText({ traits, email, events, isSuppressed: suppressed, liveSeq }: PersonState): string {
  return JSON.stringify([
    [...traits].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    email,
    events,
    suppressed,
    liveSeq,
  ]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
