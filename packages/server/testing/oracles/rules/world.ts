/** Plays one history after the other, in a project of its own each, with its own clock. */

import { idMaker, type NewId } from '../../../src/platform/ids.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { createRules } from '../../../src/modules/rules/definitions/save-rule.ts';
import { parseRule } from '../../../src/modules/rules/definitions/parse.ts';
import { takeProjectLock } from '../../../src/platform/locks/project-lock.ts';
import { incrementModel } from '../../../src/platform/locks/store.ts';
import { createProject } from '../../../src/modules/administration/create-project.ts';
import { setSettings } from '../../../src/modules/administration/set-settings.ts';
import { createProcessor, type Processor } from '../../../src/modules/processing/process.ts';
import { type MemberAction, moveDraft } from '../../../src/modules/review/move-draft.ts';
import { pauseProject, resumeProject } from '../../../src/modules/administration/pause-project.ts';
import { createSender, type DueDraftSender } from '../../../src/modules/delivery/send-email.ts';
import type { TransportEmail } from '../../../src/modules/delivery/transport.ts';
import { suppress } from '../../../src/modules/outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../../../src/modules/rules/switch-rule.ts';
import { Fault } from '../../../src/platform/fault.ts';
import type { ConnectionSource } from '../../../src/platform/db/connections.ts';
import { type Database, openDatabase } from '../../../src/platform/db/database.ts';
import { testHasher, testSendServices, TOKEN_KEYS } from '../../factories/send-services.ts';
import { type FixedClock, fixedClock } from '../../factories/clock.ts';
import { HOUR } from '../../factories/drafts.ts';
import { putRecords } from '../../factories/ingest-queue.ts';
import {
  act,
  type DraftAct,
  pause,
  resume,
  suppress as suppressed,
  switchOff,
  switchOn,
} from './member-actions.ts';
import { compareExplained, compareWith, forbiddenNow, readIds } from './compare.ts';
import { type MemberStep, type History, PEOPLE, type ServerRecord, type HistoryRound } from './histories.ts';
import { replay } from './replay.ts';
import { ORACLE_RULES } from './rules.ts';
import { resultOf } from './sending.ts';
import { newOracle, type Oracle, type OracleDraft } from './state.ts';

export type World = {
  /** Returns differences from the oracle and violations of absolute rules. The list is empty if all is correct. */
  play(history: History): Promise<string[]>;
  close(): Promise<void>;
};

type Stage = {
  db: Database;
  clock: FixedClock;
  newId: NewId;
  processor: Processor;
  sender: DueDraftSender;
  /** Called for each email when it is submitted. */
  onEmail: (email: TransportEmail) => void;
};
type Play = Stage & {
  projectId: number;
  oracle: Oracle;
  ids: Map<string, string[]>;
  /** The number of events sent. */
  events: number;
  /** The time zone of each user, as their server sent it last. */
  zones: Map<string, string>;
};

const DAY = 24 * HOUR;
/** Everything that began has ended by then: a trial, its email, and the seven days of a held draft. */
const AFTERWARDS_MS = 18 * DAY;

export async function openWorld(connection: ConnectionSource): Promise<World> {
  const clock = fixedClock();
  const db = await openDatabase({ connection, clock, log: silentLog });
  const newId = idMaker(db.clock);
  const transport = {
    submit: (email: TransportEmail) => {
      stage.onEmail(email);
      const result = resultOf(email.draftId);
      return Promise.resolve(result === 'sent' ? { result } : { result, reason: 'as told' });
    },
  };
  const stage: Stage = {
    db,
    clock,
    newId,
    onEmail: () => {},
    processor: createProcessor({ db, log: silentLog, newId, hasher: testHasher }),
    sender: createSender({
      db,
      log: silentLog,
      newId,
      transport,
      sendServices: testSendServices(),
      tokenKeys: TOKEN_KEYS,
    }),
  };
  return { play: (history) => play(stage, history), close: () => db.close() };
}

