import { expect, test } from 'vitest';
import { testProject, testServer } from '../../testing/servers/server.ts';
import { silentLog } from '../platform/log.ts';
import { findAiDrafting, requestAiDrafting } from '../modules/drafts/ai-drafting/store.ts';

test('without a model, no draft waits for AI drafting', async () => {
  const settled = Promise.withResolvers<void>();
  const info = (_: object, event: string): void => void (event === 'ai_draft.finished' && settled.resolve());
  const server = await testServer({ roles: ['worker'], log: { ...silentLog, info } });
  try {
    const { id: projectId } = await testProject(server);
    const draftId = '00000000-0000-7000-8000-000000000001';
    await requestAiDrafting(server.db, [{ projectId, id: draftId, userId: 'u1' }], server.db.clock.now());
    await settled.promise;
    const aiDrafting = await findAiDrafting(server.db, { projectId, draftId });
    expect(aiDrafting).toEqual({ result: 'declined', findings: [], model: null, promptHash: null });
  } finally {
    await server.stop();
  }
});
