import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { DecidedDraft, DraftListed, ReviewTally, Role } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { listDecided } from './list-decided.ts';
import { membersOfTally } from './review-tally.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const HOUR = 3_600_000;
const EMAIL = { draft: { subject: 'Hello {{ user.name }}', body: 'Hello' } };

let scenario: Scenario;
let at: string;
beforeEach(async () => {
  scenario = await newScenario(stage);
  at = `/projects/${scenario.projectId}`;
  await scenario.rule({ name: 'vip', when: { event: 'order_placed' }, enrollment: 'once', steps: [EMAIL] });
  await scenario.set({ autopilot: '4h' });
});

async function order(...users: string[]): Promise<DraftListed[]> {
  for (const user of users) {
    await scenario.user(user, { email: `${user}@x.org`, traits: { name: user } });
    await scenario.event(user, 'order_placed');
  }
  await scenario.later(1_000);
  return (await dashboard.request<DraftListed[]>(`GET ${at}/drafts`)).json.data;
}

type Act = { as?: Role; [field: string]: unknown };
const act = (id: string, action: string, { as = 'owner', ...body }: Act = {}) =>
  dashboard.request(`POST ${at}/drafts/${id}/${action}`, { body, as });
const decided = (query = '') =>
  dashboard.request<DecidedDraft[]>(`GET ${at}/review/decided${query}`, { as: 'viewer' });
const tally = async (): Promise<ReviewTally> =>
  (await dashboard.request<ReviewTally>(`GET ${at}/review/today`, { as: 'owner' })).json.data;

/** Decides about four drafts, one minute after the other. */
async function decideFour(): Promise<void> {
  const drafts = await order('ada', 'ben', 'cleo', 'dan');
  const idOf = (user: string): string =>
    drafts.find((draft) => draft.user.external_user_id === user)?.id ?? '';
  const [ada, ben, cleo, dan] = ['ada', 'ben', 'cleo', 'dan'].map(idOf) as [string, string, string, string];
  const until = new Date(scenario.now() + 20 * HOUR).toISOString();
  await act(ada, 'approve');
  await scenario.later(60_000);
  await act(ben, 'skip', { reason: 'not them' });
  await scenario.later(60_000);
  await act(cleo, 'postpone', { until });
  await scenario.later(60_000);
  await act(dan, 'edit', { subject: 'Dear dan', as: 'editor' });
}

describe('GET /projects/:project/review/decided', () => {
  it('lists what members decided, newest first, with the draft as it is now', async () => {
    await decideFour();
    const { json } = await decided();
    expect(json.data.map(({ action, user }) => [action, user.external_user_id])).toEqual([
      ['edit', 'dan'],
      ['postpone', 'cleo'],
      ['skip', 'ben'],
      ['approve', 'ada'],
    ]);
    expect(json.data[2]).toMatchObject({
      by: 'Ada',
      reason: 'not them',
      until: null,
      draft: { subject: 'Hello ben', state: 'skipped' },
      rule: { name: 'vip' },
      user: { name: 'ben', email: 'ben@x.org' },
    });
    expect(json.data[1]?.until).toBe(new Date(Date.parse(json.data[1]?.until ?? '')).toISOString());
    expect(json.data[3]?.draft.state).toBe('sent');
    expect(json.meta.pagination.total).toBe(4);
  });

  it('omits a decision that was undone', async () => {
    const [ada] = await order('ada');
    await act(ada?.id ?? '', 'skip');
    await act(ada?.id ?? '', 'undo');
    expect((await decided()).json.data).toEqual([]);
    await act(ada?.id ?? '', 'approve');
    expect((await decided()).json.data.map(({ action }) => action)).toEqual(['approve']);
  });

  it('pages without a gap, and filters by action, member, rule, user and words', async () => {
    await decideFour();
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json }: Awaited<ReturnType<typeof decided>> = await decided(
        `?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      paged.push(...json.data.map(({ user }) => user.external_user_id));
      cursor = json.meta.cursor;
    }
    expect(paged).toEqual(['dan', 'cleo', 'ben', 'ada']);
    await db.query(
      `INSERT INTO beckon.team_user (id, name, email, email_verified, created_at, updated_at)
       VALUES ('editor', 'Nina', 'nina@x.org', true, now(), now()) ON CONFLICT DO NOTHING`,
    );
    for (const [filter, users] of [
      ['action:skip,approve', ['ben', 'ada']],
      ['by:Nina', ['dan']],
      ['nina', ['dan']],
      ['rule:vip user:cleo', ['cleo']],
      ['state:skipped', ['ben']],
      ['dear', ['dan']],
      ['rule:other', []],
    ] as const) {
      const { json } = await decided(`?filter=${encodeURIComponent(filter)}`);
      expect([filter, json.data.map(({ user }) => user.external_user_id)]).toEqual([filter, users]);
      expect(json.meta.pagination.total).toBe(users.length);
    }
    expect((await decided('?filter=action:claim')).status).toBe(422);
  });

  it('reads a page in its order from the index `draft_move_decided`', async () => {
    const explained = await db.transaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off');
      await tx.query('SET LOCAL enable_sort = off');
      const plans: string[] = [];
      const query = async (text: string, values?: unknown[]): Promise<never[]> => {
        if (!text.includes('draft_move')) return [];
        const rows = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return [];
      };
      const recordingTx: Tx = { ...tx, query: query as Tx['query'] };
      const page = { projectId: 1, filter: { terms: [] }, after: null, offset: 0, limit: 10, most: 11 };
      await listDecided(recordingTx, page);
      return plans;
    });
    expect(explained[0]).toContain('draft_move_decided');
    expect(explained[0]).not.toContain('Sort');
  });
});

describe('GET /projects/:project/review/today', () => {
  it('counts the drafts of each member by action since midnight in the zone of the project', async () => {
    await scenario.set({ time_zone: 'Asia/Tokyo' });
    await decideFour();
    const here = Temporal.Instant.fromEpochMilliseconds(scenario.now()).toZonedDateTimeISO('Asia/Tokyo');
    expect(await tally()).toEqual({
      day: here.toPlainDate().toString(),
      time_zone: 'Asia/Tokyo',
      members: [
        { by: 'Ada', mine: true, approve: 1, edit: 0, skip: 1, postpone: 1 },
        { by: 'Ada', mine: false, approve: 0, edit: 1, skip: 0, postpone: 0 },
      ],
      at_least: false,
    });
    // Noon in UTC is 21:00 in Tokyo, so the next day begins there after three hours.
    await scenario.later(3 * HOUR);
    expect((await tally()).members).toEqual([]);
  });

  it('omits a decision that was undone, and counts a draft once per action', async () => {
    const [ada] = await order('ada');
    const id = ada?.id ?? '';
    await act(id, 'approve');
    await act(id, 'undo');
    await act(id, 'edit', { subject: 'One' });
    await act(id, 'edit', { subject: 'Two' });
    expect((await tally()).members).toEqual([
      { by: 'Ada', mine: true, approve: 0, edit: 1, skip: 0, postpone: 0 },
    ]);
  });
});

describe('membersOfTally', () => {
  it('puts the caller first, then who decided about the most drafts', () => {
    const rows = [
      { actor: 'team:a', action: 'approve' as const, drafts: 9 },
      { actor: 'team:b', action: 'skip' as const, drafts: 1 },
      { actor: 'team:c', action: 'edit' as const, drafts: 12 },
    ];
    const names = new Map([['team:a', 'Ann']]);
    expect(membersOfTally(rows, { actor: 'team:b', names }).map(({ by }) => by)).toEqual([
      'team:b',
      'team:c',
      'Ann',
    ]);
  });
});