async function play(stage: Stage, { startMs, rounds }: History): Promise<string[]> {
  const { db, clock } = stage;
  clock.advance(DAY - (clock.now() % DAY) + startMs);
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  await setSettings(db, projectId, { quiet_hours: '21:00-08:00' });
  await addRules(stage, projectId);
  const ids = new Map<string, string[]>();
  const oracle = newOracle(clock.now(), (draft) => idIn(ids, draft));
  const now: Play = { ...stage, projectId, oracle, ids, events: 0, zones: new Map() };
  const emails: (TransportEmail & { at: number })[] = [];
  const forbidden: string[] = [];
  stage.onEmail = (email) => {
    const timedEmail = { ...email, at: clock.now() };
    emails.push(timedEmail);
    forbidden.push(...forbiddenNow(oracle, timedEmail, now.zones.get(email.userId)));
  };
  for (const round of rounds) await playRound(now, round);
  const sampleUser = PEOPLE[now.events % PEOPLE.length] ?? PEOPLE[0];
  const explained = await compareExplained(now, sampleUser);
  await playRound(now, { steps: [], records: [], ms: AFTERWARDS_MS });
  return [...forbidden, ...explained, ...(await compareWith(now, emails))];
}

async function playRound(now: Play, { steps, records, ms }: HistoryRound): Promise<void> {
  for (const item of steps) await actOnBoth(now, item);
  for (const item of records) await sendBoth(now, item);
  await drive(now, ms);
  await readIds(now, now.ids);
  replay(now.oracle, ms);
}

async function addRules({ db }: Stage, projectId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await incrementModel(tx, projectId);
    const parsedRules = ORACLE_RULES.flatMap(({ document }) => {
      if (document === null) return [];
      const parsed = parseRule(document);
      if (!parsed.ok) throw new Error(parsed.faults[0]?.message);
      return [parsed.rule];
    });
    await createRules({ tx, clock: db.clock }, projectId, parsedRules);
  });
}

function draftKey({ run: { userId, rule, anchor } }: OracleDraft): string {
  return JSON.stringify([userId, rule.name, anchor.id]);
}

/** A draft that the product does not have gets an id that matches nothing. */
function idIn(ids: Map<string, string[]>, draft: OracleDraft): string {
  return ids.get(draftKey(draft))?.[draft.ordinal] ?? `none ${draftKey(draft)} ${draft.ordinal}`;
}

/** Moves to each moment with due work, and does exactly the due work. */
async function drive({ db, clock, processor: digest, sender, projectId }: Play, ms: number): Promise<void> {
  const until = clock.now() + ms;
  for (const priority of ['live', 'bulk'] as const) await digest.batch(priority, [projectId]);
  for (;;) {
    const rows = await db.query<{ work: 'process' | 'send'; at: Date }>(
      `SELECT work, next_at AS at FROM beckon.project_timer WHERE project_id = $1 AND next_at <= $2 ORDER BY work`,
      [projectId, new Date(until)],
    );
    const next = Math.min(...rows.map(({ at }) => at.getTime()));
    if (next === Infinity) break;
    clock.advance(Math.max(0, next - clock.now()));
    for (const { work, at } of rows) {
      if (at.getTime() > clock.now()) continue;
      if (work === 'process') await digest.timers(projectId);
      else await sender.batch(projectId);
    }
  }
  clock.advance(until - clock.now());
}

async function sendBoth(play: Play, item: ServerRecord): Promise<void> {
  const { db, projectId, oracle, clock } = play;
  if (item.kind === 'user') {
    const { userId, email, traits } = item;
    const user = { ...(email !== null && { email }), traits };
    await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: userId, ...user }] });
    oracle.queue.push({ userId, priority: 'live', user });
    if (traits['timezone']) play.zones.set(userId, traits['timezone']);
    return;
  }
  const { userId, name, priority, agoMs, suppressed: suppress } = item;
  play.events += 1;
  // The number identifies an event, in the product and in the oracle.
  const properties = { ...item.properties, number: play.events };
  const occurredAt = clock.now() - agoMs;
  const record = {
    external_user_id: userId,
    name,
    properties,
    occurred_at: new Date(occurredAt).toISOString(),
    ...(suppress && { suppress: true }),
  };
  const seq = await putRecords(db, { projectId, kind: 'events', priority, records: [record] });
  const event = { id: `#${play.events}`, name, properties, occurredAt, acceptedAt: clock.now(), seq };
  oracle.queue.push({ userId, priority, event: { ...event, suppressed: suppress } });
}

const BY = { actor: 'ann' };
const CONTENT = { subject: 'By hand', preheader: '', body: 'Written by hand.', format: 'markdown' as const };

