import { createHash } from 'node:crypto';
import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { type Accept, createAccept } from '../../../packages/server/src/modules/ingest/accept/accept.ts';
import type { IngestEntry, IngestResult } from '../../../packages/server/src/modules/ingest/accept/entry.ts';
import { type Random, randomOf } from '../../../packages/server/src/modules/operations/demo/random.ts';
import { must } from '../emails/checks.ts';
import { Violation } from '../schedule.ts';
import { openWire, type Wire } from './database.ts';
import { keyNameOf, newRows, type Rows, type Defect } from './rows.ts';

/**
 * Runs the real `modules/ingest/accept`, with its flushers, committers and concurrent duplicates, over rows in memory. There are two processes,
 * callers that retry with their Idempotency-Key, and kills. The seed determines the order of everything.
 */
export async function playAccept(seed: number, defect: Defect = 'none'): Promise<number> {
  const random = randomOf(seed);
  const state: State = {
    random,
    rows: newRows(),
    processes: [],
    callers: [],
    trace: [],
    steps: 0,
    isCalm: false,
    defect,
  };
  for (const name of ['api 1', 'api 2']) state.processes.push(start(state, name));
  try {
    for (let i = 0; i < STEPS; i += 1) await step(state);
    state.isCalm = true;
    for (let i = 0; !isOver(state); i += 1) {
      must(i < CALM_STEPS, 'a caller is never answered');
      await step(state);
    }
    checkEnd(state);
    return state.steps;
  } catch (error) {
    throw new Violation(seed, state.trace, error);
  } finally {
    for (const { wire } of state.processes) wire.cut();
    await settled();
  }
}

type Process = { name: string; wire: Wire; accept: Accept };
type Caller = {
  entry: IngestEntry;
  priority: 'live' | 'bulk';
  state: 'idle' | 'waits' | 'answered';
  at: Process | null;
  result: IngestResult | null;
};
type State = {
  random: Random;
  rows: Rows;
  processes: Process[];
  callers: Caller[];
  trace: string[];
  steps: number;
  isCalm: boolean;
  defect: Defect;
  broken?: unknown;
};

const STEPS = 250;
const CALM_STEPS = 2_000;
const CALLERS_MAX = 24;
const TRACE_LENGTH = 40;
const NOW = Date.parse('2026-03-28T18:00:00Z');

function start(state: State, name: string): Process {
  const { rows, random, defect } = state;
  const wire = openWire({ rows, random, defect, now: () => NOW, isCalm: () => state.isCalm });
  return { name, wire, accept: createAccept({ db: wire.database, log: silentLog }) };
}

