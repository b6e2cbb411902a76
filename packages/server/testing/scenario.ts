import { expect, onTestFinished, TestRunner } from 'vitest';
import { idMaker } from '../src/platform/ids.ts';
import type { Database } from '../src/platform/db/database.ts';
import type { Draft } from '../src/modules/drafts/draft.ts';
import { listDrafts } from '../src/modules/drafts/reads.ts';
import { createRule } from '../src/modules/rules/write-rule.ts';
import { type MemberAction, moveDraft } from '../src/modules/review/move-draft.ts';
import { setSettings } from '../src/modules/administration/set-settings.ts';
import { HOUR } from './factories/drafts.ts';
import { type EndpointServer, endpointServer, newCaller } from './servers/endpoint-server.ts';
import { EVENTS } from './factories/endpoints.ts';
import { type Engine, type EngineOptions, openEngine } from './factories/engine.ts';
import { testSendServices } from './factories/send-services.ts';

export const DAY = 24 * HOUR;

/** A server that only accepts, and an engine next to it on the same database with a manual clock. */
export type Stage = { server: EndpointServer; engine: Engine };

export type EventMore = { occurred_at?: string; message_id?: string };
export type EventSent = EventMore & {
  external_user_id: string;
  name: string;
  properties?: Record<string, unknown>;
};
export type EmailSent = {
  rule: string;
  to: string;
  address: string;
  at: number;
  subject: string;
  body: string;
};

/** One project that gets its users through the public API, as from its customer's server. */
export type Scenario = Stage & {
  projectId: number;
  now(): number;
  /** Moves time forward and does all due work on the way. */
  later(ms: number): Promise<void>;
  /** Moves time to the next occurrence of this time of day in UTC. */
  until(timeOfDay: string): Promise<void>;
  post(path: string, body: object): Promise<unknown>;
  user(userId: string, more?: { email?: string; traits?: Record<string, unknown> }): Promise<unknown>;
  event(
    userId: string,
    name: string,
    more?: Record<string, unknown> | null,
    at?: EventMore,
  ): Promise<unknown>;
  rule(document: object): Promise<string>;
  /** Acts as a member on the newest draft for this user. */
  act(userId: string, act: MemberAction): Promise<unknown>;
  set(settings: Record<string, string>): Promise<unknown>;
  /** Returns the sent emails in the order of sending. */
  emails(): Promise<EmailSent[]>;
  drafts(userId?: string): Promise<(Draft & { rule: string })[]>;
  /** Returns the decision log of a rule and a user: the count for each reason. */
  why(userId: string, rule: string): Promise<Record<string, number>>;
  runs(userId: string, rule: string): Promise<{ key: string; state: string; end_reason: string | null }[]>;
};

export async function openStage(options: EngineOptions = {}): Promise<Stage> {
  const server = await endpointServer();
  return { server, engine: openEngine(server.db, server.clock, options) };
}

/** The default quiet hours, set: unset ones hold no email in the test inbox. */
const DEFAULTS = { quiet_hours: '21:00-08:00' };

