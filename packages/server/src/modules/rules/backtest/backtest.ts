import type { Backtest } from '@beckon/contract/dashboard';
import { findCollisions } from './cap-collisions.ts';
import { replayRange } from './replay-range.ts';
import type { ReplayResult, ReplayRange } from './replay-rule.ts';
import { renderSamples, report } from './report.ts';
import type { Renderer } from '../../rendering/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inSnapshot } from '../../../platform/db/session-transactions.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { autopilotPeriod } from '../definitions/rule.ts';
import { buildRuleModel } from '../definitions/model.ts';
import { checkReferences, readRule } from '../check-rule.ts';
import { compile } from '../runs/program.ts';
import { findRule, listRules, type WholeRule } from '../definitions/load-rules.ts';
import { loadProjectModels, type Model } from '../project-model.ts';

export type BacktestInput = {
  projectId: number;
  sinceMs: number;
  /** A saved rule by its id or name, or a document, saved or not. */
  rule: { reference: string } | { document: unknown };
  /** Called after each stretch of time. An exception from it ends the backtest. */
  watch?: (progress: BacktestProgress) => void;
};

/** `evaluated` is the number of evaluations so far; `share` is the part of the time range, from 0 to 1. */
export type BacktestProgress = { of: 'rule' | 'saved'; evaluated: number; at: number; share: number };

/**
 * Runs a rule over the stored events: which users would have entered it at what time, and which emails would have been written. The
 * engine's own functions decide, over what was known at each moment. It writes to no table.
 */
export async function backtest(
  { db, renderer }: { db: Pick<Database, 'session' | 'clock'>; renderer: Renderer },
  input: BacktestInput,
): Promise<Backtest> {
  const result = await inSnapshot(db, async (tx) => {
    const { projectId, sinceMs } = input;
    const until = db.clock.now();
    const window = { projectId, from: until - sinceMs, until };
    const lock = await readProjectLock(tx, projectId);
    const model = (await loadProjectModels(tx, [lock], { now: until })).get(projectId);
    if (!model) throw new Error(`project ${projectId} has no settings`);
    const { rule, saved } = await resolveRule(tx, input);
    const watch = input.watch ?? ((): void => {});
    const found = await replayVersion(tx, rule, { window, model, watch: watchOf(watch, 'rule', window) });
    const other = { window, model, watch: watchOf(watch, 'saved', window) };
    const before = saved && saved !== rule ? await replayVersion(tx, saved, other) : null;
    return { found, before, window, model, isSaved: rule === saved };
  });
  return report(result, await renderSamples(result, renderer));
}

async function resolveRule(
  tx: Tx,
  { projectId, rule: source }: BacktestInput,
): Promise<{ rule: ReplayResult['rule']; saved: WholeRule | null }> {
  if ('reference' in source) {
    const saved = await findRule(tx, { projectId, reference: source.reference });
    return { rule: saved, saved };
  }
  const parsed = readRule(source.document);
  await checkReferences(tx, { projectId, definition: parsed.definition });
  const saved = (await listRules(tx, projectId)).find(({ name }) => name === parsed.name) ?? null;
  // With the id of the saved rule, the same users are held out.
  const { id, version } = saved ?? { id: UNSAVED_ID, version: 0 };
  const neverChanged = { enabledAt: null, demotedAt: null, demotedReason: null };
  return { rule: { ...parsed, id, version: version + 1, ...neverChanged }, saved };
}

const UNSAVED_ID = '00000000-0000-0000-0000-000000000000';

type Window = Pick<ReplayRange, 'projectId' | 'from' | 'until'>;
type ReplayOptions = { window: Window; model: Model; watch: ReplayRange['watch'] };

function watchOf(
  watch: NonNullable<BacktestInput['watch']>,
  of: BacktestProgress['of'],
  { from, until }: Window,
): ReplayRange['watch'] {
  return ({ evaluated, at }) => {
    const share = until === from ? 1 : (at - from) / (until - from);
    watch({ of, evaluated, at: Math.min(at, until), share: Math.max(0, Math.min(1, share)) });
  };
}

async function replayVersion(
  tx: Tx,
  rule: ReplayResult['rule'],
  { window, model, watch }: ReplayOptions,
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
  const replayModel = { ...model, rules, programOf: () => program };
  const outcome = await replayRange(tx, { ...window, rule: active, model: replayModel, periodMs, watch });
  const caps = rule.definition.counts ? frequencyCap : null;
  const collisions = await findCollisions(tx, { projectId, ruleId: rule.id, caps, emails: outcome.emails });
  return { rule, outcome, collisions };
}

/** A backtest holds a connection for heavy requests as long as it runs. Three such connections exist beside those of `request-gate.ts`. */
const PER_PROJECT = 2;
const AT_ONCE = 3;

/** Takes a slot for a backtest of this project, and returns the function that releases it. */
export type BacktestSlots = (projectId: number) => () => void;

export function createBacktestSlots(): BacktestSlots {
  const running: number[] = [];
  return (projectId) => {
    const projectCount = running.filter((id) => id === projectId).length;
    if (projectCount >= PER_PROJECT || running.length >= AT_ONCE) {
      const those =
        projectCount >= PER_PROJECT
          ? `${projectCount} backtests of this project`
          : `${running.length} backtests`;
      const message = `${those} are already running. Wait for one to end, or stop it`;
      throw new Fault('conflict', { details: [{ message }] });
    }
    running.push(projectId);
    return () => void running.splice(running.indexOf(projectId), 1);
  };
}
