import { beforeEach, expect, test } from 'vitest';
import {
  bounced,
  CLICKED,
  COMPLAINED,
  emailsRule,
  BOT_OPENED,
  newOutcomeScenario,
  ONE_CLICK,
  OPENED,
  REPLIED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { DAY, openStage } from '../../../../testing/scenario.ts';
import { showInsights } from './show-insights.ts';

const stage = await openStage();
const { db } = stage.server;
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

test('counts an email once per outcome type, and bots separately', async () => {
  const scenario = await newOutcomeScenario(stage);
  const { projectId } = scenario;
  await scenario.rule(emailsRule());
  await sendTo(scenario, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  await scenario.recordOutcome('a', OPENED, CLICKED, { ...CLICKED, link: 1 } as never, BOT_OPENED);
  await scenario.recordOutcome('b', OPENED, REPLIED, { ...REPLIED, inboundId: '<2@x.org>' } as never);
  await scenario.recordOutcome('c', BOT_OPENED);
  await scenario.recordOutcome('d', bounced('hard'));
  await scenario.recordOutcome('e', bounced('soft'), bounced('hard', false));
  await scenario.recordOutcome('f', COMPLAINED, ONE_CLICK);
  const { groups } = await showInsights(db, { projectId, by: 'rule', since: scenario.now() - DAY });
  expect(groups).toEqual([
    {
      name: 'Emails',
      rule_id: expect.any(String),
      sent: 8,
      delivered: 6,
      opened: 2,
      clicked: 1,
      bot_opened: 2,
      bot_clicked: 0,
      replied: 1,
      bounced: { hard: 1, soft: 1, policy: 0, infrastructure: 0 },
      complained: 1,
      unsubscribed: 1,
      edited: { edited: 0, total: 8 },
      opened_within: [2, 0, 0, 0, 0, 0, 0].map((emails, n) => ({
        until_ms: [900_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000, 259_200_000, null][n],
        emails,
      })),
      median_open_ms: 0,
      rates: {
        delivered: 0.75,
        bounced: 0.25,
        opened: 0.3333,
        clicked: 0.1667,
        replied: 0.1667,
        complained: 0.1667,
        unsubscribed: 0.1667,
        edited: 0,
      },
      lift: null,
    },
  ]);
});

test('groups emails of the given time range by rule, template, domain and mailbox provider', async () => {
  const scenario = await newOutcomeScenario(stage);
  const { projectId } = scenario;
  await scenario.rule(emailsRule());
  await scenario.rule({
    ...emailsRule({ steps: [{ draft: 'welcome' }] }),
    name: 'Named',
    when: { event: 'named' },
  });
  await sendTo(scenario, ['old']);
  await scenario.later(3 * DAY);
  await sendTo(scenario, ['a', 'b']);
  await scenario.event('a', 'named');
  await scenario.later(HOUR);
  const insightsBy = async (by: 'rule' | 'template' | 'domain' | 'provider', days = 1) =>
    (await showInsights(db, { projectId, by, since: scenario.now() - days * DAY })).groups.map(
      ({ name, sent }) => `${name}: ${sent}`,
    );
  expect(await insightsBy('rule')).toEqual(['Emails: 2', 'Named: 1']);
  expect(await insightsBy('rule', 30)).toEqual(['Emails: 3', 'Named: 1']);
  expect(await insightsBy('template')).toEqual(['the text of the rule Emails: 2', 'welcome: 1']);
  expect(await insightsBy('domain')).toEqual(['test-inbox.invalid: 3']);
  expect((await insightsBy('provider')).join()).toMatch(/: 3$/);
});

test('does not count emails that were never sent, and counts a rejection as a bounce', async () => {
  const scenario = await newOutcomeScenario(stage);
  const { projectId } = scenario;
  await scenario.rule(emailsRule());
  await scenario.rule({ ...emailsRule(), name: 'Broken', when: { event: 'broken' } });
  const bounce = { class: 'policy', status: '5.7.1' } as const;
  stage.engine.transport.setResult({ result: 'failed', reason: 'rejected', reply: '550 5.7.1 spam', bounce });
  await sendTo(scenario, ['a']);
  stage.engine.transport.setResult({ result: 'failed', reason: 'too_large' });
  await scenario.event('a', 'broken');
  await scenario.later(HOUR);
  const { groups } = await showInsights(db, { projectId, by: 'rule', since: 0 });
  expect(groups).toMatchObject([{ name: 'Emails', sent: 1, delivered: 0, bounced: { policy: 1 } }]);
});

test('reports the lift of a rule with a holdout, with its confidence interval', async () => {
  const scenario = await newOutcomeScenario(stage);
  const { projectId } = scenario;
  const id = await scenario.rule(emailsRule());
  await sendTo(scenario, ['a']);
  const arms = [
    ['treatment', 119, 60],
    ['holdout', 110, 22],
  ] as const;
  for (const [variant, enrolled, converted] of arms)
    await db.query(
      `INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, anchor, enrolled_at,
         converted_at, ended_at, end_reason)
       SELECT $1, gen_random_uuid(), $2, 1, $3 || n, '', 'ended', $3, false, 0, '{}', now(),
         CASE WHEN n <= $5::int THEN now() END, now(), 'done' FROM generate_series(1, $4::int) AS n`,
      [projectId, id, variant, enrolled, converted],
    );
  const { groups } = await showInsights(db, { projectId, by: 'rule', since: 0 });
  const lift = groups[0]?.lift;
  expect(lift).toMatchObject({
    treatment: { enrolled: 120, converted: 60 },
    holdout: { enrolled: 110, converted: 22 },
  });
  expect(lift?.estimate?.difference).toBeCloseTo(0.3, 6);
  expect(lift?.estimate?.from).toBeCloseTo(0.178, 2);
  expect(lift?.estimate?.to).toBeCloseTo(0.409, 2);
});