/** Starts at noon, so that quiet hours are nine hours away. */
export async function newScenario(
  { server, engine }: Stage,
  settings: Record<string, string> = DEFAULTS,
): Promise<Scenario> {
  const { db, clock } = server;
  clock.advance(untilTimeOfDay(clock.now(), '12:00'));
  const caller = await newCaller(server, EVENTS);
  const projectId = caller.id;
  await setSettings(db, projectId, settings);
  // A scenario of one test ends with it. Otherwise each later test of the file would do its work too, and meet what it broke.
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => retire(db, projectId));

  async function post(path: string, body: object): Promise<unknown> {
    const { status, json } = await caller.send({ path: `/api/v1/${path}`, body });
    expect(status, JSON.stringify(json)).toBeLessThan(300);
    return json;
  }
  async function later(ms: number): Promise<void> {
    await engine.advance(ms);
  }
  async function ruleId(name: string): Promise<string> {
    const [row] = await db.query<{ id: string }>(
      `SELECT id FROM beckon.rule WHERE project_id = $1 AND name = $2`,
      [projectId, name],
    );
    if (!row) throw new Error(`there is no rule ${name}`);
    return row.id;
  }
  return {
    server,
    engine,
    projectId,
    post,
    later,
    now: () => clock.now(),
    until: (timeOfDay) => later(untilTimeOfDay(clock.now(), timeOfDay)),
    user: (userId, more = {}) => post('users', { external_user_id: userId, ...more }),
    event: (userId, name, ...[properties, at]) =>
      post('events', { external_user_id: userId, name, properties: properties ?? {}, ...at }),
    rule: async (document) => (await createRule(db, { projectId, document })).id,
    act: async (userId, act) => {
      const draft = (await draftsOf(server, projectId, userId)).at(-1);
      if (!draft) throw new Error(`there is no draft for ${userId}`);
      const ref = { projectId, draftId: draft.id };
      return moveDraft({ db, newId: idMaker(db.clock), sendServices: testSendServices() }, ref, {
        act,
        by: { actor: 'ann' },
      });
    },
    set: (settings) => setSettings(db, projectId, settings),
    emails: () => emailsOf(engine, server, projectId),
    drafts: (userId) => draftsOf(server, projectId, userId ?? null),
    why: async (userId, rule) => {
      const rows = await db.query<{ reason: string; count: number }>(
        `SELECT reason, sum(count)::int AS count FROM beckon.decision
         WHERE project_id = $1 AND external_user_id = $2 AND rule_id = $3 GROUP BY reason ORDER BY min(first_at), reason`,
        [projectId, userId, await ruleId(rule)],
      );
      return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
    },
    runs: async (userId, rule) =>
      db.query(
        `SELECT key, state, end_reason FROM beckon.run
         WHERE project_id = $1 AND external_user_id = $2 AND rule_id = $3 ORDER BY id`,
        [projectId, userId, await ruleId(rule)],
      ),
  };
}

/** Removes all work that waits in a project. Its other rows stay. */
async function retire(db: Database, projectId: number): Promise<void> {
  await db.query('DELETE FROM beckon.ingest_queue WHERE project_id = $1', [projectId]);
  await db.query('DELETE FROM beckon.project_timer WHERE project_id = $1', [projectId]);
}

/** Moves at most one day, and not at all if it is that time now. */
function untilTimeOfDay(now: number, timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(':').map(Number);
  const target = hours * HOUR + minutes * (HOUR / 60);
  return (target - (now % DAY) + DAY) % DAY;
}

/** Returns the emails passed to the transport, with the database row of each. */
async function emailsOf(engine: Engine, { db }: EndpointServer, projectId: number): Promise<EmailSent[]> {
  const submitted = engine.transport.emails.filter((email) => email.projectId === projectId);
  const rows = await db.query<{ id: string; rule: string; at: Date; address: string }>(
    `SELECT m.id, r.name AS rule, m.claimed_at AS at, m.address FROM beckon.email m
     JOIN beckon.rule r ON r.project_id = m.project_id AND r.id = m.rule_id WHERE m.project_id = $1`,
    [projectId],
  );
  const messages = new Map(rows.map((row) => [row.id, row]));
  expect(new Set(submitted.map(({ emailId }) => emailId))).toEqual(new Set(messages.keys()));
  expect(submitted).toHaveLength(rows.length);
  return submitted.map(({ emailId, userId, address, content: { subject, body } }) => {
    const message = messages.get(emailId);
    if (!message) throw new Error('an email was sent that was never claimed');
    expect(message.address).toBe(address);
    return { rule: message.rule, to: userId, address, at: message.at.getTime(), subject, body };
  });
}

async function draftsOf(
  { db }: EndpointServer,
  projectId: number,
  userId: string | null,
): Promise<(Draft & { rule: string })[]> {
  const drafts = await listDrafts(db, {
    projectId,
    userId,
    state: null,
    ruleId: null,
    after: null,
    limit: 1_000,
  });
  const rules = await db.query<{ id: string; name: string }>(
    `SELECT id, name FROM beckon.rule WHERE project_id = $1`,
    [projectId],
  );
  const names = new Map(rules.map(({ id, name }) => [id, name]));
  return drafts.toReversed().map((draft) => ({ ...draft, rule: names.get(draft.ruleId) ?? '' }));
}
