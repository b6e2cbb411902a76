import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmailDays } from '@beckon/contract/dashboard';
import {
  BOT_OPENED,
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  newOutcomeScenario,
  ONE_CLICK,
  OPENED,
  type OutcomeScenario,
  REPLIED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, openStage } from '../../../../testing/scenario.ts';
import { planNodes, type PlanNode, rowsProcessed } from '../../../../testing/oracles/query-plans.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { countEmailDays } from './email-days.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';

const stage = await openStage();
const { db } = stage.server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

let scenario: OutcomeScenario;
beforeEach(async () => {
  stage.engine.transport.setResult({ result: 'sent' });
  scenario = await newOutcomeScenario(stage);
});

const daysOf = async (query = 'days=30'): Promise<EmailDays> =>
  (
    await dashboard.request<EmailDays>(`GET /projects/${scenario.projectId}/insights/days?${query}`, {
      as: 'viewer',
    })
  ).json.data;
const listed = async (filter: string): Promise<number> =>
  (
    await dashboard.request(
      `GET /projects/${scenario.projectId}/emails?filter=${encodeURIComponent(filter)}`,
      { as: 'viewer' },
    )
  ).json.meta.pagination.total;
const sum = (counts: number[] = []): number => counts.reduce((all, count) => all + count, 0);
const METRICS = ['sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed'] as const;

/** Two rules, emails on three days and one before the period, and each outcome. */
async function liveThrough(): Promise<void> {
  await scenario.rule(emailsRule());
  await scenario.rule({ ...emailsRule(), name: 'A "second" one', when: { event: 'named' } });
  await sendTo(scenario, ['early', 'gone']);
  await scenario.recordOutcome('early', OPENED);
  await scenario.later(5 * DAY);
  await sendTo(scenario, ['ada', 'bo', 'cy', 'di']);
  await scenario.recordOutcome('ada', OPENED, CLICKED, { ...CLICKED, link: 1 } as never, BOT_OPENED);
  await scenario.recordOutcome('bo', BOT_OPENED, COMPLAINED);
  await scenario.recordOutcome('cy', bounced('hard'));
  await db.query(
    `UPDATE beckon.email SET state = 'failed', reason = 'refused'
     WHERE project_id = $1 AND external_user_id IN ('cy', 'di')`,
    [scenario.projectId],
  );
  // This email failed and did not bounce, so it was not sent.
  await scenario.recordOutcome('di', OPENED);
  await scenario.later(2 * DAY);
  await sendTo(scenario, ['ed']);
  await scenario.recordOutcome('ed', ONE_CLICK, REPLIED);
  await scenario.user('fay', { email: 'fay@x.org' });
  await scenario.event('fay', 'named');
  await scenario.later(HOUR);
}

describe('countEmailDays', () => {
  test('reads each email and each outcome a few times, however many there are', async () => {
    const { projectId } = scenario;
    const emails = 20_000;
    // Ids start with their time, as those of sent emails do.
    await db.query(
      `INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at)
       SELECT $1, gen_random_uuid(), (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid,
         ('00000000-0000-7000-8000-0000000000' || lpad((n % 20)::text, 2, '0'))::uuid, 'u' || n, 'u@x.org',
         CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'sent' END, true, at
       FROM (SELECT n, $2::timestamptz - n * interval '2 minutes' AS at FROM generate_series(0, $3::int - 1) n) s`,
      [projectId, new Date(scenario.now()), emails],
    );
    await db.query(
      `INSERT INTO beckon.outcome (project_id, id, email_id, draft_id, rule_id, external_user_id, type, class, occurred_at, recorded_at, detail)
       SELECT project_id, gen_random_uuid(), id, draft_id, rule_id, external_user_id, 'email.opened', 'no', claimed_at, claimed_at, '{}'
       FROM beckon.email WHERE project_id = $1`,
      [projectId],
    );
    await db.query('VACUUM ANALYZE beckon.email, beckon.outcome');
    let nodes: PlanNode[] = [];
    const explaining: Tx = {
      prepared: (query) => db.prepared(query),
      async query(text, values) {
        const [row] = await db.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        );
        nodes = planNodes(row?.['QUERY PLAN'][0]?.Plan);
        return [];
      },
    };
    const now = scenario.now();
    const query = { projectId, now, days: 30, zone: 'Europe/Berlin', compare: true, byRule: true };
    await countEmailDays(explaining, query);
    expect(nodes.length).toBeGreaterThan(0);
    expect(rowsProcessed(nodes)).toBeLessThan(10 * 2 * emails);
    const { total, rules, truncated } = await countEmailDays(db, query);
    expect([sum(total.sent), sum(total.opened), rules.length, truncated]).toEqual([
      emails - emails / 50,
      emails - emails / 50,
      12,
      false,
    ]);
  });
});

