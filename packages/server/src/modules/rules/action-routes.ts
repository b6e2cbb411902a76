import type { RuleSwitchPreview } from '@beckon/contract/dashboard';
import { findRule, type WholeRule } from './definitions/load-rules.ts';
import { enrollmentSummary, ruleDetails } from './rule-view.ts';
import { duplicateRule, reorderRules, setMode } from './write-rule.ts';
import { type MovedRuns, type MoveRuns, moveRuns, previewMoveRuns } from './runs/move-runs.ts';
import { compile, type Program } from './runs/program.ts';
import { listRulesInForce } from './runs/rules-in-force.ts';
import { switchMany } from './switch-many.ts';
import { disableRule, enableRule, previewSwitch, type SwitchPreview } from './switch-rule.ts';
import { type KitDeps, type RouteRequest, routesFor } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { printDuration } from '../../platform/time/time-text.ts';

type Deps = KitDeps & { wake: () => void };
const { route } = routesFor<Deps>();

/** Actions on a rule that leave its document unchanged. */
export const ruleActRoutes = [
  route('POST /projects/:project/rules/:rule/mode', {
    needs: 'editor',
    audit: 'rule.set_mode',
    async handle({ db, wake }, { projectId, params, body, actor, note }) {
      const { mode, include_open: includeOpen = false } = body;
      const deadline = body.deadline === undefined ? {} : { deadline: body.deadline };
      const input = { projectId, reference: params.rule, actor, mode, includeOpen, ...deadline };
      const { rule, drafts, before } = await setMode(db, input);
      wake();
      const [was, is] = [toMode(before), toMode(rule)];
      note({ subject: rule.name, before: was, after: { ...is, drafts } });
      return { data: { rule: await ruleDetails(db, projectId, rule.id), drafts, before: was } };
    },
  }),
  route('POST /projects/:project/rules/:rule/reorder', {
    needs: 'editor',
    isHeavy: true,
    audit: 'rule.reorder',
    async handle({ db, wake }, { projectId, params, body: { before }, actor, note }) {
      const changed = await reorderRules(db, { projectId, reference: params.rule, actor, before });
      wake();
      note({ subject: (await findRule(db, { projectId, reference: params.rule })).name, after: changed });
      return { data: { changed } };
    },
  }),
  route('POST /projects/:project/rules/:rule/duplicate', {
    needs: 'editor',
    isHeavy: true,
    audit: 'rule.duplicate',
    async handle({ db }, { projectId, params, body: { name = null }, actor, note }) {
      const { id, name: made } = await duplicateRule(db, { projectId, reference: params.rule, actor, name });
      note({ subject: made, after: { of: params.rule } });
      return { data: await ruleDetails(db, projectId, id) };
    },
  }),
  route('GET /projects/:project/rules/:rule/switch', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference } }) {
      return { data: toPreview(await previewSwitch(db, { projectId, reference, now: db.clock.now() })) };
    },
  }),
  route('POST /projects/:project/rules/:rule/switch', {
    needs: 'editor',
    audit: 'rule.set_enabled',
    async handle({ db, newId, wake }, { projectId, params, body, actor, note }) {
      const { on } = body;
      const input = { projectId, reference: params.rule, actor };
      const chosen = enablingOf(body, newId);
      const result = on ? await switchOn(db, { ...input, ...chosen }) : await switchOff(db, input);
      wake();
      const { rule, enrollment, ...counts } = result;
      const enrolls = enrollment ? { enrolls: enrollment.members } : {};
      const modes = body.mode === undefined ? {} : { mode: body.mode };
      note({ subject: rule.name, before: { on: !on }, after: { on, ...modes, ...counts, ...enrolls } });
      const ruleDetail = await ruleDetails(db, projectId, rule.id);
      return {
        data: { rule: ruleDetail, ...counts, enrollment: enrollment && enrollmentSummary(enrollment) },
      };
    },
  }),
  route('POST /projects/:project/rules/switch-many', {
    needs: 'editor',
    audit: 'rule.set_enabled_many',
    async handle({ db, wake }, { projectId, body: { on, rules }, actor, note }) {
      const seen = rules.map(({ id, updated_at: updatedAt }) => ({ id, updatedAt }));
      const { switched, refused } = await switchMany(db, { projectId, actor, on, rules: seen });
      wake();
      const refusals = refused.reduce((sum, { rows }) => sum + rows, 0);
      note({ subject: `${switched.length} rules`, after: { on, rules: switched, refused: refusals } });
      return { data: { done: switched.length, refused } };
    },
  }),
  route('GET /projects/:project/rules/:rule/move-waiting', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference } }) {
      const { rule, moved, stayed } = await previewMove(db, { projectId, reference, now: db.clock.now() });
      return { data: { version: rule.version, moved, stayed } };
    },
  }),
  route('POST /projects/:project/rules/:rule/move-waiting', {
    needs: 'editor',
    isHeavy: true,
    audit: 'rule.move_runs',
    async handle({ db, wake }, { projectId, params: { rule: reference }, note }) {
      const { rule, moved, stayed } = await moveWaiting(db, { projectId, reference });
      wake();
      note({ subject: rule.name, after: { version: rule.version, moved } });
      return { data: { version: rule.version, moved, stayed } };
    },
  }),
];