/** Waits for the rest of the event loop's work, which depends on nothing outside. */
async function settled(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

function note(state: State, text: string): void {
  state.steps += 1;
  state.trace.push(text);
  if (state.trace.length > TRACE_LENGTH) state.trace.shift();
}

async function step(state: State): Promise<void> {
  const chance = state.random.next();
  if (!disturb(state, chance)) proceed(state, chance);
  await settled();
  const broken = state.broken ?? state.rows.broken;
  if (broken !== undefined) throw broken;
}

function disturb(state: State, chance: number): boolean {
  const { random, rows } = state;
  if (chance < 0.02) processQueue(rows);
  else if (state.isCalm) return false;
  else if (chance < 0.04) kill(state, random.pick(state.processes));
  else if (chance < 0.045) rows.revoked.add(random.pick(API_KEYS));
  else if (chance < 0.2 && state.callers.length < CALLERS_MAX) state.callers.push(newCaller(random));
  else return false;
  return true;
}

/** Lets a caller send, or runs a waiting statement. */
function proceed(state: State, chance: number): void {
  const { random, callers } = state;
  const idle = callers.filter((caller) => caller.state === 'idle');
  if (idle.length > 0 && chance < 0.5) return send(state, random.pick(idle));
  const statements = state.processes.flatMap(({ name, wire }) =>
    wire.ready().map((statement) => ({ name, statement })),
  );
  if (statements.length === 0) return;
  const { name, statement } = random.pick(statements);
  note(state, `${name}: ${statement.label}`);
  statement.run();
}

function processQueue({ waiting, locks }: Rows): void {
  for (const [projectId, count] of waiting)
    if (!locks.has(projectId)) waiting.set(projectId, Math.max(0, count - 30_000));
}

/** Kills a process. Requests under way there get no response. */
function kill(state: State, process: Process): void {
  note(state, `${process.name} dies`);
  process.wire.cut();
  state.processes = state.processes.map((other) => (other === process ? start(state, process.name) : other));
  for (const caller of state.callers)
    if (caller.at === process) Object.assign(caller, { state: 'idle', at: null });
}

const API_KEYS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
const hex = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Uses few keys and few bodies, so that many requests are duplicates and some reuse a key for another body. */
function newCaller(random: Random): Caller {
  const projectId = random.whole(1, 2);
  const priority = random.chance(0.5) ? 'bulk' : 'live';
  const idempotency = {
    key: hex(`key ${random.whole(1, 8)}`).slice(0, 32),
    fingerprint: hex(`body ${random.whole(1, 2)}`),
  };
  const entry: IngestEntry = {
    key: { id: API_KEYS[projectId - 1] ?? '', projectId, last4: 'abcd' },
    once: idempotency,
    kind: 'events',
    records: priority === 'bulk' ? 20_000 : 1,
    parts: '{"name":"login"}',
    reply: { status: 202, body: null },
  };
  return { entry, priority, state: 'idle', at: null, result: null };
}

function send(state: State, caller: Caller): void {
  const process = state.random.pick(state.processes);
  const { entry, priority } = caller;
  note(state, `a caller sends ${nameOf(entry)} to ${process.name}`);
  Object.assign(caller, { state: 'waits', at: process });
  process.accept.store(entry, priority).then(
    (result) => receive(state, caller, { process, result }),
    // The result is unknown, so the caller retries.
    () => caller.at === process && Object.assign(caller, { state: 'idle', at: null }),
  );
}

type Response = { process: Process; result: IngestResult };

function receive(state: State, caller: Caller, { process, result }: Response): void {
  if (caller.at !== process) return;
  note(state, `the caller gets ${result.state}`);
  Object.assign(caller, { state: 'answered', at: null, result });
  try {
    checkResult(state, caller.entry, result);
  } catch (error) {
    state.broken ??= error;
  }
}

function nameOf({ key, once }: IngestEntry): string {
  return keyNameOf(key.projectId, once?.key ?? '');
}

function checkResult({ rows }: State, entry: IngestEntry, result: IngestResult): void {
  const keyName = nameOf(entry);
  const kept = rows.storedKeys.get(keyName);
  const isSame = kept?.fingerprint === entry.once?.fingerprint;
  switch (result.state) {
    case 'stored':
      must(rows.effects.get(keyName) === 1, `${keyName} was answered 2xx, but is not stored`);
      return must(isSame, `${keyName} was answered 2xx, but another request is stored`);
    case 'replayed':
      must(rows.effects.get(keyName) === 1, `${keyName} was replayed, but had no effect`);
      return must(isSame, `${keyName} was replayed with the response of another request`);
    case 'reused':
      return must(kept !== undefined && !isSame, `${keyName} was refused, but its key is not in use`);
    case 'key_dead':
      return must(rows.revoked.has(entry.key.id), `${keyName} was refused for a key that is live`);
    case 'queue_full':
      return must(
        result.waiting >= INGEST_QUEUE_MAX_RECORDS,
        `${keyName} was refused with ${result.waiting} waiting`,
      );
  }
}

function isOver({ callers, processes }: State): boolean {
  return (
    callers.every(({ state }) => state === 'answered') &&
    processes.every(({ wire }) => wire.ready().length === 0)
  );
}

/** Checks the queue limit. One bulk request may exceed it, and live requests are always accepted. */
function checkEnd({ rows, callers }: State): void {
  for (const [projectId, waiting] of rows.waiting)
    must(
      waiting < INGEST_QUEUE_MAX_RECORDS + 20_000 + CALLERS_MAX,
      `${waiting} records wait in project ${projectId}`,
    );
  for (const [name, effects] of rows.effects) {
    must(effects === 1, `${name} had ${effects} effects`);
    must(
      callers.some(({ entry }) => nameOf(entry) === name),
      `no client sent ${name}`,
    );
  }
}
