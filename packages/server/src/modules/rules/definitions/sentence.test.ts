import { describe, expect, test } from 'vitest';
import { parseRule } from './parse.ts';
import { ruleSentence, stepLabel } from './sentence.ts';

const TRIAL_USERS = '0198a000-0000-7000-8000-00000000000f';
const RULE = { name: 'Example', when: { event: 'user_signed_up' }, steps: [{ draft: 'welcome' }] };

function definitionOf(fields: object) {
  const parsing = parseRule({ ...RULE, ...fields });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing.rule.definition;
}

const names = (id: string) => (id === TRIAL_USERS ? 'Trial users' : undefined);

describe('ruleSentence', () => {
  test.each<[string, object, string]>([
    [
      'every test of where on the event',
      {
        when: {
          event: 'invoice_paid',
          where: [
            { property: 'amount', at_least: 100 },
            { property: 'currency', equals: 'eur' },
          ],
        },
      },
      'Starts when invoice_paid happens and its amount is at least 100 and its currency is eur.',
    ],
    [
      'three absent events',
      { when: { absence_of: ['a', 'b', 'c'], since: { event: 'user_signed_up' }, for: '3d' } },
      'Starts 3 days after user_signed_up if none of a, b or c has happened since.',
    ],
    [
      'a condition on events and audiences with the user as its subject',
      {
        only_if: {
          all: [
            { trait: 'plan', equals: 'trial' },
            { event: 'login', within: '7d' },
            { not: { audience: TRIAL_USERS } },
            { event: 'login', last: { more_than_ago: '2d' } },
          ],
        },
      },
      'Applies only if plan is trial and the user has done login in the last 7 days and the user is not in the audience “Trial users” and the last login was more than 2 days ago.',
    ],
    [
      'every exit in one sentence',
      { exits: { events: ['a', 'b'], when: { trait: 'plan', equals: 'pro' } } },
      'Ends early when a or b happens, or when plan is pro, or when the user replies.',
    ],
    [
      'a cooldown of one hour without its number',
      { enrollment: { cooldown: '1h' } },
      'Enrolls each user at most once every hour.',
    ],
    [
      'a branch within a branch in parentheses',
      {
        steps: [
          { draft: 'first' },
          {
            wait_for: { event: 'login', within: '7d' },
            then: [
              {
                branch: { if: { trait: 'plan', equals: 'pro' } },
                then: [{ draft: 'pro' }],
                else: [{ draft: 'basics' }],
              },
              { wait: '2d' },
            ],
            else: [{ end: true }],
          },
          { draft: 'last' },
        ],
      },
      'Steps: draft the email “first”. Then wait up to 7 days for login; if it happens, (if plan is pro, draft the email “pro”; otherwise, draft the email “basics”), then wait 2 days; otherwise, end the run. Then draft the email “last”.',
    ],
  ])('describes %s', (_, fields, sentence) => {
    expect(ruleSentence(definitionOf(fields), names)).toContain(sentence);
  });
});

describe('stepLabel', () => {
  test('leaves out the steps of a branch', () => {
    const branch = {
      branch: { if: { event: 'login' } },
      then: [{ draft: 'active' }],
      else: [{ draft: 'inactive' }],
    };
    const [, step] = definitionOf({ steps: [{ draft: 'welcome' }, branch] }).steps;
    expect(step && stepLabel(step, names)).toBe('check whether the user has done login');
  });
});
