import { beforeEach, expect, test } from 'vitest';
import { lettersRule, newAftermath, OPENED, sendTo } from '../../testkit/became.ts';
import { openStage } from '../../testkit/story.ts';
import { typed } from '../../testkit/typed-command.ts';

const stage = await openStage();
const { db } = stage.server;
beforeEach(() => stage.engine.transport.answer({ result: 'sent' }));

test('what was done to a draft, and what became of its letter, is told in words', async () => {
  const story = await newAftermath(stage);
  await story.rule(lettersRule());
  await sendTo(story, ['ada']);
  await story.became('ada', OPENED);
  const of = ['--project', String(story.projectId), '--filter', 'type:move,outcome'];
  const { out } = await typed({ db }, ['stream', ...of]);
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(
    / move {13}ada {2}claim by \S+: scheduled → sending \(Letters, draft [\da-f-]{36}\)$/,
  );
  expect(lines.at(-1)).toMatch(/ outcome {10}ada {2}email\.opened \(Letters, letter [\da-f-]{36}\)$/);
});
