import { afterAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { systemClock } from '../../../platform/time/clock.ts';
import { silentLog } from '../../../platform/log.ts';
import { createProject } from '../../administration/create-project.ts';
import { openDatabase } from '../../../platform/db/database.ts';
import { insertOrganization } from './store.ts';
import { isLocalShell, LOCAL_SHELL, localShellAccess } from './local-shell.ts';

const testDb = await testDatabase();
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
});
const access = localShellAccess(db, { namesOf: async () => new Map() });

describe('localShellAccess', () => {
  test('owns every project of any organization, and no project that does not exist', async () => {
    await insertOrganization(db, { id: 'acme', name: 'Acme', createdAt: new Date(0) });
    const early = await createProject(db, { name: 'Early' });
    const later = await createProject(db, { name: 'Later', organizationId: 'acme' });
    const roles = new Map([early, later].map(({ id }) => [id, 'owner']));
    expect(await access.rolesOf(LOCAL_SHELL.id)).toEqual(roles);
    for (const id of roles.keys()) expect(await access.roleIn(LOCAL_SHELL.id, id)).toBe('owner');
    expect(await access.roleIn(LOCAL_SHELL.id, later.id + 1)).toBeNull();
    expect(await access.organizationsOf(LOCAL_SHELL.id)).toEqual([
      { id: 'acme', name: 'Acme', role: 'owner', requires_two_factor: false, projects: 1, members: 0 },
    ]);
    expect(await access.organizationsToMakeIn(LOCAL_SHELL.id)).toMatchObject([{ id: 'acme', name: 'Acme' }]);
  });

  test('has no email address, session or confirmation', () => {
    expect(LOCAL_SHELL).toMatchObject({ email: '', sessionId: '', confirmedAt: null });
    expect([isLocalShell(LOCAL_SHELL), isLocalShell({ id: 'team:local-shell' })]).toEqual([true, false]);
  });
});
