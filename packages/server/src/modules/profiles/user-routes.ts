import type { EmailStep, TimelineItem, UserDetails, WhyRule } from '@beckon/contract/dashboard';
import { listAudiences } from '../audiences/index.ts';
import type { SendServices } from '../delivery/index.ts';
import { ENGINE } from '../drafts/index.ts';
import { type ExplainedRow, explainPerson, ruleNames } from '../explain/index.ts';
import { erasePerson } from './erase-user.ts';
import { exportPerson } from './export-user.ts';
import {
  countTimeline,
  listSteps,
  listTimeline,
  type StepRow,
  TIMELINE_KINDS,
  type TimelineQuery,
  type TimelineKind,
  type TimelineRow,
} from './merge-timeline.ts';
import { showNextEmail } from './next-email.ts';
import { showPastUser } from './show-past-person.ts';
import { type UserView, showUser } from './show-user.ts';
import { listRules } from '../rules/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import { findPeople, isStorable, unknownPerson } from '../users/index.ts';
import { type DashboardRoute, type KitDeps, readMoment, routesFor, sendPieces } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault } from '../../platform/fault.ts';
import { iso } from '../../platform/time/clock.ts';

type Deps = KitDeps & { hasher: SuppressionHasher; sendServices: SendServices };
const { route } = routesFor<Deps>();

const TIMELINE_LIMIT = 50;

export const userRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/users/:user', {
    needs: 'viewer',
    async handle({ db }, { projectId, params }) {
      const query = { projectId, userId: params.user, now: db.clock.now() };
      return { data: userResponse(await showUser(db, query)) };
    },
  }),
  route('GET /projects/:project/users/:user/next-email', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, sendServices }, { projectId, params }) {
      const userId = requireStorable(params.user);
      return { data: await showNextEmail({ db, sendServices }, { projectId, userId }) };
    },
  }),
  route('GET /projects/:project/users/:user/timeline', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, params, query }) {
      const { limit = TIMELINE_LIMIT, cursor: after = null } = query;
      const userId = requireStorable(params.user);
      const kinds = readKinds(query.kinds);
      const found = await personTimeline(db, { projectId, userId, kinds, after, limit });
      const draftIds = found.items.flatMap(({ draft_id }) => draft_id ?? []);
      const steps = await listSteps(db, { projectId, userId, draftIds });
      const members = new Set(
        steps.flatMap(({ actor }) => (actor === null || actor === ENGINE ? [] : actor)),
      );
      const names = await access.namesOf([...members]);
      const stepsByDraft = Map.groupBy(steps, ({ draft_id }) => draft_id);
      return {
        data: found.items.map((item) =>
          toItem(
            item,
            (stepsByDraft.get(item.draft_id ?? '') ?? []).map((step) => toStep(step, names)),
          ),
        ),
        meta: {
          pagination: { total: found.total, offset: 0, limit },
          cursor: found.cursor,
          ...(found.isAtLeast && { at_least: true as const }),
        },
      };
    },
  }),
  route('GET /projects/:project/users/:user/at', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params, query }) {
      const at = readMoment(query.at, 'at');
      return { data: await showPastUser(db, { projectId, userId: requireStorable(params.user), at }) };
    },
  }),
  route('GET /projects/:project/users/:user/why', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, sendServices }, { projectId, params, query }) {
      const explainQuery = { projectId, userId: requireStorable(params.user), rule: query.rule ?? null };
      const rows = await explainPerson({ db, sendServices }, explainQuery);
      const ids = new Map((await listRules(db, projectId)).map(({ id, name }) => [name, id]));
      const byRule = Map.groupBy(rows, ({ rule }) => rule);
      return {
        data: [...byRule].map(([name, ruleRows]) => toWhy({ id: ids.get(name) ?? name, name }, ruleRows)),
      };
    },
  }),
  route('GET /projects/:project/users/:user/export', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'user.export',
    async handle({ db }, { projectId, params, reply, note }) {
      const userId = requireStorable(params.user);
      note({ subject: 'a user' });
      const pieces = exportPerson(db, { projectId, userId });
      // The first piece shows whether the user exists, before the response commits to a file.
      const first = await pieces.next();
      const file = { name: 'user.json', type: 'application/json; charset=utf-8' };
      return sendPieces(reply, file, withFirst(first.value ?? '', pieces));
    },
  }),
  route('POST /projects/:project/users/:user/erase', {
    needs: 'admin',
    isHeavy: true,
    audit: 'user.erase',
    async handle({ db, newId, hasher }, { projectId, params, body, note }) {
      if (body.confirm !== params.user) throw invalid('confirm must be the exact ID of the user', 'confirm');
      const { external_user_id, erased_at, removed } = await erasePerson(
        { db, newId, hasher },
        { projectId, userId: params.user },
      );
      // The user's id is stored nowhere any more, so not here either.
      note({ subject: 'a user', after: { removed } });
      return { data: { external_user_id, erased_at, removed } };
    },
  }),
];

