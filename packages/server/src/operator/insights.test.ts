import { expect, test } from 'vitest';
import { bounced, CLICKED, lettersRule, newAftermath, OPENED, sendTo } from '../../testkit/became.ts';
import { openStage } from '../../testkit/story.ts';
import { type Ran, typed } from '../../testkit/typed-command.ts';

const stage = await openStage();
const { db } = stage.server;

async function withOutcomes() {
  const story = await newAftermath(stage);
  await story.rule(lettersRule());
  await sendTo(story, ['ada', 'bob', 'cyd', 'dan']);
  await story.became('ada', OPENED, CLICKED);
  await story.became('bob', bounced('hard'));
  const beckon = (...args: string[]): Promise<Ran> =>
    typed({ db }, [...args, '--project', String(story.projectId)]);
  return { story, beckon };
}

test('insights tell what became of letters, for people and for scripts', async () => {
  const { beckon } = await withOutcomes();
  const { json, code } = await beckon('insights', '--json');
  expect(code).toBe(0);
  expect(json).toMatchObject({
    by: 'rule',
    is_cut: false,
    groups: [{ name: 'Letters', sent: 4, delivered: 3, opened: 1, clicked: 1, bounced: { hard: 1 } }],
  });
  const { out } = await beckon('insights', '--by', 'provider', '--since', '7d');
  expect(out).toMatch(/provider +sent +delivered/);
  expect(out).toMatch(/ 4 +3 \(75\.0 %\) +1 \(33\.3 %\)/);
  expect(out).toContain('hard 1 (25.0 %)');
});

test('where nothing has left the insights say so, and what is not understood is named', async () => {
  const story = await newAftermath(stage);
  const project = ['--project', String(story.projectId)];
  expect((await typed({ db }, ['insights', ...project])).out).toContain('No letter has left since');
  for (const wrong of [
    ['--by', 'weather'],
    ['--since', 'ever'],
    ['--since', '900d'],
  ])
    expect(await typed({ db }, ['insights', ...wrong, ...project])).toMatchObject({ code: 2 });
});

test('what became of a letter is told with its draft and with its person', async () => {
  const { story, beckon } = await withOutcomes();
  const [message] = await story.messages('ada');
  const shown = await beckon('draft', 'show', '--draft', message?.draft_id ?? '', '--json');
  expect(shown.json).toMatchObject({ outcomes: [{ email_id: message?.id }, { email_id: message?.id }] });
  expect((await beckon('draft', 'show', '--draft', message?.draft_id ?? '')).out).toContain('email.clicked');
  expect((await beckon('user', 'show', '--user', 'bob')).out).toContain('email.bounced');
  expect((await beckon('user', 'show', '--user', 'cyd')).out).toContain('Nothing became of any letter yet');
});
