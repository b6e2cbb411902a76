import { idMaker, type NewId } from '../src/platform/ids.ts';
import { silentLog } from '../src/platform/log.ts';
import { createRules } from '../src/modules/rules/definitions/save-rule.ts';
import { parseRule } from '../src/modules/rules/definitions/parse.ts';
import { newModel, takeTurn } from '../src/platform/locks/project-lock.ts';
import { createProject } from '../src/modules/administration/create-project.ts';
import { setSettings } from '../src/modules/administration/set-settings.ts';
import { createDigest, type Digest } from '../src/modules/processing/process.ts';
import { type MemberAction, moveDraft } from '../src/modules/review/move-draft.ts';
import { pauseProject, resumeProject } from '../src/modules/administration/pause-project.ts';
import { createSender, type DueDraftSender } from '../src/modules/delivery/send-due-drafts.ts';
import type { TransportEmail } from '../src/modules/delivery/transport.ts';
import { suppress } from '../src/modules/outcomes/suppressions/suppress.ts';
import { disableRule, enableRule } from '../src/modules/rules/switch-rule.ts';
import { Fault } from '../src/platform/fault.ts';
import type { ConnectionSource } from '../src/platform/db/connections.ts';
import { type Database, openDatabase } from '../src/platform/db/database.ts';
import { testHasher } from './hasher.ts';
import { type HeldClock, heldClock } from './clock.ts';
import { HOUR } from './drafts.ts';
import { putRecords } from './inbox.ts';
import {
  act,
  type DraftAct,
  pause,
  resume,
  suppress as suppressed,
  switchOff,
  switchOn,
} from './rules-oracle-acts.ts';
import { compareExplained, compareWith, forbiddenNow, readIds } from './rules-oracle-compare.ts';
import { type Done, type History, PEOPLE, type Told, type Turn } from './rules-oracle-histories.ts';
import { replay } from './rules-oracle.ts';
import { ORACLE_RULES } from './rules-oracle-rules.ts';
import { resultOf } from './rules-oracle-sending.ts';
import { newOracle, type Oracle, type OracleDraft } from './rules-oracle-state.ts';
import { testMailroom, TOKEN_KEYS } from './mailroom.ts';

/** Plays one history after the other, in a project of its own each, with its own clock. */
export type World = {
  /** Returns differences from the oracle and violations of absolute rules. The list is empty if all is correct. */
  play(history: History): Promise<string[]>;
  close(): Promise<void>;
};

type Stage = {
  db: Database;
  clock: HeldClock;
  newId: NewId;
  digest: Digest;
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
  const clock = heldClock();
  const db = await openDatabase({ connection, clock, log: silentLog });
  const newId = idMaker(db.clock);
  const transport = {
    hand: (email: TransportEmail) => {
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
    digest: createDigest({ db, log: silentLog, newId, hasher: testHasher }),
    sender: createSender({
      db,
      log: silentLog,
      newId,
      transport,
      mailroom: testMailroom(),
      tokenKeys: TOKEN_KEYS,
    }),
  };
  return { play: (history) => play(stage, history), close: () => db.close() };
}

async function play(stage: Stage, { startMs, turns }: History): Promise<string[]> {
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
    const handed = { ...email, at: clock.now() };
    emails.push(handed);
    forbidden.push(...forbiddenNow(oracle, handed, now.zones.get(email.userId)));
  };
  for (const turn of turns) await playTurn(now, turn);
  const asked = PEOPLE[now.events % PEOPLE.length] ?? PEOPLE[0];
  const explained = await compareExplained(now, asked);
  await playTurn(now, { done: [], told: [], ms: AFTERWARDS_MS });
  return [...forbidden, ...explained, ...(await compareWith(now, emails))];
}

async function playTurn(now: Play, { done, told, ms }: Turn): Promise<void> {
  for (const one of done) await doBoth(now, one);
  for (const one of told) await tellBoth(now, one);
  await drive(now, ms);
  await readIds(now, now.ids);
  replay(now.oracle, ms);
}

async function addRules({ db }: Stage, projectId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    await newModel(tx, projectId);
    const wanted = ORACLE_RULES.flatMap(({ document }) => {
      if (document === null) return [];
      const parsed = parseRule(document);
      if (!parsed.ok) throw new Error(parsed.faults[0]?.message);
      return [parsed.rule];
    });
    await createRules({ tx, clock: db.clock }, projectId, wanted);
  });
}

function draftPlace({ run: { who, rule, anchor } }: OracleDraft): string {
  return JSON.stringify([who, rule.name, anchor.id]);
}

/** A draft that the product does not have gets an id that matches nothing. */
function idIn(ids: Map<string, string[]>, draft: OracleDraft): string {
  return ids.get(draftPlace(draft))?.[draft.ordinal] ?? `none ${draftPlace(draft)} ${draft.ordinal}`;
}

/** Moves to each moment with due work, and does exactly the due work. */
async function drive({ db, clock, digest, sender, projectId }: Play, ms: number): Promise<void> {
  const until = clock.now() + ms;
  for (const priority of ['live', 'bulk'] as const) await digest.batch(priority, [projectId]);
  for (;;) {
    const rows = await db.query<{ work: 'process' | 'send'; at: Date }>(
      `SELECT work, next_at AS at FROM beckon.tenant_due WHERE project_id = $1 AND next_at <= $2 ORDER BY work`,
      [projectId, new Date(until)],
    );
    const next = Math.min(...rows.map(({ at }) => at.getTime()));
    if (next === Infinity) break;
    clock.advance(Math.max(0, next - clock.now()));
    for (const { work, at } of rows) {
      if (at.getTime() > clock.now()) continue;
      if (work === 'process') await digest.due(projectId);
      else await sender.batch(projectId);
    }
  }
  clock.advance(until - clock.now());
}

