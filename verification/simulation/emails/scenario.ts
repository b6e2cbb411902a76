import type { Policy } from '../../../packages/server/src/modules/delivery/gate/facts.ts';
import type { Random } from '../../../packages/server/src/modules/operations/demo/random.ts';
import type { Owner, Scenario, Schedule, Task } from '../schedule.ts';
import { checkRows, must, watchEmails } from './checks.ts';
import { resume, review, switchOn } from './members.ts';
import { PRODUCT, type Product } from './product.ts';
import { createRelay } from './relay.ts';
import { advanceRuns, newRun } from './runs.ts';
import { send, type Stage } from './sender.ts';
import type { Store } from './store.ts';
import { followTemplate, rendersForSending, followsTemplate } from './template.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Days that include the clock changes in Europe. */
const DAYS = ['2026-01-14T06:00:00Z', '2026-03-28T18:00:00Z', '2026-10-24T22:00:00Z', '2026-07-01T12:00:00Z'];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];

/** Creates one project with two processes that send, one that advances runs, and two members. */
export function emailScenario(product: Product = PRODUCT): (schedule: Schedule) => Scenario {
  return (schedule) => {
    const { random } = schedule;
    const startsAt = Date.parse(random.pick(DAYS));
    const store = newStore(random, startsAt);
    const skewMs = random.chance(0.3) ? 2_000 : 0;
    const zone = random.pick(ZONES);
    const watch = watchEmails({ store, zone, realNow: () => schedule.now(), skewMs });
    const relay = createRelay(random, (draftId) => watch.accepted(draftId));
    const stage: Stage = { schedule, product, store, relay, watch, zone, isCalm: false };
    const correctedDrafts = new Set<string>();
    return {
      startsAt,
      durationMs: 4 * DAY,
      steps: 1_200,
      owners: () => ownersOf(stage, skewMs),
      check: () => checkRows(store, (draftId) => relay.acceptedCount(draftId)),
      endDisturbances: () => endDisturbances(stage, correctedDrafts),
      isOver: () => isOver(store),
      end: () => checkEnd(store, correctedDrafts),
    };
  };
}

function newStore(random: Random, startsAt: number): Store {
  // Two of them share an address.
  const people = ['ada', 'bob', 'cyd', 'dan', 'eve'].map((userId) => ({
    userId,
    email: userId === 'eve' ? 'ada@home.org' : `${userId}@home.org`,
    traits: new Map<string, unknown>(),
  }));
  const runs = people.map(({ userId }, i) =>
    newRun(`run-${userId}`, userId, startsAt + i * random.whole(0, HOUR)),
  );
  return {
    policy: policyOf(random),
    ruleIsOn: true,
    template: 'good',
    people: new Map(people.map((person) => [person.userId, person])),
    suppressed: new Map(),
    drafts: new Map(),
    moves: new Map(),
    emails: new Map(),
    runs: new Map(runs.map((run) => [run.id, run])),
    bucket: null,
    nextTokenAt: 0,
  };
}

function policyOf(random: Random): Policy {
  return {
    paused: false,
    quietHours: random.chance(0.5)
      ? random.pick([
          { start: '21:00', end: '08:00' },
          { start: '12:00', end: '14:30' },
        ])
      : null,
    caps: random.chance(0.6)
      ? random.pick([
          [{ emails: 1, windowMs: 12 * HOUR }],
          [
            { emails: 1, windowMs: 2 * HOUR },
            { emails: 2, windowMs: DAY },
          ],
        ])
      : null,
    throttle: random.chance(0.6)
      ? random.pick([
          { emails: 1, perMs: 10_000 },
          { emails: 2, perMs: HOUR },
          { emails: 2, perMs: 1_000 },
        ])
      : null,
    timeZone: 'UTC',
  };
}

function ownersOf(stage: Stage, skewMs: number): Owner[] {
  const owner = (name: string, work: (stage: Stage, self: Owner) => Task, isMortal: boolean): Owner => {
    const self: Owner = { name, isMortal, skewMs, begin: () => work(stage, self) };
    return self;
  };
  return [
    owner('sender 1', send, true),
    owner('sender 2', send, true),
    owner('runs', advanceRuns, true),
    owner('olga', review, false),
    owner('paul', review, false),
  ];
}

/**
 * Ends all disturbances: the relay accepts everything, suppressions and pauses end, and members stop acting. In half of the histories a
 * good template is published, and `corrected` are the drafts that follow it.
 */
function endDisturbances(stage: Stage, correctedDrafts: Set<string>): void {
  const { store, relay, schedule } = stage;
  stage.isCalm = true;
  relay.acceptAll();
  const by = { actor: 'operator', now: schedule.now() };
  if (!store.ruleIsOn) switchOn(stage, by);
  store.suppressed.clear();
  if (store.policy.paused) resume(stage, by);
  if (schedule.random.chance(0.5)) return;
  for (const draft of store.drafts.values()) if (followsTemplate(draft)) correctedDrafts.add(draft.id);
  followTemplate(stage, 'good', by);
}

/** Returns whether no email is claimed and no draft or run waits only for time. */
function isOver({ emails, drafts, runs }: Store): boolean {
  return (
    emails.values().every(({ state }) => state !== 'claimed' && state !== 'submitting') &&
    drafts.values().every(({ state, dueAt }) => state !== 'sending' && dueAt === null) &&
    runs.values().every(({ nextAt }) => nextAt === null)
  );
}

/** Checks that each open draft waits for review, and that each open run waits for such a draft. */
function checkEnd({ drafts, runs }: Store, correctedDrafts: ReadonlySet<string>): void {
  for (const run of runs.values()) {
    if (run.state === 'ended') continue;
    const draft = drafts.get(`${run.id}-${run.step}`);
    must(run.waitsFor === 'draft' && draft?.endedAt === null, `the run ${run.id} is stuck`);
  }
  for (const draft of drafts.values()) {
    const { id, state, deadlineAt, resumeState, reason } = draft;
    if (state === 'held' && reason === 'render_failed') {
      must(!rendersForSending(draft), `${id} is held for a rendering that succeeds`);
      must(!correctedDrafts.has(id), `the template of ${id} was corrected, and it is still held`);
    }
    if (state === 'scheduled') must(deadlineAt === null, `${id} has a deadline, but is never due`);
    must(state !== 'approved', `${id} is approved, but is never due`);
    if (state === 'held')
      must(reason !== 'deferred' && resumeState !== null, `${id} is deferred, but is never due`);
  }
}
