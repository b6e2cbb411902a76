import type { DraftCounts, DraftListed, ListResponse } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import {
  countReview,
  describeDrafts,
  type DraftPosition,
  DRAFTS_COUNT_MAX,
  toDraftInList,
  listDescribed,
  positionOfDraft,
  readDraftFilter,
} from './list-drafts.ts';
import {
  getSettings,
  badCursor,
  type CsvColumns,
  isId,
  type ListQuery,
  sendCsv,
  readPage,
  toPage,
  type DashboardRoute,
  routesFor,
  type KitDeps,
  zoneOfProject,
} from '../workspace/index.ts';
import { endOfDay } from './end-of-day.ts';
import { showContext, showDraft, showVersions } from './show-draft.ts';
import { showRuleEdits } from './rule-edits.ts';
import { actorsOf, toDraftListed, toDraftWhole, toWhy } from './draft-view.ts';
import type { SendServices } from '../delivery/index.ts';
import type { Models } from '../rules/index.ts';

type Deps = KitDeps & { sendServices: SendServices; models: Models };
const { route } = routesFor<Deps>();

const HOUR_MS = 3_600_000;
/** The last millisecond whose year has four digits: the database reads no ISO text of a later one. */
const DEADLINE_MAX = 253_402_300_799_999;

export const draftRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/drafts', {
    needs: 'viewer',
    handle: (deps, { projectId, query, actor }) => draftPage(deps, { projectId, actor, ...query }),
  }),
  route('GET /projects/:project/drafts.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'drafts.export',
    handle: (deps, { projectId, query, actor, reply }) =>
      sendCsv(reply, {
        name: 'drafts.csv',
        columns: CSV_COLUMNS,
        load: (page) => draftPage(deps, { projectId, actor, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/drafts/counts', {
    needs: 'viewer',
    async handle({ db }, { projectId, query }) {
      const now = db.clock.now();
      const { settings } = await getSettings(db, projectId);
      const filter = readDraftFilter(query.filter, settings.timeZone);
      const countQuery = { projectId, filter, soon: now + HOUR_MS };
      const counts = await countReview(db, { ...countQuery, tonight: endOfDay(now, settings.timeZone) });
      return { data: toCounts(counts) };
    },
  }),
  route('GET /projects/:project/drafts/:draft', {
    needs: 'viewer',
    async handle({ db, access, sendServices, models }, { projectId, params, actor }) {
      const now = db.clock.now();
      const whole = await showDraft(db, { projectId, draftId: params.draft, now, sendServices, models });
      const [described] = await describeDrafts(db, projectId, [toDraftInList(whole.draft)]);
      if (!described) throw new Error('a draft that was found is not described');
      const names = await access.namesOf(actorsOf([whole.draft], whole.moves));
      return { data: toDraftWhole(described, whole, { actor, now, names }) };
    },
  }),
  route('GET /projects/:project/drafts/:draft/context', {
    needs: 'viewer',
    async handle({ db, access, sendServices, models }, { projectId, params, actor }) {
      const now = db.clock.now();
      const found = await showContext(db, { projectId, draftId: params.draft, now, sendServices, models });
      const names = await access.namesOf(actorsOf([], found.moves));
      const { person } = found;
      return {
        data: {
          why: found.why.map((step) => toWhy(step, { actor, now, names })),
          user: person && {
            external_user_id: person.external_user_id,
            email: person.email,
            time_zone: person.timeZone,
            traits: person.traits,
            audiences: person.audiences.map(({ id, name }) => ({ id, name })),
            suppressed: person.isSuppressed,
          },
          emails: found.emails.map(({ draft, rule, outcomes }) => ({
            id: draft.id,
            state: draft.state,
            rule,
            subject: draft.content.subject,
            at: iso(draft.endedAt ?? draft.createdAt),
            outcomes,
          })),
          thread: found.thread.map(({ id, receivedAt, subject, text, verified }) => ({
            id,
            received_at: iso(receivedAt),
            subject,
            text,
            verified: verified === 'recipient' || verified === 'domain',
          })),
        },
      };
    },
  }),
  route('GET /projects/:project/drafts/:draft/versions', {
    needs: 'viewer',
    async handle({ db, access, models, sendServices }, { projectId, params }) {
      const ref = { projectId, draftId: params.draft, now: db.clock.now(), models };
      const { template, versions } = await showVersions({ db, renderer: sendServices.renderer }, ref);
      const names = await access.namesOf(actorsOf([], versions));
      return {
        data: {
          template,
          versions: versions.map(({ contentHash, at, actor, content }) => ({
            content_hash: contentHash,
            at: iso(at),
            actor: names.get(actor) ?? actor,
            content,
          })),
        },
      };
    },
  }),
  route('GET /projects/:project/rules/:rule/edits', {
    needs: 'viewer',
    async handle({ db }, { projectId, params }) {
      const editsQuery = { projectId, reference: params.rule, now: db.clock.now() };
      return { data: await showRuleEdits(db, editsQuery) };
    },
  }),
];

type DraftsQuery = ListQuery & {
  projectId: number;
  actor: string;
  view?: 'review' | 'all';
  filter?: string;
};

async function draftPage(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  { projectId, actor, view = 'review', filter: text, ...query }: DraftsQuery,
): Promise<ListResponse<DraftListed>> {
  const page = readPage(query, 3);
  const { drafts, total } = await listDescribed(db, {
    projectId,
    view,
    filter: readDraftFilter(text, await zoneOfProject(db, projectId)),
    after: page.after === null ? null : readPosition(page.after),
    offset: page.offset,
    limit: page.rowsMax,
    most: page.most,
  });
  const names = await access.namesOf(actorsOf(drafts.map(({ draft }) => draft)));
  const viewer = { actor, names, now: db.clock.now() };
  return toPage(drafts, page, {
    show: (described) => toDraftListed(described, viewer),
    cursorOf: ({ draft }) => printPosition(positionOfDraft(draft)),
    total,
  });
}

const CSV_COLUMNS: CsvColumns<DraftListed> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  rule: ({ rule }) => rule.name,
  external_user_id: ({ user }) => user.external_user_id,
  name: ({ user }) => user.name,
  email: ({ user }) => user.email,
  subject: ({ subject }) => subject,
  deadline_at: ({ deadline_at: at }) => at,
  held_until: ({ held_until: at }) => at,
  expires_at: ({ expires_at: at }) => at,
  edited: ({ edited }) => edited,
  autopilot: ({ autopilot }) => autopilot,
  created_at: ({ created_at: at }) => at,
};

function printPosition({ group, deadline, id }: DraftPosition): string[] {
  return [String(group), deadline === null ? '' : String(deadline), id];
}

function readPosition([group = '', deadline = '', id = '']: string[]): DraftPosition {
  if (!/^[0-2]$/.test(group) || !/^\d{0,15}$/.test(deadline) || !isId(id)) throw badCursor();
  if (Number(deadline) > DEADLINE_MAX) throw badCursor();
  return { group: Number(group), deadline: deadline === '' ? null : Number(deadline), id };
}

function toCounts({ heldBy, ...counts }: Awaited<ReturnType<typeof countReview>>): DraftCounts {
  const bounded = (count: number): number => Math.min(count, DRAFTS_COUNT_MAX);
  return {
    soon: bounded(counts.soon),
    today: bounded(counts.today),
    later: bounded(counts.later),
    no_deadline: bounded(counts.noDeadline),
    held: bounded(counts.held),
    postponed: bounded(counts.postponed),
    held_by: heldBy,
    at_least: Object.values(counts).some((count) => count > DRAFTS_COUNT_MAX),
  };
}
