import { expect, test } from 'vitest';
import { stageOf } from './draft-stage.ts';

test.each([
  ['scheduled', null, 'review'],
  ['held', 'scheduled', 'review'],
  ['held', 'approved', 'approved'],
  ['approved', null, 'approved'],
  ['sending', null, 'approved'],
  ['sent', null, 'sent'],
  ['skipped', null, 'ended'],
  ['failed', null, 'ended'],
] as const)('stageOf › of a draft that is %s (%s) is %s', (state, resumes, stage) => {
  expect(stageOf({ state, resume_state: resumes })).toBe(stage);
});