async function tellBoth(play: Play, told: Told): Promise<void> {
  const { db, projectId, oracle, clock } = play;
  if (told.tell === 'user') {
    const { who, email, traits } = told;
    const user = { ...(email !== null && { email }), traits };
    await putRecords(db, { projectId, kind: 'users', records: [{ external_user_id: who, ...user }] });
    oracle.inbox.push({ who, priority: 'live', user });
    if (traits['timezone']) play.zones.set(who, traits['timezone']);
    return;
  }
  const { who, name, priority, agoMs, suppressed: suppress } = told;
  play.events += 1;
  // The number identifies an event, in the product and in the oracle.
  const properties = { ...told.properties, number: play.events };
  const occurredAt = clock.now() - agoMs;
  const record = {
    external_user_id: who,
    name,
    properties,
    occurred_at: new Date(occurredAt).toISOString(),
    ...(suppress && { suppress: true }),
  };
  const seq = await putRecords(db, { projectId, kind: 'events', priority, records: [record] });
  const event = { id: `#${play.events}`, name, properties, occurredAt, acceptedAt: clock.now(), seq };
  oracle.inbox.push({ who, priority, event: { ...event, suppressed: suppress } });
}

const BY = { actor: 'ann' };
const CONTENT = { subject: 'By hand', preheader: '', body: 'Written by hand.', format: 'markdown' as const };

type OnDraft = Extract<Done, { nth: number }>;

function doBoth(play: Play, done: Done): Promise<void> {
  return 'nth' in done ? onDraft(play, done) : onProject(play, done);
}

async function onProject(play: Play, done: Exclude<Done, OnDraft>): Promise<void> {
  const { db, projectId, oracle } = play;
  switch (done.act) {
    case 'pause':
      await pauseProject(db, projectId);
      return pause(oracle);
    case 'resume':
      await resumeProject(db, { projectId, actor: 'ann', confirmed: true });
      return oracle.isPaused ? resume(oracle) : undefined;
    case 'suppress':
      return suppressBoth(play, done);
    case 'off':
    case 'on':
      return switchBoth(play, done);
    default:
      done satisfies never;
  }
}

async function suppressBoth(
  { db, projectId, oracle, clock }: Play,
  { who, kind, forMs }: Extract<Done, { act: 'suppress' }>,
): Promise<void> {
  const value = kind === 'user' ? who : (oracle.people.get(who)?.email ?? 'a@x.org').toLowerCase();
  const until = forMs === null ? null : clock.now() + forMs;
  await suppress(db, { projectId, kind, value, until, reason: 'unsubscribed', actor: 'ann' });
  suppressed(oracle, { kind, value, until });
}

async function switchBoth(
  { db, projectId, oracle }: Play,
  done: Extract<Done, { act: 'on' | 'off' }>,
): Promise<void> {
  const rule = ORACLE_RULES.find(({ name }) => name === done.rule);
  const isOn = rule && oracle.enabledAt.get(rule) !== null;
  if (!rule || isOn === (done.act === 'on')) return;
  const wanted = { projectId, reference: done.rule, actor: 'ann' };
  if (isOn) await disableRule(db, wanted);
  else await enableRule(db, { ...wanted, confirmed: true });
  (isOn ? switchOff : switchOn)(oracle, rule);
}

/** Acts on one of the open drafts. A refused action has no effect in the oracle. */
async function onDraft(play: Play, done: OnDraft): Promise<void> {
  const { oracle } = play;
  const open = oracle.drafts.filter(({ end }) => end === null);
  const draft = open[done.nth % Math.max(1, open.length)];
  if (!draft) return;
  const { acts, told } = actsOf(done, (draft.deadline ?? oracle.now) + ('byMs' in done ? done.byMs : 0));
  const isApproving = acts.some(({ kind }) => kind === 'approve');
  if (isApproving && draft.state !== 'approved') act(oracle, draft, { do: 'look' });
  for (const wanted of acts) if (!(await tryMove(play, oracle.idOf(draft), wanted))) return;
  act(oracle, draft, told);
}

type Both = { acts: MemberAction[]; told: DraftAct };

/** Returns an action on the product and the matching action on the oracle. */
function actsOf(done: OnDraft, until: number): Both {
  switch (done.act) {
    case 'approve':
      return { acts: [{ kind: 'approve' }], told: { do: 'approve' } };
    case 'send_anyway':
      return { acts: [{ kind: 'approve', anyway: true }], told: { do: 'send_anyway' } };
    case 'skip':
      return { acts: [{ kind: 'skip', reason: null }], told: { do: 'skip' } };
    case 'edit':
      return { acts: [{ kind: 'edit', content: CONTENT }], told: { do: 'edit' } };
    case 'postpone':
      return { acts: [{ kind: 'postpone', until }], told: { do: 'postpone', until } };
    case 'approve_and_undo':
      return { acts: [{ kind: 'approve' }, { kind: 'undo' }], told: { do: 'undo', of: 'approve' } };
    case 'skip_and_undo':
      return {
        acts: [{ kind: 'skip', reason: null }, { kind: 'undo' }],
        told: { do: 'undo', of: 'skip' },
      };
    default:
      return done satisfies never;
  }
}

async function tryMove(
  { db, newId, projectId }: Play,
  draftId: string,
  wanted: MemberAction,
): Promise<boolean> {
  try {
    await moveDraft({ db, newId, mailroom: testMailroom() }, { projectId, draftId }, { act: wanted, by: BY });
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
