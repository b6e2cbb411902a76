import { expect, test } from 'vitest';
import { HOUR } from '../../../testing/factories/drafts.ts';
import { newScenario, openStage } from '../../../testing/scenario.ts';
import { listTimers } from '../../platform/locks/timers.ts';
import { resumeProject, suspendProject } from './suspend-project.ts';
import { sweepTimers } from '../processing/sweep-timers.ts';

const stage = await openStage();
const { engine, server } = stage;
const { db, clock } = server;

test('claims nothing for a suspended project, and sends what became due when it resumes', async () => {
  const scenario = await newScenario(stage);
  const { projectId } = scenario;
  await scenario.set({ autopilot: '1h', quiet_hours: 'off' });
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'user_signed_up');
  await engine.settle();
  await suspendProject(db, projectId);
  clock.advance(2 * HOUR);
  for (let batch = 0; batch < 3; batch += 1) await engine.sender.batch(projectId);
  expect(await scenario.drafts()).toMatchObject([{ state: 'scheduled', moves: 1 }]);
  expect((await listTimers(db, projectId)).find(({ work }) => work === 'send')).toMatchObject({
    nextAt: null,
  });
  expect(await sweepTimers(db)).toBe(0);
  await resumeProject(db, projectId);
  await engine.settle();
  expect(await scenario.drafts()).toMatchObject([{ state: 'sent' }]);
});
