import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, FAULT_POINTS, type FaultPoint } from '../packages/server/testing/servers/fault-relay.ts';
import {
  type HeldState,
  type MailWorld,
  openMailWorld,
  SLOTS,
  type Tally,
} from '../packages/server/testing/oracles/mail-survival.ts';
import { missingPostfix } from '../packages/server/testing/servers/postfix.ts';

/** Emails per case. As many of them meet the fault as there are connections. */
const EMAILS = 23;
const FAULTS = SLOTS;
const ACTS = ['defer', 'refuse', 'drop'] as const;
type Act = (typeof ACTS)[number];
const CASES = FAULT_POINTS.flatMap((point) => ACTS.map((act) => ({ point, act })));

/** More than the worker processes at once. */
const EMAILS_A_KILL = 30;
/** The maximum number of emails whose submission is not recorded yet. */
const UNSETTLED = 10;

/** Returns the outcome of an email that meets the fault. */
function outcomeOf(point: FaultPoint, act: Act): 'sent' | 'unknown' | 'failed' {
  const position = FAULT_POINTS.indexOf(point);
  const isLater = (other: FaultPoint): boolean => position >= FAULT_POINTS.indexOf(other);
  if (point === 'after_reply' || act === 'defer') return 'sent';
  if (act === 'refuse') return isLater('rcpt') ? 'failed' : 'sent';
  return isLater('first_byte') ? 'unknown' : 'sent';
}

type WaitForKill = (drafts: string[]) => Promise<void>;
type Kill = {
  name: string;
  /** Arms the kill before the emails fall due, then waits for it. */
  prepare: (world: MailWorld) => Promise<WaitForKill>;
  /** How many emails may be in flight at that moment. */
  inFlight: { least: number; most: number };
  /** True if the relay has the emails in flight, false if it has none, null if it has some. */
  arrived: boolean | null;
};

function heldAt(state: HeldState): Kill['prepare'] {
  return async (world) => {
    const hold = await world.holdAt(state);
    return () => hold.untilReached();
  };
}

/** Makes all connections hang from this point on. */
function hungAt(point: FaultPoint): Kill['prepare'] {
  return (world) => {
    const before = world.faults.passed[point];
    world.faults.plan({ point, act: 'hang' });
    return Promise.resolve(() => until(() => world.faults.passed[point] >= before + SLOTS));
  };
}