type SwitchBody = RouteRequest<'POST /projects/:project/rules/:rule/switch'>['body'];

/** The choices that belong to enabling a rule, which a request to disable it must not have. */
function enablingOf({ on, confirmed = false, enroll = false, mode }: SwitchBody, newId: NewId) {
  if (enroll && !on) throw requiresOn('enroll');
  if (mode !== undefined && !on) throw requiresOn('mode');
  return { confirmed, ...(enroll ? { enroll: { newId } } : {}), ...(mode === undefined ? {} : { mode }) };
}

type SwitchInput = Parameters<typeof disableRule>[1];

async function switchOn(db: Parameters<typeof enableRule>[0], input: Parameters<typeof enableRule>[1]) {
  const { rule, resumed: drafts, resumedRuns: runs, expired, enrollment } = await enableRule(db, input);
  return { rule, drafts, runs, expired, enrollment };
}

async function switchOff(db: Parameters<typeof disableRule>[0], input: SwitchInput) {
  const { rule, held: drafts, paused: runs } = await disableRule(db, input);
  return { rule, drafts, runs, expired: 0, enrollment: null };
}

function requiresOn(field: 'enroll' | 'mode'): Fault {
  const message = `${field} requires on, because it is part of enabling a rule`;
  return new Fault('validation_failed', { details: [{ message, field }] });
}

function toPreview({ longHeld, rule: _rule, ...counts }: SwitchPreview): RuleSwitchPreview {
  return { ...counts, long_held: longHeld };
}

function toMode({ mode, deadlineMs }: { mode: 'draft' | 'autopilot'; deadlineMs: number | null }) {
  return { mode, deadline: deadlineMs === null ? null : printDuration(deadlineMs) };
}

/**
 * Moves active runs of older versions to the current version, under the project lock, where both versions are equal up to the run's step.
 */
export function moveWaiting(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<MovedRuns & { rule: WholeRule }> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    const { rule, move } = await moveOf(tx, { projectId, reference, now: db.clock.now() });
    const moved = await moveRuns(tx, move);
    await incrementModel(tx, projectId);
    return { rule, ...moved };
  });
}

type MoveQuery = { projectId: number; reference: string; now: number };

/** Returns what `moveWaiting` would do. */
async function previewMove(tx: Tx, query: MoveQuery): Promise<MovedRuns & { rule: WholeRule }> {
  const { rule, move } = await moveOf(tx, query);
  return { rule, ...(await previewMoveRuns(tx, move)) };
}

async function moveOf(
  tx: Tx,
  { projectId, reference, now }: MoveQuery,
): Promise<{ rule: WholeRule; move: MoveRuns }> {
  const rule = await findRule(tx, { projectId, reference });
  const inForce = await listRulesInForce(tx, projectId, now);
  const programs = new Map(
    inForce
      .filter(({ ruleId }) => ruleId === rule.id)
      .map(({ version, definition }): [number, Program] => [version, compile(definition.steps)]),
  );
  const to = { version: rule.version, program: compile(rule.definition.steps) };
  return { rule, move: { projectId, ruleId: rule.id, to, programs } };
}
