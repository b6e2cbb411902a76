import { describe, expect, test } from 'vitest';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { PASSWORD, testTeam } from '../../../../testing/factories/team.ts';
import { silentLog } from '../../../platform/log.ts';

const server = await endpointServer();
const logged = Promise.withResolvers<unknown[]>();
const { setUp, join } = testTeam(server, {
  log: { ...silentLog, warn: (fields, event) => logged.resolve([event, fields]) },
});
const { ada, projectId } = await setUp();

describe('notifyMember', () => {
  test('logs a warning for a member without a project', async () => {
    const grace = await join(ada, { projectId, email: 'grace@x.org', role: 'editor' });
    await server.db.query(
      `DELETE FROM beckon.team_member m USING beckon.team_user u WHERE u.id = m.user_id AND u.email = 'grace@x.org'`,
    );
    const body = { current: PASSWORD, new: 'another horse battery' };
    expect((await grace.request('POST /password', body)).status).toBe(200);
    expect(await logged.promise).toEqual(['account_change.not_emailed', { change: 'password_changed' }]);
  });
});