/** Kills after this many emails have passed the point. */
function afterEmails(point: FaultPoint, emails: number): Kill['prepare'] {
  return (world) => {
    const before = world.faults.passed[point];
    return Promise.resolve(() => until(() => world.faults.passed[point] >= before + emails));
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(1);
}

const NONE = { least: 0, most: 0 };
const SOME = { least: 0, most: UNSETTLED };
const EACH = { least: SLOTS, most: SLOTS };
const KILLS: Kill[] = [
  { name: 'before the claim is committed', prepare: heldAt('claimed'), inFlight: NONE, arrived: false },
  {
    name: 'claimed and frozen, before it is submitted',
    prepare: heldAt('submitting'),
    inFlight: NONE,
    arrived: false,
  },
  { name: 'submitted, before the relay greets', prepare: hungAt('greeting'), inFlight: EACH, arrived: false },
  { name: 'submitted, before the body', prepare: hungAt('data'), inFlight: EACH, arrived: false },
  { name: 'with the body on the wire', prepare: hungAt('mid_body'), inFlight: EACH, arrived: false },
  {
    name: 'taken by the relay, before its reply',
    prepare: hungAt('after_dot'),
    inFlight: EACH,
    arrived: true,
  },
  {
    name: 'replied, before the result is committed',
    prepare: heldAt('sent'),
    inFlight: { least: 1, most: UNSETTLED },
    arrived: null,
  },
  { name: 'after some results', prepare: afterEmails('after_reply', 12), inFlight: SOME, arrived: null },
  { name: 'under way, after two bodies', prepare: afterEmails('mid_body', 2), inFlight: SOME, arrived: null },
  { name: 'under way, after seven commands', prepare: afterEmails('rcpt', 7), inFlight: SOME, arrived: null },
];

const missing = missingPostfix();
const title = missing === null ? 'through a real Postfix' : `skipped, ${missing}`;

describe.skipIf(missing !== null)(title, () => {
  let dataDir: string;
  let world: MailWorld;
  const rows: Row[] = [];
  const all: string[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'beckon-send-'));
    world = await openMailWorld(dataDir, EMAILS * (CASES.length + 1) + EMAILS_A_KILL * KILLS.length);
  });
  afterAll(async () => {
    await world.stop();
    await rm(dataDir, { recursive: true, force: true });
    process.stdout.write(`${tableOf(rows)}\n`);
  });

  function note(what: string, more: Row, { copies, doubled, ...counts }: Tally): void {
    const { sent, unknown, others } = copies;
    rows.push({
      case: what,
      ...more,
      ...counts,
      copies: `${sent}+${unknown}+${others}`,
      doubled: doubled.length,
    });
  }

  /** Checks the promises that hold in each case. */
  function expectOnce(tally: Tally): void {
    expect(tally).toMatchObject({ open: 0, doubled: [] });
    expect(tally.copies).toEqual({ sent: tally.sent, unknown: expect.any(Number), others: 0 });
    expect(tally.copies.unknown).toBeLessThanOrEqual(tally.unknown);
  }

  async function play(fault: Fault | null): Promise<{ tally: Tally; met: number }> {
    // A reused connection would never reach the points before MAIL.
    world.faults.dropAll();
    const before = fault ? world.faults.passed[fault.point] : 0;
    world.faults.plan(fault);
    const drafts = await world.fallDue(EMAILS);
    await world.ended(drafts);
    world.faults.plan(null);
    await world.arrived();
    await world.looked();
    all.push(...drafts);
    const passed = fault ? world.faults.passed[fault.point] - before : 0;
    return { tally: await world.tally(drafts), met: Math.min(passed, FAULTS) };
  }

  test('delivers every email once without faults', async () => {
    const { tally } = await play(null);
    note('accepted', {}, tally);
    expectOnce(tally);
    expect(tally).toMatchObject({ emails: EMAILS, sent: EMAILS });
  });

  test.each(CASES)('$act at $point', async ({ point, act }) => {
    const { tally, met } = await play({ point, act, times: FAULTS });
    note(`${act} at ${point}`, { met }, tally);
    expectOnce(tally);
    expect(met).toBe(FAULTS);
    const { sent, unknown, failed } = tally;
    const lost = outcomeOf(point, act);
    expect({ sent, unknown, failed }).toEqual({
      sent: EMAILS - (lost === 'sent' ? 0 : met),
      unknown: lost === 'unknown' ? met : 0,
      failed: lost === 'failed' ? met : 0,
    });
    // After the final dot the relay has the email, although the worker got no reply.
    expect(tally.copies.unknown).toBe(point === 'after_dot' ? unknown : 0);
  });

  test.each(KILLS)('killed: $name', async ({ name, prepare, inFlight, arrived }) => {
    world.faults.dropAll();
    const waitForKill = await prepare(world);
    const drafts = await world.fallDue(EMAILS_A_KILL);
    await waitForKill(drafts);
    const stateAtKill = await world.kill();
    await world.restart();
    await world.ended(drafts);
    await world.arrived();
    all.push(...drafts);
    const tally = await world.tally(drafts);
    note(`killed: ${name}`, stateAtKill, tally);
    expectOnce(tally);
    expect(tally.failed).toBe(0);
    // Delivery is unknown for exactly the emails that were in flight.
    expect(tally.unknown).toBe(stateAtKill.submitting);
    expect(stateAtKill.submitting).toBeGreaterThanOrEqual(inFlight.least);
    expect(stateAtKill.submitting).toBeLessThanOrEqual(inFlight.most);
    if (arrived !== null) expect(tally.copies.unknown).toBe(arrived ? tally.unknown : 0);
  });

  test('delivers no email twice over all cases, and accounts for each', async () => {
    const tally = await world.tally(all);
    note('all', {}, tally);
    expectOnce(tally);
    expect(tally.emails).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...world.sink.copies.values())).toBe(1);
  });
});

type Row = Record<string, string | number>;

function tableOf(rows: Row[]): string {
  const columns = [
    'case',
    'met',
    'claimed',
    'submitting',
    'emails',
    'sent',
    'unknown',
    'failed',
    'open',
    'copies',
    'doubled',
  ];
  const lines = [columns, ...rows.map((row) => columns.map((name) => String(row[name] ?? '')))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)));
  return lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')).join('\n');
}
