import { isRefused, listOpenOfPeople, type Moved, replied as repliedTo } from '../../drafts/index.ts';
import type { Outcome } from '../outcome.ts';
import { endRun, findOpenRuns, updateRuns, loadProjectModels } from '../../rules/index.ts';
import { readTurn } from '../../../platform/locks/project-lock.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { writeMoves } from '../../sending/index.ts';

/**
 * Stops automation for users who replied, because a person should answer them. Ends their runs, cancels untouched drafts, and holds drafts
 * that a member approved or edited. Rules with `on_reply: false` continue.
 */
export async function endForReplies(
  tx: Tx,
  { projectId, replied, now }: { projectId: number; replied: Outcome[]; now: number },
): Promise<void> {
  if (replied.length === 0) return;
  const people = [...new Set(replied.map(({ userId }) => userId))].map((userId) => ({ projectId, userId }));
  const drafts = await listOpenOfPeople(tx, people);
  const runs = await findOpenRuns(tx, people);
  if (drafts.length === 0 && runs.length === 0) return;
  const model = (await loadProjectModels(tx, [await readTurn(tx, projectId)], { now })).get(projectId);
  const endsBy = ({ ruleId, version }: { ruleId: string; version: number }): boolean =>
    model?.rules.version(ruleId, version)?.definition.exits.onReply ?? true;
  const moved = drafts.filter(endsBy).flatMap((draft): Moved[] => {
    const decided = repliedTo(draft, { now });
    return isRefused(decided) ? [] : [decided];
  });
  await writeMoves(tx, moved);
  const ended = runs.filter(endsBy).map((run) => endRun(run, 'replied', now));
  await updateRuns(tx, ended);
}