type OnDraft = Extract<MemberStep, { nth: number }>;

function actOnBoth(play: Play, step: MemberStep): Promise<void> {
  return 'nth' in step ? onDraft(play, step) : onProject(play, step);
}

async function onProject(play: Play, step: Exclude<MemberStep, OnDraft>): Promise<void> {
  const { db, projectId, oracle } = play;
  switch (step.act) {
    case 'pause':
      await pauseProject(db, projectId);
      return pause(oracle);
    case 'resume':
      await resumeProject(db, { projectId, actor: 'ann', confirmed: true });
      return oracle.isPaused ? resume(oracle) : undefined;
    case 'suppress':
      return suppressBoth(play, step);
    case 'off':
    case 'on':
      return switchBoth(play, step);
    default:
      step satisfies never;
  }
}

async function suppressBoth(
  { db, projectId, oracle, clock }: Play,
  { userId, kind, forMs }: Extract<MemberStep, { act: 'suppress' }>,
): Promise<void> {
  const value = kind === 'user' ? userId : (oracle.people.get(userId)?.email ?? 'a@x.org').toLowerCase();
  const until = forMs === null ? null : clock.now() + forMs;
  await suppress(db, { projectId, kind, value, until, reason: 'unsubscribed', actor: 'ann' });
  suppressed(oracle, { kind, value, until });
}

async function switchBoth(
  { db, projectId, oracle }: Play,
  step: Extract<MemberStep, { act: 'on' | 'off' }>,
): Promise<void> {
  const rule = ORACLE_RULES.find(({ name }) => name === step.rule);
  const isOn = rule && oracle.enabledAt.get(rule) !== null;
  if (!rule || isOn === (step.act === 'on')) return;
  const input = { projectId, reference: step.rule, actor: 'ann' };
  if (isOn) await disableRule(db, input);
  else await enableRule(db, { ...input, confirmed: true });
  (isOn ? switchOff : switchOn)(oracle, rule);
}

/** Acts on one of the open drafts. A refused action has no effect in the oracle. */
async function onDraft(play: Play, step: OnDraft): Promise<void> {
  const { oracle } = play;
  const open = oracle.drafts.filter(({ end }) => end === null);
  const draft = open[step.nth % Math.max(1, open.length)];
  if (!draft) return;
  const { acts, oracleAct } = actsOf(step, (draft.deadline ?? oracle.now) + ('byMs' in step ? step.byMs : 0));
  const isApproving = acts.some(({ kind }) => kind === 'approve');
  if (isApproving && draft.state !== 'approved') act(oracle, draft, { do: 'look' });
  for (const action of acts) if (!(await tryMove(play, oracle.idOf(draft), action))) return;
  act(oracle, draft, oracleAct);
}

type PairedActs = { acts: MemberAction[]; oracleAct: DraftAct };

/** Returns an action on the product and the matching action on the oracle. */
function actsOf(step: OnDraft, until: number): PairedActs {
  switch (step.act) {
    case 'approve':
      return { acts: [{ kind: 'approve' }], oracleAct: { do: 'approve' } };
    case 'send_anyway':
      return { acts: [{ kind: 'approve', anyway: true }], oracleAct: { do: 'send_anyway' } };
    case 'skip':
      return { acts: [{ kind: 'skip', reason: null }], oracleAct: { do: 'skip' } };
    case 'edit':
      return { acts: [{ kind: 'edit', content: CONTENT }], oracleAct: { do: 'edit' } };
    case 'postpone':
      return { acts: [{ kind: 'postpone', until }], oracleAct: { do: 'postpone', until } };
    case 'approve_and_undo':
      return { acts: [{ kind: 'approve' }, { kind: 'undo' }], oracleAct: { do: 'undo', of: 'approve' } };
    case 'skip_and_undo':
      return {
        acts: [{ kind: 'skip', reason: null }, { kind: 'undo' }],
        oracleAct: { do: 'undo', of: 'skip' },
      };
    default:
      return step satisfies never;
  }
}

async function tryMove(
  { db, newId, projectId }: Play,
  draftId: string,
  action: MemberAction,
): Promise<boolean> {
  try {
    await moveDraft(
      { db, newId, sendServices: testSendServices() },
      { projectId, draftId },
      { act: action, by: BY },
    );
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
