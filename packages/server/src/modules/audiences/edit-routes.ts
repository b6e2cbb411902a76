import type { AudienceDetails } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import { findAudience } from './audience.ts';
import { previewDefinition, describeDefinition } from './preview-definition.ts';
import type { ListRuleNeeds } from './uses.ts';
import { getSettings, type DashboardRoute, routesFor, type KitDeps } from '../workspace/index.ts';
import { createAudience, deleteAudience, editAudience } from './change-audience.ts';

type Deps = KitDeps & { listRuleNeeds: ListRuleNeeds };
const { route } = routesFor<Deps>();

type Show = (
  deps: Pick<Deps, 'db' | 'listRuleNeeds'>,
  projectId: number,
  reference: string,
) => Promise<AudienceDetails>;

export function audienceEditRoutes(show: Show): DashboardRoute<Deps>[] {
  return [...ASKING, ...changing(show)];
}

const ASKING = [
  route('POST /projects/:project/audiences/preview', {
    needs: 'viewer',
    reads: true,
    async handle({ db }, { projectId, body }) {
      const { definition, audience } = body;
      const now = db.clock.now();
      const { timeZone } = (await getSettings(db, projectId)).settings;
      const until = dayEnd(now, timeZone);
      const audienceId =
        audience === undefined ? undefined : (await findAudience(db, { projectId, reference: audience })).id;
      const { uncountedEvents, enters, leaves, ...preview } = await db.transaction((tx) =>
        previewDefinition(tx, {
          projectId,
          definition,
          now: new Date(now),
          until: new Date(until),
          ...(audienceId === undefined ? {} : { audienceId }),
        }),
      );
      const today = { ends_at: iso(until), enters, leaves };
      return { data: { ...preview, uncounted_events: uncountedEvents, today } };
    },
  }),
  route('POST /projects/:project/audiences/sentence', {
    needs: 'viewer',
    reads: true,
    handle: async ({ db }, { projectId, body }) => ({
      data: { sentence: await describeDefinition(db, { projectId, definition: body.definition }) },
    }),
  }),
];

function changing(show: Show): DashboardRoute<Deps>[] {
  return [
    route('POST /projects/:project/audiences', {
      needs: 'editor',
      audit: 'audience.create',
      async handle({ db, listRuleNeeds }, { projectId, body, note }) {
        const { id } = await createAudience({ db, listRuleNeeds }, { projectId, ...body });
        const made = await show({ db, listRuleNeeds }, projectId, id);
        note({ subject: made.name, after: kept(made) });
        return { data: made };
      },
    }),
    route('PATCH /projects/:project/audiences/:audience', {
      needs: 'editor',
      audit: 'audience.update',
      async handle({ db, listRuleNeeds }, { projectId, params, body, note }) {
        const { updated_at: seen, ...wanted } = body;
        const before = await show({ db, listRuleNeeds }, projectId, params.audience);
        const seenAt = seen === undefined ? undefined : readMoment(seen);
        const { id } = await editAudience(
          { db, listRuleNeeds },
          { ...wanted, projectId, reference: before.id, seenAt },
        );
        const after = await show({ db, listRuleNeeds }, projectId, id);
        note({ subject: after.name, before: kept(before), after: kept(after) });
        return { data: after };
      },
    }),
    route('DELETE /projects/:project/audiences/:audience', {
      needs: 'editor',
      audit: 'audience.delete',
      async handle({ db, listRuleNeeds }, { projectId, params, body, note }) {
        const before = await show({ db, listRuleNeeds }, projectId, params.audience);
        if (body.confirm !== before.name)
          throw invalid('confirm must be the exact name of the audience', 'confirm');
        const { id, name } = await deleteAudience({ db, listRuleNeeds }, { projectId, reference: before.id });
        note({ subject: name, before: kept(before) });
        return { data: { id } };
      },
    }),
  ];
}

function kept({ name, definition, sentence }: AudienceDetails): object {
  return { name, definition, sentence };
}

function readMoment(text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw invalid('updated_at must be the value from the loaded audience', 'updated_at');
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

function dayEnd(now: number, zone: string): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  return today.add({ days: 1 }).epochMilliseconds;
}