describe('GET insights/days', () => {
  test('counts outcomes on the day on which their email was sent, in the time zone of the project', async () => {
    // Noon in UTC is 01:00 of the next day in Auckland, so the emails are sent on another date than in UTC.
    await scenario.set({ time_zone: 'Pacific/Auckland' });
    await liveThrough();
    const { days, total, before, rules, truncated } = await daysOf('days=30&rules=true');
    expect([days.length, before, truncated]).toEqual([30, null, false]);
    const today = Temporal.Instant.fromEpochMilliseconds(scenario.now())
      .toZonedDateTimeISO('Pacific/Auckland')
      .toPlainDate();
    expect(days.at(-1)).toBe(today.toString());
    const at = (ago: number): number => days.indexOf(today.subtract({ days: ago }).toString());
    expect(METRICS.map((metric) => total[metric][at(2)])).toEqual([3, 1, 1, 0, 1, 0]);
    expect(METRICS.map((metric) => total[metric][at(0)])).toEqual([2, 0, 0, 1, 0, 1]);
    expect(METRICS.map((metric) => sum(total[metric]))).toEqual([7, 2, 1, 1, 1, 1]);
    expect(rules.map(({ name, total: of }) => [name, sum(of.sent)])).toEqual([
      ['Emails', 6],
      ['A "second" one', 1],
    ]);
  });

  test('compares with as many days before, up to the same time of day', async () => {
    await liveThrough();
    const { days, total, before } = await daysOf('days=4&compare=true&rules=true');
    expect([days.length, sum(total.sent), sum(before?.sent), sum(before?.opened)]).toEqual([4, 5, 2, 1]);
    expect(await daysOf('days=4&compare=true')).toMatchObject({ rules: [], total: { sent: total.sent } });
    // The emails of before were sent an hour after the present time of that day.
    await scenario.later(5 * DAY - 3 * HOUR);
    expect(sum((await daysOf('days=4&compare=true')).before?.sent)).toBe(5);
    const short = await daysOf('days=1&compare=true');
    expect([short.days.length, sum(short.total.sent)]).toEqual([1, 0]);
  });

  test('counts exactly the emails that the filter `sent` lists, also of one rule and day', async () => {
    for (const zone of ['UTC', 'Pacific/Auckland', 'America/Los_Angeles']) {
      scenario = await newOutcomeScenario(stage);
      await scenario.set({ time_zone: zone });
      await liveThrough();
      const { days, total, rules } = await daysOf('days=4&rules=true');
      const dayBefore = Temporal.PlainDate.from(days[0] ?? '')
        .subtract({ days: 1 })
        .toString();
      for (const metric of METRICS) {
        const outcome = metric === 'sent' ? '' : ` outcome:${metric}`;
        expect([zone, metric, await listed(`sent:>${dayBefore}${outcome}`)]).toEqual([
          zone,
          metric,
          sum(total[metric]),
        ]);
        for (const [at, day] of days.entries())
          expect([day, await listed(`sent:${day}${outcome}`)]).toEqual([day, total[metric][at]]);
      }
      for (const { name, total: of } of rules)
        expect(await listed(`rule:"${name.replaceAll('"', '\\"')}" sent:>${dayBefore}`)).toBe(sum(of.sent));
      expect(await listed(`-sent:>${dayBefore}`)).toBe((await listed('')) - sum(total.sent));
    }
  });

  test('returns 422 for more days than a year, 404 for another project, and 401 without a session', async () => {
    const path = (id: number, days: number): string => `GET /projects/${id}/insights/days?days=${days}`;
    expect((await dashboard.request(path(scenario.projectId, 400))).status).toBe(422);
    expect((await dashboard.request(path(999_999, 30))).status).toBe(404);
    expect((await dashboard.request(path(scenario.projectId, 30), { as: null })).status).toBe(401);
  });
});