async function* withFirst(first: string, pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  yield first;
  yield* pieces;
}

/** Text that PostgreSQL cannot store is not a valid user id. */
function requireStorable(userId: string): string {
  if (isStorable(userId)) return userId;
  throw unknownPerson(userId);
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

function readKinds(text: string | undefined): TimelineKind[] {
  if (text === undefined || text === '') return [...TIMELINE_KINDS];
  const names = text.split(',');
  const kinds = TIMELINE_KINDS.filter((kind) => names.includes(kind));
  if (kinds.length === new Set(names).size) return kinds;
  throw invalid(`kinds must be a comma-separated list of ${TIMELINE_KINDS.join(', ')}`, 'kinds');
}

function userResponse({ suppressTriggersUntil, triggersLiveSince, runs, ...user }: UserView): UserDetails {
  return {
    ...user,
    runs: runs.map(({ variant: _variant, converted_at: _converted, ...run }) => run),
    triggers: { suppressed: suppressTriggersUntil !== null, live_since: triggersLiveSince },
  };
}

function toItem(item: NamedItem, steps: EmailStep[]): TimelineItem {
  const { at, id, kind, title, detail, rule_id, ruleName, audience_id, audienceName, draft_id } = item;
  return {
    at: iso(at.getTime()),
    id,
    kind,
    title,
    rule: rule_id === null ? null : { id: rule_id, name: ruleName ?? rule_id },
    audience: audience_id === null ? null : { id: audience_id, name: audienceName },
    draft_id,
    detail,
    steps,
  };
}

function toStep(
  { at, id, kind, title, actor, detail }: StepRow,
  names: ReadonlyMap<string, string>,
): EmailStep {
  const actorName = actor === null || actor === ENGINE ? actor : (names.get(actor) ?? actor);
  return { at: iso(at.getTime()), id, kind, title, actor: actorName, detail };
}

function toWhy(rule: WhyRule['rule'], rows: ExplainedRow[]): WhyRule {
  const now = rows.find((row) => row.now !== null)?.now;
  return {
    rule,
    on: now?.on ?? false,
    would_fire: now?.would_fire ?? false,
    triggers: now?.triggers ?? [],
    decisions: rows
      .filter(({ count }) => count > 0)
      .map(({ at, first_at, count, reason, sentence, fired, detail }) => ({
        at,
        first_at: first_at ?? at,
        count,
        reason,
        sentence,
        fired,
        detail,
      })),
    drafts: rows.flatMap((row) => row.drafts).map(toDraft),
  };
}

function toDraft(draft: ExplainedRow['drafts'][number]): WhyRule['drafts'][number] {
  const { id, subject, state, reason, deadline_at, ended_at, rule_holds, send_check } = draft;
  return { id, subject, state, reason, deadline_at, ended_at, rule_holds, send_check };
}

/** A row of the timeline with the names of its rule and audience; a deleted audience has no name. */
type NamedItem = TimelineRow & { ruleName: string | null; audienceName: string | null };

type NamedPage = { items: NamedItem[]; cursor: string | null; total: number; isAtLeast: boolean };

const COUNTED_MAX = 1_000;

async function personTimeline(
  tx: Tx,
  query: TimelineQuery & { after: string | null; limit: number },
): Promise<NamedPage> {
  const { projectId, userId } = query;
  const [person] = await findPeople(tx, [{ projectId, userId }], { emails: false });
  if (!person) throw unknownPerson(userId);
  const { rows, cursor } = await listTimeline(tx, query);
  const count = await countTimeline(tx, { ...query, upTo: COUNTED_MAX + 1 });
  const rules = await ruleNames(tx, projectId);
  const audiences = new Map((await listAudiences(tx, projectId)).map(({ id, name }) => [id, name]));
  const items = rows.map((row) => ({
    ...row,
    ruleName: row.rule_id && rules(row.rule_id),
    audienceName: row.audience_id && (audiences.get(row.audience_id) ?? null),
  }));
  return { items, cursor, total: Math.min(count, COUNTED_MAX), isAtLeast: count > COUNTED_MAX };
}
