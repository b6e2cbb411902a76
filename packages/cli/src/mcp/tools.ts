import type { DraftListed } from '@beckon/contract/dashboard';
import { testRule } from '../api/backtest.ts';
import type { Dashboard } from '../api/dashboard.ts';
import type { Project } from '../api/project.ts';
import type { Given, Taken, Takes } from './arguments.ts';

/** `signal`: whoever asked does not want it any more. */
export type Found = { dashboard: Dashboard; project: Project; signal: AbortSignal };

export type Tool = {
  name: string;
  title: string;
  description: string;
  takes: Takes;
  changes: boolean;
  use(found: Found, given: Given): Promise<unknown>;
};

const USER: Taken = { type: 'string', about: 'the external_user_id', isRequired: true, most: 256 };
const DRAFT: Taken = { type: 'string', about: 'the id of the draft', isRequired: true, most: 100 };
const FILTER_MAX = 1_000;
const BACKTEST_TIMEOUT_MS = 120_000;
const SAMPLES = 5;

export const READING: readonly Tool[] = [
  {
    name: 'search_users',
    title: 'Search users',
    description:
      'Users of the project by a filter: user, email, name, plan, company, role, seen, first_seen, audience, trait.<name>; such as plan:trial email:ada* seen:>2026-01-01.',
    takes: {
      filter: {
        type: 'string',
        about: 'key:value terms, * for anything; a minus before a term excludes',
        most: FILTER_MAX,
      },
      limit: { type: 'integer', about: 'how many, 20 where left out', most: 100 },
    },
    changes: false,
    async use({ dashboard, project }, given) {
      const { data, meta } = await dashboard.call('GET /projects/:project/users', {
        params: { project: project.id },
        query: { filter: given.textOr('filter', ''), limit: given.whole('limit', 20) },
      });
      return { users: data, total: meta.pagination.total, at_least: meta.at_least ?? false };
    },
  },
  {
    name: 'show_user',
    title: 'Show a user',
    description:
      'One user: address, traits, audiences, rules under way, what keeps letters from them, and what happened last.',
    takes: { user: USER },
    changes: false,
    async use({ dashboard, project }, given) {
      const params = { project: project.id, user: given.text('user') };
      const [user, timeline] = await Promise.all([
        dashboard.call('GET /projects/:project/users/:user', { params }),
        dashboard.call('GET /projects/:project/users/:user/timeline', { params, query: { limit: 20 } }),
      ]);
      return { user: user.data, newest: timeline.data };
    },
  },
  {
    name: 'explain',
    title: 'Explain',
    description:
      'Why a user had a letter or had none: what each rule decided about them, and what it would decide now.',
    takes: {
      user: USER,
      rule: { type: 'string', about: 'this rule alone, by its id or its name', most: 255 },
    },
    changes: false,
    async use({ dashboard, project }, given) {
      const rule = given.textOr('rule', undefined);
      const { data } = await dashboard.call('GET /projects/:project/users/:user/why', {
        params: { project: project.id, user: given.text('user') },
        query: rule === undefined ? {} : { rule },
      });
      return { rules: data };
    },
  },
  {
    name: 'list_drafts',
    title: 'List drafts',
    description: 'Drafts that wait for their deadline or for a person, the most urgent first.',
    takes: {
      filter: { type: 'string', about: 'such as rule:welcome user:user_42 state:held', most: FILTER_MAX },
      limit: { type: 'integer', about: 'how many, 20 where left out', most: 100 },
    },
    changes: false,
    async use({ dashboard, project }, given) {
      const { data, meta } = await dashboard.call('GET /projects/:project/drafts', {
        params: { project: project.id },
        query: { view: 'review', filter: given.textOr('filter', ''), limit: given.whole('limit', 20) },
      });
      return { drafts: data.map(inShort), total: meta.pagination.total };
    },
  },
  {
    name: 'preview_draft',
    title: 'Preview a draft',
    description:
      'The letter as it would leave now, why it was written, and its hash, which approve_draft and skip_draft ask for.',
    takes: { draft: DRAFT },
    changes: false,
    async use({ dashboard, project }, given) {
      const params = { project: project.id, draft: given.text('draft') };
      const [whole, context, preview] = await Promise.all([
        dashboard.call('GET /projects/:project/drafts/:draft', { params }),
        dashboard.call('GET /projects/:project/drafts/:draft/context', { params }),
        dashboard.call('GET /projects/:project/drafts/:draft/preview', { params }),
      ]);
      const { from, to, text, links, checks, troubles } = preview.data;
      return {
        ...inShort(whole.data),
        hash: whole.data.content_hash,
        letter: { from, to, text, links, troubles, checks: checks.filter(({ status }) => status !== 'ok') },
        held_by: whole.data.gate,
        why: context.data.why.map(({ sentence }) => sentence),
      };
    },
  },
  {
    name: 'backtest_rule',
    title: 'Backtest a rule',
    description: 'Whom a saved rule would have written to over what is stored. Nothing is written or sent.',
    takes: {
      rule: { type: 'string', about: 'its id or its name', isRequired: true, most: 255 },
      days: { type: 'integer', about: 'how many days back, 30 where left out', most: 366 },
    },
    changes: false,
    async use({ dashboard, project, signal }, given) {
      const found = await testRule(dashboard, {
        projectId: project.id,
        rule: given.text('rule'),
        days: given.whole('days', 30),
        signal: AbortSignal.any([signal, AbortSignal.timeout(BACKTEST_TIMEOUT_MS)]),
        onProgress: async () => {},
      });
      const { entries, samples, ...rest } = found;
      return { ...rest, entries: entries.slice(0, SAMPLES * 4), samples: samples.slice(0, SAMPLES) };
    },
  },
];

const HASH: Taken = {
  type: 'string',
  about: 'as preview_draft said it: refused where the letter reads otherwise by now',
  isRequired: true,
  most: 200,
};

export const REVIEWING: readonly Tool[] = [
  {
    name: 'approve_draft',
    title: 'Approve a draft',
    description:
      'Lets the letter leave as soon as its gates allow. Only after preview_draft, and when somebody asked for it.',
    takes: { draft: DRAFT, hash: HASH },
    changes: true,
    async use({ dashboard, project }, given) {
      const { data } = await dashboard.call('POST /projects/:project/drafts/:draft/approve', {
        params: { project: project.id, draft: given.text('draft') },
        body: { hash: given.text('hash') },
      });
      return { ...inShort(data.draft), held_by: data.gate };
    },
  },
  {
    name: 'skip_draft',
    title: 'Skip a draft',
    description: 'Does not send it. Only after preview_draft, and when somebody asked for it.',
    takes: {
      draft: DRAFT,
      hash: HASH,
      reason: { type: 'string', about: 'why; stands in its history', most: 500 },
    },
    changes: true,
    async use({ dashboard, project }, given) {
      const reason = given.textOr('reason', undefined);
      const { data } = await dashboard.call('POST /projects/:project/drafts/:draft/skip', {
        params: { project: project.id, draft: given.text('draft') },
        body: { hash: given.text('hash'), ...(reason === undefined ? {} : { reason }) },
      });
      return inShort(data.draft);
    },
  },
];

function inShort({ id, state, reason, rule, person, subject, deadline_at, autopilot }: DraftListed) {
  return {
    id,
    state,
    reason,
    rule: rule.name,
    user: person.external_user_id,
    name: person.name,
    email: person.email,
    subject,
    deadline_at,
    leaves_by_itself: autopilot,
  };
}
