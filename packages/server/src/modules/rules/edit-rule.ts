import { iso } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import type { Actor } from '../drafts/index.ts';
import { cancelEnrollment } from './enrollment/store.ts';
import { getSettings } from '../workspace/index.ts';
import { editRule as edit } from './definitions/edit-rule.ts';
import { findRule, type WholeRule } from './definitions/find-rule.ts';
import { dueEarlier } from '../../platform/locks/timers.ts';
import { newModel, takeTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { autopilotPeriod } from './definitions/autopilot.ts';
import { changeModes } from '../sending/index.ts';
import { checkRule, readRule } from './check-rule.ts';

export type RuleEdit = {
  projectId: number;
  reference: string;
  /** The whole rule. Only its name may be omitted, and is then kept. */
  document: unknown;
  /** For a change to autopilot: open drafts get the whole period too. */
  includeOpen: boolean;
  actor: Actor;
  /** When the rule was last written, as its editor saw it. A later save is not overwritten. */
  seenAt?: number;
};

/** `drafts`: the number of open drafts with a changed mode. */
export type EditedRule = { rule: WholeRule; drafts: number };

/**
 * Saves an edited rule, with the project locked. Active runs continue in the version that they started with. A new mode applies
 * at once to drafts that it takes off autopilot.
 *
 * A new version cancels a running enrollment: the definition decides whom it covers, and the preview was of the old one.
 */
export function editRule(db: Pick<Database, 'transaction' | 'clock'>, wanted: RuleEdit): Promise<EditedRule> {
  const { projectId, reference, document } = wanted;
  return db.transaction(async (tx) => {
    await takeTurn(tx, projectId);
    const before = await findRule(tx, { projectId, reference });
    if (wanted.seenAt !== undefined && wanted.seenAt !== before.updatedAt) throw savedMeanwhile(before);
    const parsed = readRule(withName(document, before.name));
    const rule = await edit({ tx, clock: db.clock, projectId, actor: wanted.actor }, before, parsed);
    await newModel(tx, projectId);
    const now = db.clock.now();
    await checkRule(tx, { projectId, definition: rule.definition, now });
    if (rule.version !== before.version)
      await cancelEnrollment(tx, { projectId, ruleId: rule.id, reason: 'rule_edited', now });
    const drafts = await changeMode(tx, { before, rule, wanted, now });
    return { rule, drafts };
  });
}

function savedMeanwhile({ name, version, updatedAt }: WholeRule): Fault {
  const message = `The rule ${JSON.stringify(name)} was saved by another member as version ${version} at ${iso(updatedAt)}. Load that version first`;
  return new Fault('conflict', { details: [{ message, field: 'rule' }] });
}

function withName(document: unknown, name: string): unknown {
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  return isObject ? { name, ...document } : document;
}

type Change = { before: WholeRule; rule: WholeRule; wanted: RuleEdit; now: number };

async function changeMode(tx: Tx, { before, rule, wanted, now }: Change): Promise<number> {
  const { projectId, includeOpen, actor } = wanted;
  const ofProject = (await getSettings(tx, projectId)).settings.autopilotMs;
  const [old, autopilotMs] = [before, rule].map((one) => autopilotPeriod(one, ofProject));
  if (autopilotMs === undefined || (autopilotMs === old && !includeOpen)) return 0;
  const { expiresAfterMs } = rule.definition;
  const mode = { ruleId: rule.id, autopilotMs, includeOpen, expiresAfterMs, now, actor };
  const { moved, dueAt } = await changeModes(tx, projectId, [mode]);
  if (dueAt !== null) await dueEarlier(tx, 'send', [{ projectId, nextAt: new Date(dueAt) }]);
  return moved;
}
