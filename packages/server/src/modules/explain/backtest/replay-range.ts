import {
  decide,
  type EntryRow,
  type Timer,
  timerPlace,
  type Run,
  consider,
  type Desk,
  factsOf,
  openDesk,
} from '../../rules/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { type BacktestEvidence, gatherEvidence } from './evidence.ts';
import { walkRun } from './emails.ts';
import type { Play, Rehearsed } from './replay-rule.ts';
import { type Armed, type Occasion, OCCASIONS_MAX, occasionsOf, seedsOf } from './occasions.ts';

const SAMPLES = 10;

export async function rehearse(tx: Tx, play: Play): Promise<Rehearsed> {
  const stage = openStage(play, await seedsOf(tx, play));
  const { done } = stage;
  for await (const page of occasionsOf(tx, play)) {
    await perform(tx, stage, page);
    done.occasions += page.occasions.filter(({ at }) => at >= play.from).length;
    stage.looked += page.occasions.length;
    play.watch({ looked: stage.looked, at: page.upTo });
    if (stage.looked < OCCASIONS_MAX || page.upTo > play.until) continue;
    done.cutAt = page.upTo;
    break;
  }
  done.waiting = new Set([...stage.timers.values()].map(({ userId }) => userId)).size;
  return done;
}

type Stage = Play & {
  entries: Map<string, Map<string, EntryRow>>;
  timers: Map<string, Armed>;
  /** The last run of each user, and when it would have ended. */
  runs: Map<string, { run: Run; until: number }>;
  looked: number;
  nextId: number;
  done: Rehearsed;
};

function openStage(play: Play, { armed, isCut }: { armed: Armed[]; isCut: boolean }): Stage {
  return {
    ...play,
    entries: new Map(),
    timers: new Map(armed.map((timer) => [timerId(timer), timer])),
    runs: new Map(),
    looked: 0,
    nextId: 1,
    done: {
      occasions: armed.length,
      isCut,
      cutAt: null,
      entered: [],
      excluded: new Map(),
      waiting: 0,
      emails: [],
      samples: [],
    },
  };
}

function timerId({ userId, key }: Pick<Timer, 'userId' | 'key'>): string {
  return JSON.stringify([userId, key]);
}

type Scene = Occasion & { evidence: BacktestEvidence; order: number };

/** Processes one stretch of time in order: the events, and the timers that fire within it. */
async function perform(tx: Tx, stage: Stage, page: { occasions: Occasion[]; upTo: number }): Promise<void> {
  const isDue = ({ at }: { at: number }): boolean => at < page.upTo;
  const happened = await withEvidence(tx, stage, page.occasions);
  const armed = happened.flatMap((scene) => armedBy(stage, scene)).filter(isDue);
  const rung = [...stage.timers.values()].filter(isDue).map(occasionOf);
  const timers = await withEvidence(tx, stage, [...rung, ...armed]);
  const scenes = [...happened, ...timers].toSorted(
    (a, b) => a.at - b.at || Number(a.key !== null) - Number(b.key !== null) || a.order - b.order,
  );
  for (const scene of scenes) if (isStill(stage, scene)) play(stage, scene);
}

async function withEvidence(tx: Tx, stage: Stage, occasions: Occasion[]): Promise<Scene[]> {
  const { projectId, rule, model, until } = stage;
  const found = await gatherEvidence(tx, occasions, { projectId, rule, model, until });
  return occasions.flatMap((occasion, order) => {
    const evidence = found[order];
    return evidence ? [{ ...occasion, evidence, order }] : [];
  });
}

function occasionOf({ userId, at, anchor, hook, key }: Armed): Occasion {
  return { userId, at, anchor, hook, by: 'due', key };
}

/**
 * Returns the timer that an occasion sets. The timer depends on nothing that happens later in this stretch, so its evidence is loaded
 * together with the rest.
 */
function armedBy(stage: Stage, scene: Scene): Occasion[] {
  const { hook, anchor, by, at, userId } = scene;
  const { rule, trigger } = hook;
  const { armAt, wish } = decide({ rule, trigger, anchor, by }, factsOf(deskOf(stage, scene), rule), at);
  if (armAt === null) return [];
  const { key } = timerPlace(hook, { anchor, entryKey: wish.key });
  return [{ userId, at: armAt, anchor, hook, by: 'due', key }];
}

/** Returns true if a timer has not fired yet and was not replaced by another. */
function isStill({ timers }: Stage, { key, userId, at, anchor }: Scene): boolean {
  if (key === null) return true;
  const id = timerId({ userId, key });
  const timer = timers.get(id);
  return timer?.at === at && timer.anchor.id === anchor.id && timers.delete(id);
}

function play(stage: Stage, scene: Scene): void {
  const { hook, anchor, by, at, userId } = scene;
  const desk = deskOf(stage, scene);
  consider(desk, hook, { anchor, by });
  const { decisions, timers, entries, burnt, begun } = desk.outcome;
  for (const timer of timers) arm(stage, { ...timer, hook }, timer.keepFirst);
  // Decisions before the time range are unknown, so only timers are kept.
  if (at < stage.from) return;
  for (const { wish } of [...entries, ...burnt]) {
    const known = stage.entries.get(userId) ?? new Map<string, EntryRow>();
    stage.entries.set(userId, known.set(wish.key, { enrolledAt: wish.at, level: wish.level }));
  }
  for (const { reason } of decisions) count(stage.done.excluded, reason);
  for (const run of begun) enter(stage, run, { desk, evidence: scene.evidence });
}

const NO_REFUSAL: ReadonlySet<string> = new Set(['fired', 'holdout', 'starts_later']);

function count(excluded: Map<string, number>, reason: string): void {
  if (!NO_REFUSAL.has(reason)) excluded.set(reason, (excluded.get(reason) ?? 0) + 1);
}

function deskOf(stage: Stage, { evidence, at, userId }: Scene): Desk {
  const { person, facts, newest } = evidence;
  const last = stage.runs.get(userId);
  const known = {
    facts,
    newest,
    entry: (_ruleId: string, key: string) => stage.entries.get(userId)?.get(key),
    runs: last && last.until > at ? [last.run] : [],
  };
  const newId = (): string => String((stage.nextId += 1));
  return openDesk({ person, model: stage.model }, known, { now: at, newId });
}

/** Keeps or replaces a timer by the same rule as the SQL statement that stores timers. */
function arm(stage: Stage, timer: Armed, keepFirst: boolean): void {
  const id = timerId(timer);
  const known = stage.timers.get(id);
  const isEarlier = known !== undefined && timer.anchor.occurredAt < known.anchor.occurredAt;
  if (known === undefined || isEarlier === keepFirst) stage.timers.set(id, timer);
}

function enter(stage: Stage, run: Run, { desk, evidence }: { desk: Desk; evidence: BacktestEvidence }): void {
  const { done, model, periodMs, until } = stage;
  const { userId, key, enrolledAt: at, anchor, endsAt } = run;
  const isHeldOut = run.arm === 'holdout';
  done.entered.push({ userId, at, key, by: anchor.kind, name: anchor.name, isHeldOut });
  const program = model.programOf(run.ruleId, run.version);
  if (isHeldOut || !program) return;
  const walked = walkRun(run, { program, zone: desk.zone, evidence, periodMs, until });
  stage.runs.set(userId, { run: { ...run, state: 'active' }, until: walked.until });
  for (const { source, ...would } of walked.emails) {
    done.emails.push(would);
    if (done.samples.length >= SAMPLES) continue;
    done.samples.push({ person: evidence.person, run: { anchor, endsAt }, source, at: would.at });
  }
}
