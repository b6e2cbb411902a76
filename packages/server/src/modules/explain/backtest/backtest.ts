import { collide } from './cap-collisions.ts';
import { rehearse } from './replay-range.ts';
import type { ReplayResult, Play } from './replay-rule.ts';
import { type Backtested, renderSamples, report } from './report.ts';
import type { Renderer } from '../../rendering/index.ts';
import {
  autopilotPeriod,
  buildRuleModel,
  checkReferences,
  compile,
  findRule,
  listRules,
  loadProjectModels,
  type Model,
  readRule,
  type WholeRule,
} from '../../rules/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inSnapshot } from '../../../platform/db/session-transactions.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { readTurn } from '../../../platform/locks/project-lock.ts';

export type BacktestAsked = {
  projectId: number;
  sinceMs: number;
  /** A saved rule by its id or name, or a document, saved or not. */
  rule: { reference: string } | { document: unknown };
  /** Called after each stretch of time. An exception from it ends the backtest. */
  watch?: (progress: BacktestProgress) => void;
};

/** `looked` is the number of evaluations so far; `share` is the part of the time range, from 0 to 1. */
export type BacktestProgress = { of: 'rule' | 'saved'; looked: number; at: number; share: number };

/**
 * Runs a rule over the stored events: which users would have entered it at what time, and which emails would have been written. The
 * engine's own functions decide, over what was known at each moment. It writes to no table.
 */
export async function backtest(
  { db, renderer }: { db: Pick<Database, 'session' | 'clock'>; renderer: Renderer },
  asked: BacktestAsked,
): Promise<Backtested> {
  const played = await inSnapshot(db, async (tx) => {
    const { projectId, sinceMs } = asked;
    const until = db.clock.now();
    const window = { projectId, from: until - sinceMs, until };
    const turn = await readTurn(tx, projectId);
    const model = (await loadProjectModels(tx, [turn], { now: until })).get(projectId);
    if (!model) throw new Error(`project ${projectId} has no settings`);
    const { rule, saved } = await ruleAsked(tx, asked);
    const watch = asked.watch ?? ((): void => {});
    const found = await run(tx, rule, { window, model, watch: watchOf(watch, 'rule', window) });
    const other = { window, model, watch: watchOf(watch, 'saved', window) };
    const before = saved && saved !== rule ? await run(tx, saved, other) : null;
    return { found, before, window, model, isSaved: rule === saved };
  });
  return report(played, await renderSamples(played, renderer));
}

async function ruleAsked(
  tx: Tx,
  { projectId, rule: asked }: BacktestAsked,
): Promise<{ rule: ReplayResult['rule']; saved: WholeRule | null }> {
  if ('reference' in asked) {
    const saved = await findRule(tx, { projectId, reference: asked.reference });
    return { rule: saved, saved };
  }
  const parsed = readRule(asked.document);
  await checkReferences(tx, { projectId, definition: parsed.definition });
  const saved = (await listRules(tx, projectId)).find(({ name }) => name === parsed.name) ?? null;
  // With the id of the saved rule, the same users are held out.
  const { id, version } = saved ?? { id: UNSAVED_ID, version: 0 };
  const never = { enabledAt: null, demotedAt: null, demotedWhy: null };
  return { rule: { ...parsed, id, version: version + 1, ...never }, saved };
}

const UNSAVED_ID = '00000000-0000-0000-0000-000000000000';

type Window = Pick<Play, 'projectId' | 'from' | 'until'>;
type Over = { window: Window; model: Model; watch: Play['watch'] };

function watchOf(
  watch: NonNullable<BacktestAsked['watch']>,
  of: BacktestProgress['of'],
  { from, until }: Window,
): Play['watch'] {
  return ({ looked, at }) => {
    const share = until === from ? 1 : (at - from) / (until - from);
    watch({ of, looked, at: Math.min(at, until), share: Math.max(0, Math.min(1, share)) });
  };
}

async function run(
  tx: Tx,
  rule: ReplayResult['rule'],
  { window, model, watch }: Over,
): Promise<ReplayResult> {
  const { projectId } = window;
  const { autopilotMs, frequencyCap } = model.project.settings;
  // The rule counts as enabled during the whole time range.
  const on = { ...rule, enabledAt: 0 };
  const rules = buildRuleModel([{ rule: on, versions: [rule] }]);
  const active = rules.byId.get(rule.id);
  if (!active) throw new Error('a rule is not in its own model');
  const program = compile(rule.definition.steps);
  const periodMs = autopilotPeriod(rule, autopilotMs) ?? 0;
  const own = { ...model, rules, programOf: () => program };
  const done = await rehearse(tx, { ...window, rule: active, model: own, periodMs, watch });
  const caps = rule.definition.counts ? frequencyCap : null;
  const collisions = await collide(tx, { projectId, ruleId: rule.id, caps, emails: done.emails });
  return { rule, done, collisions };
}

/** A backtest holds a connection for heavy requests as long as it runs. Three such connections exist beside those of `request-gate.ts`. */
const PER_PROJECT = 2;
const AT_ONCE = 3;

/** Takes a place for a backtest of this project, and returns the function that releases it. */
export type BacktestPlaces = (projectId: number) => () => void;

export function createBacktestPlaces(): BacktestPlaces {
  const running: number[] = [];
  return (projectId) => {
    const own = running.filter((id) => id === projectId).length;
    if (own >= PER_PROJECT || running.length >= AT_ONCE) {
      const those = own >= PER_PROJECT ? `${own} backtests of this project` : `${running.length} backtests`;
      const message = `${those} are already running. Wait for one to end, or stop it`;
      throw new Fault('conflict', { details: [{ message }] });
    }
    running.push(projectId);
    return () => void running.splice(running.indexOf(projectId), 1);
  };
}
