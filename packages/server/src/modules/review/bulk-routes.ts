import type { BulkAct, BulkInput, BulkPreview } from '@beckon/contract/dashboard';
import { Fault } from '../../platform/fault.ts';
import { describeDrafts, toDraftInList, readDraftFilter } from './list-drafts.ts';
import {
  actOnMany,
  type DraftSelection,
  type BulkAction,
  type DraftsPreview,
  previewMany,
} from './act-on-many.ts';
import { ruleNames, reasonWords } from '../explain/index.ts';
import { actorsOf, toDraftListed } from './draft-view.ts';
import { readUntil } from './action-routes.ts';
import { type DashboardRoute, routesFor, type KitDeps, zoneOfProject } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';
import type { Models } from '../rules/index.ts';

type Deps = KitDeps & { sendServices: SendServices; models: Models };
const { route } = routesFor<Deps>();

export const draftBulkRoutes: DashboardRoute<Deps>[] = [
  route('POST /projects/:project/drafts/bulk/preview', {
    needs: 'reviewer',
    reads: true,
    async handle({ db, sendServices, models }, { projectId, body, actor }) {
      const doing = { act: readAct(body.action), by: { actor } };
      const found = await previewMany(
        { db, sendServices, models },
        await selectionOf(db, projectId, body),
        doing,
      );
      const names = await ruleNames(db, projectId);
      return { data: toPreview(found, names) };
    },
  }),
  route('POST /projects/:project/drafts/bulk', {
    needs: 'reviewer',
    audit: 'draft.bulk_action',
    async handle({ db, newId, sendServices, models, access }, { projectId, body, actor, note }) {
      const what = readAct(body.action);
      const doing = { act: what, by: { actor } };
      const result = await actOnMany(
        { db, newId, sendServices, models },
        await selectionOf(db, projectId, body),
        doing,
      );
      const { acted, refused, more } = result;
      const after = { changed: acted.map(({ draft }) => draft.id), unchanged: refused.length };
      note({ subject: `${what.kind} ${acted.length} drafts`, after });
      const described = await describeDrafts(
        db,
        projectId,
        acted.map(({ draft }) => toDraftInList(draft)),
      );
      const names = await access.namesOf(actorsOf(acted.map(({ draft }) => draft)));
      const looker = { actor, names, now: db.clock.now() };
      return {
        data: {
          changed: described.map((listedDraft) => toDraftListed(listedDraft, looker)),
          unchanged: refused,
          more,
        },
      };
    },
  }),
];

/** Requires exactly one of both: an empty filter selects everything, a missing one selects nothing. */
async function selectionOf(
  db: Deps['db'],
  projectId: number,
  { ids, filter }: BulkInput,
): Promise<DraftSelection> {
  if ((ids === undefined) === (filter === undefined)) {
    const message = 'Select drafts either by ids or by filter';
    throw new Fault('validation_failed', { details: [{ message, field: 'ids' }] });
  }
  return { projectId, ids: ids ?? null, filter: readDraftFilter(filter, await zoneOfProject(db, projectId)) };
}

function readAct(act: BulkAct): BulkAction {
  switch (act.kind) {
    case 'approve':
      return { kind: 'approve' };
    case 'skip':
      return { kind: 'skip', reason: act.reason?.trim() || null };
    case 'postpone':
      return { kind: 'postpone', until: readUntil(act.until) };
    default:
      return act satisfies never;
  }
}

function toPreview(found: DraftsPreview, names: (ruleId: string) => string): BulkPreview {
  const { drafts, more, wouldAct, refused, gates } = found;
  const held = [...gates.values()].flatMap((gate) => (gate && !gate.passes ? [gate.reason] : []));
  return {
    drafts,
    more,
    would_change: wouldAct.length,
    users: new Set(wouldAct.map(({ userId }) => userId)).size,
    unchanged: countsByKey(refused, ({ message }) => message).map(([message, many]) => ({
      message,
      drafts: many,
    })),
    held_by: countsByKey(held, (reason) => reason).map(([reason, many]) => ({
      reason,
      sentence: reasonWords(reason, 'draft'),
      drafts: many,
    })),
    sends_now: [...gates.values()].filter((gate) => gate?.passes).length,
    rules: countsByKey(wouldAct, ({ ruleId }) => names(ruleId)).map(([name, many]) => ({
      name,
      drafts: many,
    })),
  };
}

/** Counts the items by key, most frequent first. */
function countsByKey<T>(items: T[], keyOf: (item: T) => string): [string, number][] {
  const groups = [...Map.groupBy(items, keyOf)].map(([key, group]): [string, number] => [key, group.length]);
  return groups.toSorted((a, b) => b[1] - a[1]);
}
