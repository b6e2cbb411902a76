import { demotes, LADDER_WINDOWS } from '../../drafts/index.ts';
import { countForRule } from '../reads.ts';
import { demoteRule, findRule } from '../../rules/index.ts';
import { newModel } from '../../../platform/locks/project-lock.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { changeModes } from '../../sending/index.ts';
import { type Concerned, isBounce, type Note } from './new-outcomes.ts';

/**
 * Turns off autopilot for a rule with too many complaints, unsubscribes or hard bounces, and for its open drafts that no member has
 * touched. Autopilot stays off until a member turns it on again; the counts then start from zero.
 */
export async function demoteRules(tx: Tx, { projectId, now, outcomes }: Concerned): Promise<Note[]> {
  const bad = outcomes.filter((one) => one.type === 'email.unsubscribed' || isBounce(one, 'hard'));
  const notes: Note[] = [];
  for (const ruleId of [...new Set(bad.map((one) => one.ruleId))].toSorted()) {
    const rule = await findRule(tx, { projectId, reference: ruleId });
    if (rule.mode !== 'autopilot') continue;
    const since = rule.demotedAt ?? 0;
    const demotion = demotes(await countForRule(tx, { projectId, ruleId, since, windows: LADDER_WINDOWS }));
    if (!demotion) continue;
    await demoteRule(tx, { projectId, ruleId, why: demotion.why, now });
    await newModel(tx, projectId);
    const { expiresAfterMs } = rule.definition;
    const mode = { ruleId, autopilotMs: null, includeOpen: false, expiresAfterMs, now, reason: 'demoted' };
    const { moved: drafts } = await changeModes(tx, projectId, [mode]);
    notes.push({ event: 'rule.autopilot_disabled', rule: rule.name, reason: demotion.why, drafts });
  }
  return notes;
}
